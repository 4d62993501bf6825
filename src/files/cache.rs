//! What was learnt from files that have not changed since.
//!
//! Bodies are never kept. A file that changed a moment ago is not kept either: it
//! could change again within one tick of the clock and look the same.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How old a change must be to tell it from the next one.
const SETTLED: Duration = Duration::from_secs(2);

/// What tells two states of a file apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: SystemTime,
    /// Inode, and when anything about it changed: neither can be set by hand.
    identity: (u64, i64, i64),
}

impl Stamp {
    /// The stamp of a file that settled, so that a later change shows.
    fn settled(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?;
        let changed = changed(metadata).unwrap_or(modified).max(modified);
        // A time in the future cannot be trusted.
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age > SETTLED).then(|| Self {
            length: metadata.len(),
            modified,
            identity: identity(metadata),
        })
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

/// What each path taught, for as long as its stamp is the same.
#[derive(Debug)]
pub struct Cache<T>(Mutex<HashMap<PathBuf, (Stamp, T)>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Cache<T> {
    /// What the file teaches: remembered, or learnt by reading it. A failure is not
    /// kept, for it may pass without a change of the file.
    pub fn learn(
        &self,
        path: &Path,
        read: impl FnOnce() -> Result<Option<T>, String>,
    ) -> Result<Option<T>, String> {
        // Before reading: a change in between then shows as another stamp next time.
        let stamp = std::fs::metadata(path)
            .ok()
            .as_ref()
            .and_then(Stamp::settled);
        if let Some(stamp) = stamp
            && let Some((known, learnt)) = self.lock().get(path)
            && *known == stamp
        {
            return Ok(Some(learnt.clone()));
        }
        let learnt = read();
        match (stamp, &learnt) {
            (Some(stamp), Ok(Some(learnt))) => {
                let kept = (stamp, learnt.clone());
                self.lock().insert(path.to_owned(), kept);
            }
            _ => {
                self.lock().remove(path);
            }
        }
        learnt
    }

    /// Forgets paths that are no longer there.
    pub fn keep(&self, there: impl Fn(&Path) -> bool) {
        self.lock().retain(|path, _| there(path));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Stamp, T)>> {
        // A std mutex: nothing awaits while it is held, and a panic leaves it usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    #[test]
    fn a_fresh_file_is_read_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let cache = Cache::default();
        let reads = Cell::new(0);
        let learn = || {
            reads.set(reads.get() + 1);
            Ok(fs::read_to_string(&path).ok())
        };
        assert_eq!(cache.learn(&path, learn), Ok(Some("one".into())));
        // The same length, within a tick of the clock.
        fs::write(&path, "two").unwrap();
        assert_eq!(cache.learn(&path, learn), Ok(Some("two".into())));
        assert_eq!(reads.get(), 2);
        fs::remove_file(&path).unwrap();
        assert_eq!(cache.learn(&path, learn), Ok(None));
    }

    #[test]
    fn a_settled_file_is_read_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        std::thread::sleep(SETTLED + Duration::from_millis(100));
        let cache = Cache::default();
        let learn = |result: Result<i32, String>| cache.learn(&path, || result.map(Some));
        assert!(learn(Err("too many open files".into())).is_err());
        assert_eq!(learn(Ok(1)), Ok(Some(1)), "a failure is not kept");
        assert_eq!(learn(Ok(2)), Ok(Some(1)));
        fs::write(&path, "two").unwrap();
        assert_eq!(learn(Ok(3)), Ok(Some(3)));
        assert_eq!(learn(Ok(4)), Ok(Some(4)), "not settled yet");
        cache.keep(|_| false);
        assert!(cache.lock().is_empty());
    }
}
