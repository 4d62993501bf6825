//! Which clients use the server: a log line when one comes and when it leaves, and who they
//! are.
//!
//! A client with a session comes with `initialize` and leaves with its session. Since 2026-07-28
//! there are no sessions: a client comes with its first request, and has left when it sent none for a
//! time.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::Implementation;

use crate::limits::{MAX_CLIENT_NAME_CHARS, MAX_KNOWN_CLIENTS, SESSION_IDLE_TIMEOUT};

/// The clients of one server.
#[derive(Debug, Default)]
pub struct Clients {
    /// The number of the next session.
    next: AtomicU64,
    /// The clients with a session, by the number of the session.
    connected: Mutex<HashMap<u64, ClientCard>>,
    /// The clients without a session by their names, and when each sent its last request.
    seen: Mutex<HashMap<String, (ClientCard, Instant)>>,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCard {
    /// Its name, of limited length.
    pub name: String,
    /// Its version, of limited length.
    pub version: String,
    /// When it came.
    pub since: Instant,
}

/// A client with a session. Dropped with the session.
#[derive(Debug)]
pub struct ConnectedClient {
    clients: Arc<Clients>,
    number: u64,
}

impl Clients {
    /// Records a client with a session.
    pub fn connected(self: &Arc<Self>, client: &Implementation) -> ConnectedClient {
        let card = ClientCard::of(client, Instant::now());
        tracing::info!(client = card.to_string(), "MCP client connected");
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.connected).insert(number, card);
        ConnectedClient {
            clients: Arc::clone(self),
            number,
        }
    }

    /// Records a request of a client without a session.
    pub fn seen(&self, client: &Implementation) {
        let now = Instant::now();
        self.seen_at(ClientCard::of(client, now), now, SESSION_IDLE_TIMEOUT);
    }

    fn seen_at(&self, client: ClientCard, now: Instant, idle_timeout: Duration) {
        let mut seen = lock(&self.seen);
        let name = client.to_string();
        if let Some((_, last)) = seen.get_mut(&name) {
            *last = now;
            return;
        }
        Self::remove_idle(&mut seen, now, idle_timeout);
        // A client can send another name with each request.
        if seen.len() < MAX_KNOWN_CLIENTS {
            tracing::info!(client = name, "MCP client connected");
            seen.insert(name, (client, now));
        }
    }

    fn remove_idle(
        seen: &mut HashMap<String, (ClientCard, Instant)>,
        now: Instant,
        timeout: Duration,
    ) {
        seen.retain(|name, (_, last)| {
            let stays = now.saturating_duration_since(*last) < timeout;
            if !stays {
                tracing::info!(client = name, "MCP client left: it sent no more requests");
            }
            stays
        });
    }

    /// All of them, in the order in which they came.
    pub fn cards(&self) -> Vec<ClientCard> {
        let mut cards: Vec<ClientCard> = lock(&self.connected).values().cloned().collect();
        let mut seen = lock(&self.seen);
        Self::remove_idle(&mut seen, Instant::now(), SESSION_IDLE_TIMEOUT);
        cards.extend(seen.values().map(|(card, _)| card.clone()));
        cards.sort_by(|a, b| (a.since, &a.name).cmp(&(b.since, &b.name)));
        cards
    }
}

fn lock<K, V>(clients: &Mutex<HashMap<K, V>>) -> MutexGuard<'_, HashMap<K, V>> {
    // Each change is complete before anything can panic.
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        if let Some(card) = lock(&self.clients.connected).remove(&self.number) {
            tracing::info!(client = card.to_string(), "MCP client left");
        }
    }
}

impl ClientCard {
    fn of(client: &Implementation, since: Instant) -> Self {
        let short = |text: &str| -> String { text.chars().take(MAX_CLIENT_NAME_CHARS).collect() };
        Self {
            name: short(&client.name),
            version: short(&client.version),
            since,
        }
    }
}

/// "claude-code 2.1".
impl fmt::Display for ClientCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &*self.version {
            "" => Ok(()),
            version => write!(f, " {version}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_with_and_without_a_session_are_listed() {
        let clients = Arc::new(Clients::default());
        let one = clients.connected(&Implementation::new("a", "1"));
        let two = clients.connected(&Implementation::new("a", "1"));
        let start = Instant::now();
        let without_session =
            |name: &str, since| ClientCard::of(&Implementation::new(name, "1"), since);
        for _ in 0..3 {
            let client = without_session("b", start);
            clients.seen_at(client, start, Duration::from_secs(1));
        }
        let names = || -> Vec<String> {
            let cards = clients.cards();
            cards.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(), ["a 1", "a 1", "b 1"]);
        drop((one, two));
        assert_eq!(names(), ["b 1"]);
        let later = start + Duration::from_secs(2);
        let client = without_session("c", later);
        clients.seen_at(client, later, Duration::from_secs(1));
        assert_eq!(lock(&clients.seen).keys().collect::<Vec<_>>(), ["c 1"]);
    }

    #[test]
    fn names_are_limited_in_length_and_number() {
        let long = Implementation::new("n".repeat(10_000), "");
        let card = ClientCard::of(&long, Instant::now());
        assert_eq!(card.to_string().len(), MAX_CLIENT_NAME_CHARS);
        let clients = Clients::default();
        for number in 0..MAX_KNOWN_CLIENTS + 10 {
            clients.seen(&Implementation::new(number.to_string(), "1"));
        }
        assert_eq!(clients.cards().len(), MAX_KNOWN_CLIENTS);
    }
}
