//! Limits how many sessions and streams are open, and chooses which session to close for a new one.
//!
//! The SDK has no limit, and closes a session that sends no requests even if its client only
//! receives notifications. Here a session stays open while it has a stream, and until it was idle
//! for a time. A session that was opened and never used is closed for a new one, so that a client
//! that only opens sessions does not keep others out.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::limits::MAX_SESSION_STREAMS;

/// The open sessions. Clones share them.
#[derive(Clone)]
pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    usage: Arc<Mutex<HashMap<String, Usage>>>,
    max: usize,
    idle_timeout: Duration,
}

struct Usage {
    last_used: Instant,
    /// Whether there was a request after the one that opened it.
    is_used: bool,
    /// Cloned for each response that is an event stream.
    responses: Arc<()>,
    /// Cloned for each stream that stays open.
    streams: Arc<()>,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            last_used: Instant::now(),
            is_used: false,
            responses: Arc::default(),
            streams: Arc::default(),
        }
    }
}

impl Usage {
    fn has_stream(&self) -> bool {
        Arc::strong_count(&self.responses) > 1
    }
}

/// Keeps a session open as long as its stream is.
pub struct StreamGuard {
    _response: Arc<()>,
    _stream: Option<Arc<()>>,
}

impl Sessions {
    /// At most `max` sessions, each idle for at most `idle_timeout`.
    pub fn new(max: usize, idle_timeout: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        // The SDK's timeout would close a session whose client only receives notifications.
        manager.session_config.keep_alive = None;
        Self {
            manager: Arc::new(manager),
            usage: Arc::default(),
            max,
            idle_timeout,
        }
    }

    /// The SDK's sessions.
    pub fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn usage(&self) -> MutexGuard<'_, HashMap<String, Usage>> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request of this session.
    pub fn touch(&self, session: &str) {
        if let Some(usage) = self.usage().get_mut(session) {
            usage.last_used = Instant::now();
            usage.is_used = true;
        }
    }

    /// Whether this session may open another stream that stays open.
    pub fn may_open_stream(&self, session: &str) -> bool {
        let usage = self.usage();
        let streams = usage
            .get(session)
            .map(|it| Arc::strong_count(&it.streams) - 1);
        streams.is_none_or(|open| open < MAX_SESSION_STREAMS)
    }

    /// Records that the SDK opened this session.
    pub fn opened(&self, session: &str) {
        self.usage().insert(session.to_owned(), Usage::default());
    }

    /// Records an event stream of this session, which ends with a response or stays open; `None`
    /// if the session does not exist.
    pub fn guard_stream(&self, session: &str, stays_open: bool) -> Option<StreamGuard> {
        let mut usage = self.usage();
        let usage = usage.get_mut(session)?;
        usage.last_used = Instant::now();
        Some(StreamGuard {
            _response: Arc::clone(&usage.responses),
            _stream: stays_open.then(|| Arc::clone(&usage.streams)),
        })
    }

    /// Closes sessions that were idle for too long and, if there are still too many, the oldest
    /// one that was never used. Returns whether another session may be opened.
    pub async fn make_room(&self) -> bool {
        let open: HashSet<_> = {
            let sessions = self.manager.sessions.read().await;
            sessions.keys().cloned().collect()
        };
        let closing: Vec<_> = {
            let mut usage = self.usage();
            // Clients close sessions too.
            usage.retain(|id, _| open.contains(&**id));
            let without_stream = open
                .iter()
                .filter_map(|id| Some((usage.get(&**id)?, id)))
                .filter(|(usage, _)| !usage.has_stream());
            let is_idle = |usage: &Usage| usage.last_used.elapsed() >= self.idle_timeout;
            let (idle, rest): (Vec<_>, Vec<_>) =
                without_stream.partition(|(usage, _)| is_idle(usage));
            let unused = rest.iter().filter(|(usage, _)| !usage.is_used);
            let oldest = unused.min_by_key(|(usage, _)| usage.last_used);
            let oldest = oldest.filter(|_| open.len() - idle.len() >= self.max);
            let closing = idle.iter().chain(oldest).map(|(_, id)| Arc::clone(id));
            let closing = closing.collect();
            // A client that disconnected before the response to `initialize` leaves a session that
            // was never recorded; it is idle from now on.
            for id in &open {
                usage.entry(id.to_string()).or_default();
            }
            closing
        };
        for id in &closing {
            tracing::debug!(session = %id, "closing an idle session");
            if let Err(error) = self.manager.close_session(id).await {
                tracing::debug!(session = %id, %error, "the session was closed already");
            }
        }
        open.len() - closing.len() < self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_whose_client_never_got_its_id_is_closed() {
        let sessions = Sessions::new(1, Duration::from_mins(30));
        let (id, _transport) = sessions.manager().create_session().await.unwrap();
        assert!(!sessions.make_room().await, "the first call records it");
        assert!(sessions.make_room().await, "the second closes it");
        assert!(!sessions.manager().has_session(&id).await.unwrap());
    }
}
