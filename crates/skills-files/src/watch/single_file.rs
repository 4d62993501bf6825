//! Noticing that one file changed: the system's word for it where there is one, and a look now
//! and then where there is none.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher};

use crate::stamp::Stamp;

/// How often to look where the system says nothing, as on some network drives.
const LOOK: Duration = Duration::from_secs(2);
/// Editors write in several steps; this much silence means they are done.
const QUIET: Duration = Duration::from_millis(50);
/// Somebody who never stops writing is read anyway.
const PATIENCE: Duration = Duration::from_secs(1);

/// Calls `changed` whenever the file may have changed, for as long as it answers true.
///
/// The folder is watched rather than the file: editors replace a file by renaming another.
pub fn watch_file(path: &Path, mut changed: impl FnMut() -> bool) {
    let (sender, events) = mpsc::channel();
    let name = path.file_name().map(ToOwned::to_owned);
    let ours = move |event: &notify::Event| {
        let named = |path: &std::path::PathBuf| path.file_name() == name.as_deref();
        event.need_rescan() || event.paths.iter().any(named)
    };
    let kept = sender.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if !event.kind.is_access() && ours(&event) {
            // Nobody listens any more: nothing to tell.
            let _ = sender.send(());
        }
    });
    // Without a watcher there is still the look now and then.
    let _watching = watcher.and_then(|mut watcher| {
        let folder = path.parent().unwrap_or(Path::new("."));
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    let mut known = stamp(path);
    // It may have changed between being read and being watched.
    while changed() {
        loop {
            let rang = rings(&events);
            let now = stamp(path);
            if rang || now != known {
                known = now;
                break;
            }
        }
    }
    drop(kept);
}

/// Waits for an event and the silence after it; false if none came for a while.
fn rings(events: &Receiver<()>) -> bool {
    if events.recv_timeout(LOOK) != Ok(()) {
        return false;
    }
    let first = Instant::now();
    while first.elapsed() < PATIENCE {
        if events.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    true
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp::of(&metadata))
}
