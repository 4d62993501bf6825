//! How many sessions there may be, and which one goes first.
//!
//! The SDK keeps as many as come, and ends one that is silent even if its client only listens. Here a
//! session with an open stream stays; of the others the one that was silent longest makes room.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// A clone is another handle.
#[derive(Clone)]
pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    seen: Arc<Mutex<HashMap<String, Seen>>>,
    max: usize,
    idle: Duration,
}

struct Seen {
    last: Instant,
    /// Each open stream has another handle.
    streams: Arc<()>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            last: Instant::now(),
            streams: Arc::default(),
        }
    }
}

impl Seen {
    fn is_open(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }
}

/// Kept as long as a stream of a session is open.
pub struct Stays {
    _stream: Arc<()>,
}

impl Sessions {
    /// At most `max`, each silent for at most `idle`.
    pub fn new(max: usize, idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        // A client that only listens for changes is not idle; we know better when one is.
        manager.session_config.keep_alive = None;
        Self {
            manager: Arc::new(manager),
            seen: Arc::default(),
            max,
            idle,
        }
    }

    /// The SDK's side of it.
    pub fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// How many there may be.
    pub fn max(&self) -> usize {
        self.max
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request of this session came.
    pub fn seen(&self, session: &str) {
        if let Some(seen) = self.all().get_mut(session) {
            seen.last = Instant::now();
        }
    }

    /// Whether there is this session, as the SDK knows: a client may have ended it.
    pub async fn has(&self, session: &str) -> bool {
        self.manager.sessions.read().await.contains_key(session)
    }

    /// The SDK has opened this session.
    pub fn begins(&self, session: &str) {
        self.all().insert(session.to_owned(), Seen::default());
    }

    /// A stream of this session opens; none if there is no such session.
    pub fn stays(&self, session: &str) -> Option<Stays> {
        let mut all = self.all();
        let seen = all.get_mut(session)?;
        seen.last = Instant::now();
        Some(Stays {
            _stream: Arc::clone(&seen.streams),
        })
    }

    /// Ends what is idle; if that does not do, the session that was silent longest. Answers whether
    /// there is room for another one.
    pub async fn make_room(&self) -> bool {
        let there: HashSet<_> = {
            let sessions = self.manager.sessions.read().await;
            sessions.keys().cloned().collect()
        };
        let going: Vec<_> = {
            let mut all = self.all();
            // Clients end sessions too.
            all.retain(|id, _| there.contains(&**id));
            let mut silent: Vec<_> = there
                .iter()
                .filter_map(|id| Some((all.get(&**id)?, id)))
                .filter(|(seen, _)| !seen.is_open())
                .map(|(seen, id)| (seen.last, id.clone()))
                .collect();
            silent.sort();
            // One whose client left before its answer never began here; it is silent from now on.
            for id in &there {
                if !all.contains_key(&**id) {
                    all.insert(id.to_string(), Seen::default());
                }
            }
            let too_many = (there.len() + 1).saturating_sub(self.max);
            let goes = |(at, (last, _)): &(usize, (Instant, Arc<str>))| {
                *at < too_many || last.elapsed() >= self.idle
            };
            let going = silent.into_iter().enumerate().take_while(goes);
            going.map(|(_, (_, id))| id).collect()
        };
        for id in &going {
            tracing::debug!(session = %id, "a silent session makes room");
            if let Err(error) = self.manager.close_session(id).await {
                tracing::debug!(session = %id, %error, "it was gone already");
            }
        }
        there.len() - going.len() < self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_that_never_began_makes_room_too() {
        let sessions = Sessions::new(1, Duration::from_mins(30));
        let (id, _transport) = sessions.manager().create_session().await.unwrap();
        assert!(!sessions.make_room().await, "it may be about to begin");
        assert!(sessions.make_room().await, "nothing came of it");
        assert!(!sessions.has(&id).await);
    }
}
