//! How many connections a listener serves at the same time.
//!
//! Each connection takes a file handle, and the process needs handles for other things. When all
//! places are taken, a new connection takes the place of one that waits for its client: a client
//! that connects and sends nothing must not keep others out. A connection that works is kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// The value of `waits_since` while a connection works, or must close.
const WORKS: u64 = 0;
/// Set in `waits_since` of a connection that has worked before. It is closed after those that
/// never have.
const HAS_WORKED: u64 = 1 << 63;

/// How long a connection that must close may take before another one is chosen.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The open connections of one listener.
#[derive(Debug)]
pub struct Connections {
    max: usize,
    /// Numbers the connections and the moments at which they begin to wait.
    next: AtomicU64,
    // A std mutex: nothing awaits while it is held.
    open: Mutex<HashMap<u64, Arc<State>>>,
    /// Notified when a connection has closed.
    closed: Notify,
}

#[derive(Debug)]
struct State {
    waits_since: AtomicU64,
    close: Notify,
}

impl Connections {
    /// At most `max` connections.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            next: AtomicU64::new(1),
            open: Mutex::default(),
            closed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<State>>> {
        // Each change is one insert or remove.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A place for a new connection, which waits; `None` if there are too many and all work. The
    /// connection that it replaces has closed by then, so there are never more than `max`.
    pub async fn admit(self: &Arc<Self>) -> Option<Connection> {
        loop {
            if let Some(connection) = self.try_admit() {
                return Some(connection);
            }
            self.replace_one()?;
            // A connection that began to work in this moment does not close.
            let _ = timeout(CLOSE_TIMEOUT, self.closed.notified()).await;
        }
    }

    fn try_admit(self: &Arc<Self>) -> Option<Connection> {
        let mut open = self.lock();
        if open.len() >= self.max {
            return None;
        }
        let id = self.next();
        let state = Arc::new(State {
            waits_since: AtomicU64::new(id),
            close: Notify::new(),
        });
        open.insert(id, Arc::clone(&state));
        drop(open);
        Some(Connection {
            all: Arc::clone(self),
            id,
            state,
        })
    }

    /// Tells the connection that waits longest to close; `None` if all work.
    fn replace_one(&self) -> Option<()> {
        let open = self.lock();
        let waits_since = |state: &State| state.waits_since.load(Ordering::Relaxed);
        let waiting = open.values().map(|state| (waits_since(state), state));
        let waiting = waiting.filter(|(since, _)| *since != WORKS);
        let (_, state) = waiting.min_by_key(|(since, _)| *since)?;
        // Not chosen again.
        state.waits_since.store(WORKS, Ordering::Relaxed);
        state.close.notify_one();
        Some(())
    }
}

/// The place of one connection, which is free again when this is dropped.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    id: u64,
    state: Arc<State>,
}

impl Connection {
    /// Completes when the connection must close because another one takes its place.
    pub async fn replaced(&self) {
        self.state.close.notified().await;
    }

    /// Keeps the connection open until the guard is dropped.
    pub fn work(self: &Arc<Self>) -> Work {
        self.state.waits_since.store(WORKS, Ordering::Relaxed);
        Work(Arc::clone(self))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
        self.all.closed.notify_one();
    }
}

/// A connection that works.
#[derive(Debug)]
pub struct Work(Arc<Connection>);

impl Drop for Work {
    fn drop(&mut self) {
        let since = HAS_WORKED | self.0.all.next();
        self.0.state.waits_since.store(since, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection whose task closes it as soon as it must.
    async fn open(connections: &Arc<Connections>) -> Option<Arc<Connection>> {
        let connection = Arc::new(connections.admit().await?);
        let kept = Arc::clone(&connection);
        tokio::spawn(async move { kept.replaced().await });
        Some(connection)
    }

    fn is_open(connections: &Connections, id: u64) -> bool {
        connections.lock().contains_key(&id)
    }

    #[tokio::test]
    async fn the_connection_that_waits_longest_is_replaced() {
        let connections = Connections::new(3);
        let used = {
            let used = open(&connections).await.unwrap();
            drop(used.work());
            used.id
        };
        let silent = open(&connections).await.unwrap().id;
        let working = open(&connections).await.unwrap().work();
        let fourth = open(&connections).await.unwrap().id;
        assert!(!is_open(&connections, silent), "it never worked");
        assert!(is_open(&connections, used));
        let fifth = open(&connections).await.unwrap().work();
        assert!(!is_open(&connections, fourth), "it never worked either");
        let sixth = open(&connections).await.unwrap().work();
        assert!(!is_open(&connections, used), "it waits, the others work");
        assert!(open(&connections).await.is_none(), "all work");
        drop(fifth);
        assert!(open(&connections).await.is_some());
        drop((working, sixth));
    }

    #[tokio::test]
    async fn a_closed_connection_frees_its_place() {
        let connections = Connections::new(1);
        let first = Arc::new(connections.admit().await.unwrap());
        let work = first.work();
        assert!(connections.admit().await.is_none());
        drop((work, first));
        assert!(connections.admit().await.is_some());
    }
}
