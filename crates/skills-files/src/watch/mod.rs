//! Waits until something may have changed in a set of folders.
//!
//! The operating system reports changes. Folders that it cannot watch (they do not exist
//! yet, they are too many, a limit is reached, there is no such service) are polled. A
//! [`Watcher`] does not report what changed: its owner scans the folders.

mod os_watcher;
mod single_file;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::limits::WATCHED_FOLDERS_MAX;
use os_watcher::{Coverage, OsWatcher, PendingEvents};

pub use single_file::watch_file;

#[derive(Clone, Copy, Debug)]
struct Timing {
    /// A burst of events ends when no event arrives for this long,
    debounce: Duration,
    /// or when it has lasted this long.
    debounce_max: Duration,
    /// How often changes are assumed while some folder is not watched, or a scan failed.
    poll_interval: Duration,
    /// How often changes are assumed while all folders are watched: some network file
    /// systems accept a watch and report nothing that other machines do.
    rescan_interval: Duration,
    /// No folder is watched if there are more than this.
    folders_max: usize,
}

impl Timing {
    const DEFAULT: Self = Self {
        debounce: Duration::from_millis(100),
        debounce_max: Duration::from_secs(1),
        poll_interval: Duration::from_secs(2),
        rescan_interval: Duration::from_secs(30),
        folders_max: WATCHED_FOLDERS_MAX,
    };
}

/// A poll interval is at least this many times as long as a scan takes, so that polling
/// uses at most a twentieth of the time.
const POLL_INTERVAL_PER_SCAN: u32 = 20;
/// A burst ends after a pause of at least this many times as long as a scan takes.
const DEBOUNCE_PER_SCAN: u32 = 4;

/// Reports that something may have changed.
#[derive(Debug)]
pub struct Watcher {
    timing: Timing,
    events: Arc<PendingEvents>,
    folders: Arc<Mutex<OsWatcher>>,
    /// When [`Self::changed`] last returned: its owner scans since then.
    returned: Instant,
    /// Why some folder was not watched the last time.
    unwatched: Option<String>,
    /// Whether the last scan of the owner failed: the next one follows soon.
    pub scan_failed: bool,
}

impl Watcher {
    /// A watcher that watches no folder yet.
    pub fn new() -> Self {
        Self::with(Timing::DEFAULT)
    }

    fn with(timing: Timing) -> Self {
        let events = Arc::new(PendingEvents::default());
        let os_watcher = OsWatcher::new(&events);
        Self {
            timing,
            events,
            folders: Arc::new(Mutex::new(os_watcher)),
            returned: Instant::now(),
            unwatched: None,
            scan_failed: false,
        }
    }

    /// Waits until something may have changed in `folders` (not in folders below them)
    /// since the last call, and until the burst of changes is over. Returns at once if
    /// some folders were not watched before: they may have changed in the meantime.
    ///
    /// ```text
    /// loop {
    ///     let folders = scan();
    ///     watcher.changed(&folders).await;
    /// }
    /// ```
    pub async fn changed(&mut self, folders: &[PathBuf]) {
        let scan_time = self.returned.elapsed();
        let Coverage { added, unwatched } = self.watch(folders).await;
        let interval = if unwatched.is_some() || self.scan_failed {
            let scan_share = scan_time * POLL_INTERVAL_PER_SCAN;
            self.timing.poll_interval.max(scan_share)
        } else {
            self.timing.rescan_interval
        };
        self.log_unwatched(unwatched);
        if !added && timeout(interval, self.events.wait()).await.is_ok() {
            self.end_of_burst(scan_time).await;
        }
        self.returned = Instant::now();
    }

    async fn end_of_burst(&self, scan_time: Duration) {
        let pause = self.timing.debounce.max(scan_time * DEBOUNCE_PER_SCAN);
        let end = async { while timeout(pause, self.events.wait()).await.is_ok() {} };
        // A longer burst is reported again by its later events.
        let _ = timeout(self.timing.debounce_max.max(pause), end).await;
    }

    /// On the blocking thread pool, because there may be many folders.
    async fn watch(&self, folders: &[PathBuf]) -> Coverage {
        let os_watcher = Arc::clone(&self.folders);
        let (folders, max) = (folders.to_vec(), self.timing.folders_max);
        let watch = tokio::task::spawn_blocking(move || {
            let os_watcher = os_watcher.lock();
            let mut os_watcher = os_watcher.unwrap_or_else(PoisonError::into_inner);
            os_watcher.watch_only(&folders, max)
        });
        watch.await.unwrap_or_else(Coverage::none)
    }

    /// Logs each reason for polling once.
    fn log_unwatched(&mut self, unwatched: Option<String>) {
        if let Some(reason) = &unwatched
            && self.unwatched != unwatched
        {
            tracing::info!(reason, "polling for changes");
        }
        self.unwatched = unwatched;
    }
}
