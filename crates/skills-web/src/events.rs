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

/// What the streams share. Clones are the same.
#[derive(Clone)]
pub struct Events(Arc<Inner>);

struct Inner {
    /// Another number for each start of the server.
    start: u128,
    /// How many changes there were.
    count: AtomicU64,
    changes: Sender<Changed>,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

/// What changed.
#[derive(Clone)]
enum Changed {
    Registry(Change),
    Functions,
}

impl Events {
    /// At most so many streams at a time, which end with `stop`.
    pub fn new(max_streams: usize, stop: CancellationToken) -> Self {
        let start = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(Arc::new(Inner {
            start: start.unwrap_or_default().as_micros(),
            count: AtomicU64::new(0),
            changes: Sender::new(WAITING),
            streams: Arc::new(Semaphore::new(max_streams)),
            stop,
        }))
    }

    /// The functions of workers on the engine changed.
    pub fn functions_changed(&self) {
        self.tell(Changed::Functions);
    }

    /// The registry changed.
    pub(crate) fn changed(&self, change: &Change) {
        self.tell(Changed::Registry(change.clone()));
    }

    fn tell(&self, changed: Changed) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        // Without a stream there is no receiver.
        let _ = self.0.changes.send(changed);
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.count.load(Ordering::SeqCst)
    }

    fn stream(&self, permit: OwnedSemaphorePermit) -> Stream {
        Stream {
            changes: self.0.changes.subscribe(),
            is_new: true,
            events: self.clone(),
            _permit: permit,
        }
    }

    fn version(&self) -> String {
        format!("{:x}.{}", self.0.start, self.count())
    }

    /// The version that the page of this request shows, or an older one.
    pub(crate) fn shown_version(&self) -> String {
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
    BEFORE
        .scope(web.events().version(), next.run(request))
        .await
}

/// `GET /events`.
pub async fn serve(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    // Another site cannot read the stream, and must not take the places of pages that can.
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return (StatusCode::FORBIDDEN, "events are for pages of this server").into_response();
    }
    let permit = Arc::clone(&web.events().0.streams).try_acquire_owned();
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
    let stream = web.events().stream(permit);
    let events = unfold(stream, |mut stream| async {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    Sse::new(events).into_response()
}

struct Stream {
    events: Events,
    changes: Receiver<Changed>,
    is_new: bool,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// The next event; none when the server stops.
    async fn next(&mut self) -> Option<Event> {
        let events = self.events.clone();
        if std::mem::take(&mut self.is_new) {
            return Some(Event::default().event("hello").data(events.version()));
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
            () = events.0.stop.cancelled() => None,
            event = next => event,
        }
    }

    /// What changed; `first` is none if changes were missed.
    fn collect(&mut self, first: Option<&Changed>) -> Event {
        let version = self.events.version();
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

/// `skill:{id}`, `prompt:{name}` or `functions`.
fn name(changed: &Changed) -> String {
    match changed {
        Changed::Registry(Change::SkillRegistered(id) | Change::SkillUnregistered(id)) => {
            format!("skill:{id}")
        }
        Changed::Registry(Change::PromptRegistered(name) | Change::PromptUnregistered(name)) => {
            format!("prompt:{name}")
        }
        Changed::Functions => "functions".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(stream: &mut Stream) -> String {
        format!("{:?}", stream.next().await.unwrap())
    }

    #[tokio::test]
    async fn many_changes_are_one_event_and_too_many_names_are_left_out() {
        let stop = CancellationToken::new();
        let events = Events::new(1, stop.clone());
        let permit = Arc::clone(&events.0.streams).try_acquire_owned();
        let mut stream = events.stream(permit.unwrap());
        assert!(text(&mut stream).await.contains("hello"));
        let register = |n: usize| {
            let id = format!("s{n}").parse().unwrap();
            events.changed(&Change::SkillRegistered(id));
        };
        events.functions_changed();
        (0..3).chain(0..3).for_each(register);
        let told = text(&mut stream).await;
        for part in ["functions", "skill:s0", "skill:s2", ".7"] {
            assert!(told.contains(part), "{part} is missing in {told}");
        }
        // More than an event names, and more than wait for a stream.
        for number in [MAX_EVENT_NAMES + 1, WAITING + 10] {
            (0..number).for_each(register);
            let told = text(&mut stream).await;
            assert!(
                told.contains("version") && !told.contains("skill:"),
                "{told}"
            );
        }
        stop.cancel();
        assert!(stream.next().await.is_none());
    }
}
