//! Which clients use the server: a log line when one comes and when it leaves, and how many there
//! are.
//!
//! A client with a session comes with `initialize` and leaves with its session. Since 2026-07-28
//! there are no sessions: a client comes with its first request, and has left when it sent none for a
//! time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::Implementation;

use crate::limits::{MAX_CLIENT_NAME_CHARS, MAX_KNOWN_CLIENTS, SESSION_IDLE_TIMEOUT};

/// The clients of one server.
#[derive(Debug, Default)]
pub struct Clients {
    connected: AtomicUsize,
    /// The clients without a session, and when each sent its last request.
    seen: Mutex<HashMap<String, Instant>>,
}

/// A client with a session. Dropped with the session.
#[derive(Debug)]
pub struct ConnectedClient {
    clients: Arc<Clients>,
    name: String,
}

impl Clients {
    /// Records a client with a session.
    pub fn connected(self: &Arc<Self>, client: &Implementation) -> ConnectedClient {
        let name = display_name(client);
        tracing::info!(client = name, "MCP client connected");
        self.connected.fetch_add(1, Ordering::Relaxed);
        ConnectedClient {
            clients: Arc::clone(self),
            name,
        }
    }

    /// Records a request of a client without a session.
    pub fn seen(&self, client: &Implementation) {
        self.seen_at(display_name(client), Instant::now(), SESSION_IDLE_TIMEOUT);
    }

    fn seen_at(&self, name: String, now: Instant, idle_timeout: Duration) {
        let mut seen = self.lock();
        if let Some(last) = seen.get_mut(&name) {
            *last = now;
            return;
        }
        Self::remove_idle(&mut seen, now, idle_timeout);
        // A client can send another name with each request.
        if seen.len() < MAX_KNOWN_CLIENTS {
            tracing::info!(client = name, "MCP client connected");
            seen.insert(name, now);
        }
    }

    fn remove_idle(seen: &mut HashMap<String, Instant>, now: Instant, timeout: Duration) {
        seen.retain(|name, last| {
            let stays = now.saturating_duration_since(*last) < timeout;
            if !stays {
                tracing::info!(client = name, "MCP client left: it sent no more requests");
            }
            stays
        });
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        let mut seen = self.lock();
        Self::remove_idle(&mut seen, Instant::now(), SESSION_IDLE_TIMEOUT);
        self.connected.load(Ordering::Relaxed) + seen.len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        // Each change is complete before anything can panic.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.clients.connected.fetch_sub(1, Ordering::Relaxed);
        tracing::info!(client = self.name, "MCP client left");
    }
}

/// "claude-code 2.1", of limited length.
fn display_name(client: &Implementation) -> String {
    let short = |text: &str| -> String { text.chars().take(MAX_CLIENT_NAME_CHARS).collect() };
    let (name, version) = (short(&client.name), short(&client.version));
    if version.is_empty() {
        name
    } else {
        format!("{name} {version}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_with_and_without_a_session_are_counted() {
        let clients = Arc::new(Clients::default());
        let one = clients.connected(&Implementation::new("a", "1"));
        let two = clients.connected(&Implementation::new("a", "1"));
        let start = Instant::now();
        for _ in 0..3 {
            clients.seen_at("b 1".into(), start, Duration::from_secs(1));
        }
        assert_eq!(clients.count(), 3);
        drop((one, two));
        assert_eq!(clients.count(), 1);
        let later = start + Duration::from_secs(2);
        clients.seen_at("c 1".into(), later, Duration::from_secs(1));
        assert_eq!(clients.lock().keys().collect::<Vec<_>>(), ["c 1"]);
    }

    #[test]
    fn names_are_limited_in_length_and_number() {
        let long = Implementation::new("n".repeat(10_000), "");
        assert_eq!(display_name(&long).len(), MAX_CLIENT_NAME_CHARS);
        let clients = Clients::default();
        for number in 0..MAX_KNOWN_CLIENTS + 10 {
            clients.seen(&Implementation::new(number.to_string(), "1"));
        }
        assert_eq!(clients.count(), MAX_KNOWN_CLIENTS);
    }
}
