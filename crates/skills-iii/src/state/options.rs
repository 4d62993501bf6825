//! Settings of a store.

use std::time::Duration;

use crate::limits::{
    BUSY_TIMEOUT, MAX_EVENT_BYTES, MAX_EVENTS, MAX_LOG_BYTES, MAX_LOG_WRITES,
    MAX_QUEUED_WRITE_BYTES, MAX_VALUE_BYTES,
};

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
            max_pages: None,
        }
    }
}
