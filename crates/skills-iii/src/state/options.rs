//! Settings of a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::{
    BUSY_TIMEOUT, MAX_EVENT_BYTES, MAX_EVENTS, MAX_LOG_BYTES, MAX_LOG_WRITES,
    MAX_QUEUED_WRITE_BYTES, MAX_VALUE_BYTES,
};

/// A function that is told of every commit: how long it took, and how many writes it has. It runs on
/// the writer's thread, so it must be quick.
#[derive(Clone)]
pub struct OnCommit(Arc<dyn Fn(Duration, usize) + Send + Sync>);

impl OnCommit {
    /// Calls `told` after each commit.
    pub fn new(told: impl Fn(Duration, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    pub(super) fn committed(&self, duration: Duration, writes: usize) {
        (self.0)(duration, writes);
    }
}

impl fmt::Debug for OnCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnCommit")
    }
}

/// Settings of a store. The defaults suit a registry on one machine.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// How often an idle store polls for writes of other processes.
    pub poll_interval: Duration,
    /// How long a write or an open waits for the lock of another process.
    pub busy_timeout: Duration,
    /// How many past writes are kept for other processes to read.
    pub log_len: u32,
    /// How many bytes of keys and replaced values are kept for the same purpose.
    pub log_bytes: u32,
    /// The longest value, in bytes.
    pub max_value: usize,
    /// How many bytes may wait to be written; further writes fail. A single larger write still
    /// fits an empty queue.
    pub max_queued: usize,
    /// How many events may wait for a subscriber of `changes`; then it gets a reload instead.
    pub max_events: usize,
    /// The size of the same queue in bytes.
    pub max_event_bytes: usize,
    /// Told of every commit.
    pub on_commit: Option<OnCommit>,
    /// The largest database file, in pages: simulates a full disk in tests.
    #[doc(hidden)]
    pub max_pages: Option<u32>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_millis(50),
            busy_timeout: BUSY_TIMEOUT,
            log_len: MAX_LOG_WRITES,
            log_bytes: MAX_LOG_BYTES,
            max_value: MAX_VALUE_BYTES,
            max_queued: MAX_QUEUED_WRITE_BYTES,
            max_events: MAX_EVENTS,
            max_event_bytes: MAX_EVENT_BYTES,
            on_commit: None,
            max_pages: None,
        }
    }
}
