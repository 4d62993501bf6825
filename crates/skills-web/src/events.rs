//! `GET /events`: tells open pages of changes, as server-sent events.
//!
//! `hello` has the version of the registry: a page that was made from another one is out of date.
//! `change` has the new version and what changed, many changes in one event. `ping` shows that the
//! connection is open.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde_json::json;
use skills_core::Change;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::Web;
use crate::limits::MAX_EVENT_NAMES;

/// Changes within this time are one event.
const COALESCED: Duration = Duration::from_millis(200);
/// The time between two signs of life. The script expects one within 40 seconds.
const PING: Duration = Duration::from_secs(15);
/// Changes that wait for a slow stream. With more, it is told that anything may have changed.
const WAITING: usize = 256;

tokio::task_local! {
    /// The version before the page of this request was made.
    static BEFORE: String;
}

/// What the streams share.
pub struct Events {
    /// Another number for each start of the server.
    start: u128,
    /// How many changes there were.
    count: AtomicU64,
    changes: Sender<Change>,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Events {
    /// At most so many streams at a time, which end with `stop`.
    pub fn new(max_streams: usize, stop: CancellationToken) -> Self {
        let start = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            start: start.unwrap_or_default().as_micros(),
            count: AtomicU64::new(0),
            changes: Sender::new(WAITING),
            streams: Arc::new(Semaphore::new(max_streams)),
            stop,
        }
    }

    /// The registry changed.
    pub fn changed(&self, change: &Change) {
        self.count.fetch_add(1, Ordering::SeqCst);
        // Without a stream there is no receiver.
        let _ = self.changes.send(change.clone());
    }

    /// How many changes there were.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    fn version(&self) -> String {
        format!("{:x}.{}", self.start, self.count())
    }

    /// The version that the page of this request shows, or an older one.
    pub fn shown_version(&self) -> String {
        BEFORE
            .try_with(Clone::clone)
            .unwrap_or_else(|_| self.version())
    }
}

/// Remembers the version before a page is made.
pub async fn remember_version(
    State(web): State<Arc<Web>>,
    request: Request,
    next: Next,
) -> Response {
    BEFORE.scope(web.events.version(), next.run(request)).await
}

/// `GET /events`.
pub async fn serve(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    // Another site cannot read the stream, and must not take the places of pages that can.
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return (StatusCode::FORBIDDEN, "events are for pages of this server").into_response();
    }
    let permit = Arc::clone(&web.events.streams).try_acquire_owned();
    let Ok(permit) = permit else {
        let mut response = (
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open: this one is not told of changes",
        )
            .into_response();
        let wait = HeaderValue::from_static("10");
        response.headers_mut().insert(header::RETRY_AFTER, wait);
        return response;
    };
    let stream = Stream {
        changes: web.events.changes.subscribe(),
        is_new: true,
        web,
        _permit: permit,
    };
    let events = unfold(stream, |mut stream| async {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    Sse::new(events).into_response()
}

struct Stream {
    web: Arc<Web>,
    changes: Receiver<Change>,
    is_new: bool,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// The next event; none when the server stops.
    async fn next(&mut self) -> Option<Event> {
        let web = Arc::clone(&self.web);
        if std::mem::take(&mut self.is_new) {
            return Some(Event::default().event("hello").data(web.events.version()));
        }
        let next = async {
            match tokio::time::timeout(PING, self.changes.recv()).await {
                Err(_) => Some(Event::default().event("ping").data("")),
                Ok(Err(RecvError::Closed)) => None,
                Ok(first) => {
                    tokio::time::sleep(COALESCED).await;
                    Some(self.collect(first.ok().as_ref()))
                }
            }
        };
        tokio::select! {
            () = web.events.stop.cancelled() => None,
            event = next => event,
        }
    }

    /// What changed; `first` is none if changes were missed.
    fn collect(&mut self, first: Option<&Change>) -> Event {
        let version = self.web.events.version();
        let mut is_all = first.is_none();
        let mut changed: BTreeSet<_> = first.map(name).into_iter().collect();
        loop {
            match self.changes.try_recv() {
                Ok(change) => drop(changed.insert(name(&change))),
                Err(TryRecvError::Lagged(_)) => is_all = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        is_all |= changed.len() > MAX_EVENT_NAMES;
        let data = if is_all {
            json!({ "version": version })
        } else {
            json!({ "version": version, "changed": changed })
        };
        Event::default().event("change").data(data.to_string())
    }
}

/// `skill:{id}` or `prompt:{name}`.
fn name(change: &Change) -> String {
    match change {
        Change::SkillRegistered(id) | Change::SkillUnregistered(id) => format!("skill:{id}"),
        Change::PromptRegistered(name) | Change::PromptUnregistered(name) => {
            format!("prompt:{name}")
        }
    }
}
