//! What an owner of a store can choose.

use std::time::Duration;

/// How a store behaves. The defaults suit a registry on one machine.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// How often an idle store looks for writes of other processes.
    pub poll: Duration,
    /// How long a write or an open waits for another process to let go of the lock.
    pub busy_timeout: Duration,
    /// How many past writes are kept so that other processes can learn of each.
    pub log_len: u32,
    /// How many bytes of replaced values are kept for the same purpose.
    pub log_bytes: u32,
    /// The longest value taken.
    pub max_value: usize,
    /// How many bytes may wait to be written before a write is refused.
    pub max_queued: usize,
    /// How many events may wait for a slow reader of `changes` before it is told to reload.
    pub max_events: usize,
    /// The size of the same queue in bytes.
    pub max_event_bytes: usize,
    /// The largest database file, in pages: a full disk for tests.
    #[doc(hidden)]
    pub max_pages: Option<u32>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(50),
            busy_timeout: Duration::from_secs(10),
            log_len: 10_000,
            log_bytes: 16 << 20,
            max_value: 64 << 20,
            max_queued: 256 << 20,
            max_events: 16_384,
            max_event_bytes: 64 << 20,
            max_pages: None,
        }
    }
}
