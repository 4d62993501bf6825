//! Limits how many sessions are open, and chooses which one to close for a new one.
//!
//! The SDK has no limit, and closes a session that sends no requests even if its client only
//! receives notifications. Here a session with an open stream stays open; of the others, the one
//! that was idle longest is closed first.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

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
    /// Cloned for each open stream.
    streams: Arc<()>,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            last_used: Instant::now(),
            streams: Arc::default(),
        }
    }
}

impl Usage {
    fn has_stream(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }
}

/// Keeps a session open as long as its stream is.
pub struct StreamGuard {
    _stream: Arc<()>,
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
        }
    }

    /// Records that the SDK opened this session.
    pub fn opened(&self, session: &str) {
        self.usage().insert(session.to_owned(), Usage::default());
    }

    /// Records an open stream of this session; `None` if the session does not exist.
    pub fn guard_stream(&self, session: &str) -> Option<StreamGuard> {
        let mut usage = self.usage();
        let usage = usage.get_mut(session)?;
        usage.last_used = Instant::now();
        Some(StreamGuard {
            _stream: Arc::clone(&usage.streams),
        })
    }

    /// Closes idle sessions and, if there are still too many, the one that was idle longest.
    /// Returns whether another session may be opened.
    pub async fn make_room(&self) -> bool {
        let open: HashSet<_> = {
            let sessions = self.manager.sessions.read().await;
            sessions.keys().cloned().collect()
        };
        let closing: Vec<_> = {
            let mut usage = self.usage();
            // Clients close sessions too.
            usage.retain(|id, _| open.contains(&**id));
            let mut without_stream: Vec<_> = open
                .iter()
                .filter_map(|id| Some((usage.get(&**id)?, id)))
                .filter(|(usage, _)| !usage.has_stream())
                .map(|(usage, id)| (usage.last_used, id.clone()))
                .collect();
            without_stream.sort();
            // A client that disconnected before the response to `initialize` leaves a session that
            // was never recorded; it is idle from now on.
            for id in &open {
                usage.entry(id.to_string()).or_default();
            }
            let excess = (open.len() + 1).saturating_sub(self.max);
            let is_closed = |(at, (last_used, _)): &(usize, (Instant, Arc<str>))| {
                *at < excess || last_used.elapsed() >= self.idle_timeout
            };
            let closing = without_stream.into_iter().enumerate().take_while(is_closed);
            closing.map(|(_, (_, id))| id).collect()
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
