//! What tells two states of a file apart without reading it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// How old a change must be to tell it from the next one.
const SETTLED: Duration = Duration::from_secs(2);

/// Length, times and identity of a file.
///
/// Where the system has it, the time of the last change of anything about the file is
/// part of it. That one cannot be set by hand, so an edit shows even if somebody puts
/// the modification time back afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    changed: Option<SystemTime>,
    inode: u64,
}

impl Stamp {
    /// The stamp of a file as it is now.
    pub fn of(metadata: &Metadata) -> Self {
        let (changed, inode) = identity(metadata);
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
            inode,
        }
    }

    /// Whether a change after `now` is sure to give another stamp: within one tick of
    /// the clock two edits look the same, and a time in the future says nothing.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
        let old = |time: Option<SystemTime>| time.map(age).is_some_and(|age| age > SETTLED);
        old(self.modified) && self.changed.is_none_or(|changed| old(Some(changed)))
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (Option<SystemTime>, u64) {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok();
    let nanos = u32::try_from(metadata.ctime_nsec()).ok();
    let since = seconds.zip(nanos).map(|(s, n)| Duration::new(s, n));
    let changed = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    (changed, metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (Option<SystemTime>, u64) {
    (None, 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_change_settles_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&fs::metadata(&path).unwrap());
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now));
        assert!(stamp.is_settled(now + 2 * SETTLED));
        assert!(!stamp.is_settled(now - 2 * SETTLED), "the future");
        assert_eq!(stamp, Stamp::of(&fs::metadata(&path).unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_modification_time_that_is_put_back_does_not_hide_an_edit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let long_ago = SystemTime::now() - Duration::from_hours(24);
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(long_ago).unwrap();
            Stamp::of(&fs::metadata(&path).unwrap())
        };
        let before = write("one");
        // Old by its modification time, and still not to be trusted.
        assert!(!before.is_settled(SystemTime::now()));
        // The clock of the file system ticks; wait for the tick, not for a time.
        while write("two").changed == before.changed {
            std::thread::yield_now();
        }
        assert_ne!(write("two"), before);
    }
}
