//! Waits for changes of one file, on the calling thread.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Timing, Watcher};
use crate::stamp::Stamp;

const TIMING: Timing = Timing {
    debounce: Duration::from_millis(50),
    rescan_interval: Duration::from_secs(2),
    ..Timing::DEFAULT
};

/// Calls `changed` at once and then whenever the file may have changed, until it returns
/// false.
///
/// The folder is watched instead of the file: editors replace a file by renaming another.
pub fn watch_file(path: &Path, mut changed: impl FnMut() -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let Ok(runtime) = runtime else {
        return tracing::warn!("changes of {} are not followed", path.display());
    };
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    let mut watcher = Watcher::with(TIMING);
    let mut known = stamp(path);
    // The first call: the file may have changed between being read and being watched.
    while changed() {
        loop {
            runtime.block_on(watcher.changed(std::slice::from_ref(&folder)));
            let now = stamp(path);
            let is_settled = now.is_some_and(|stamp| stamp.is_settled(SystemTime::now()));
            if now != known || (now.is_some() && !is_settled) {
                known = now;
                break;
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp::of(&metadata))
}
