//! Waits for changes of one file, on the calling thread.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher};

use crate::stamp::Stamp;

/// How often the file's metadata is compared, because the system may report nothing, as on
/// some network drives.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Editors write in several steps; a pause of this length ends them,
const DEBOUNCE: Duration = Duration::from_millis(50);
/// or this much time, if the steps never pause.
const DEBOUNCE_MAX: Duration = Duration::from_secs(1);

/// Calls `changed` at once and then whenever the file may have changed, until it returns
/// false.
///
/// The folder is watched instead of the file: editors replace a file by renaming another.
pub fn watch_file(path: &Path, mut changed: impl FnMut() -> bool) {
    // One slot: an event that is already waiting covers the next one.
    let (sender, events) = mpsc::sync_channel(1);
    let name = path.file_name().map(ToOwned::to_owned);
    let concerns_file = move |event: &notify::Event| {
        let mut paths = event.paths.iter();
        event.need_rescan() || paths.any(|path| path.file_name() == name.as_deref())
    };
    // Keeps the channel open if there is no watcher; polling then still works.
    let _open = sender.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if !event.kind.is_access() && concerns_file(&event) {
            let _ = sender.try_send(());
        }
    });
    let _watcher = watcher.and_then(|mut watcher| {
        let folder = path.parent().unwrap_or(Path::new("."));
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    let mut known = stamp(path);
    // The first call: the file may have changed between being read and being watched.
    while changed() {
        loop {
            let reported = wait_for_burst(&events);
            let now = stamp(path);
            if reported || now != known {
                known = now;
                break;
            }
        }
    }
}

/// Waits for an event and the pause after it; false if none arrived in the poll interval.
fn wait_for_burst(events: &Receiver<()>) -> bool {
    if events.recv_timeout(POLL_INTERVAL) != Ok(()) {
        return false;
    }
    let first = Instant::now();
    while first.elapsed() < DEBOUNCE_MAX {
        if events.recv_timeout(DEBOUNCE) == Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    true
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp::of(&metadata))
}
