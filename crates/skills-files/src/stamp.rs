//! Detects a changed file by its metadata, without reading it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use crate::snapshot::fingerprint;

/// The age at which a change is certain to have another stamp than the next one: more
/// than one tick of any file system clock.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Length, times, inode and executable bit of a file.
///
/// On unix the stamp includes `ctime`. A program cannot set that time, so an edit is
/// detected even if the modification time is restored afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    changed: Option<SystemTime>,
    inode: u64,
    is_executable: bool,
}

/// The hash of a [`Stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StampHash(u64);

impl Stamp {
    /// The stamp of a file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        let (changed, inode) = ctime_and_inode(metadata);
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
            inode,
            is_executable: is_executable(metadata),
        }
    }

    /// The length of the file.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Whether the owner of the file may execute it.
    pub const fn is_executable(&self) -> bool {
        self.is_executable
    }

    /// A hash that differs as the stamp does. Far smaller, for stamps that are kept.
    pub fn to_hash(self) -> StampHash {
        StampHash(fingerprint(self))
    }

    /// Whether every change after `now` gives another stamp. Two edits within one tick of
    /// the clock have the same times, and a time in the future proves nothing.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
        let old = |time: Option<SystemTime>| time.map(age).is_some_and(|age| age > SETTLE_TIME);
        old(self.modified) && self.changed.is_none_or(|changed| old(Some(changed)))
    }
}

#[cfg(unix)]
fn ctime_and_inode(metadata: &Metadata) -> (Option<SystemTime>, u64) {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok();
    let nanos = u32::try_from(metadata.ctime_nsec()).ok();
    let since = seconds.zip(nanos).map(|(s, n)| Duration::new(s, n));
    let changed = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    (changed, metadata.ino())
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
const fn is_executable(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn ctime_and_inode(_: &Metadata) -> (Option<SystemTime>, u64) {
    (None, 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_stamp_settles_with_age() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&fs::metadata(&path).unwrap());
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now));
        assert!(stamp.is_settled(now + 2 * SETTLE_TIME));
        assert!(!stamp.is_settled(now - 2 * SETTLE_TIME), "the future");
        assert_eq!(stamp, Stamp::of(&fs::metadata(&path).unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_restored_modification_time_does_not_hide_an_edit() {
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
        // Its modification time is old, but its `ctime` is not.
        assert!(!before.is_settled(SystemTime::now()));
        // Waits for the next tick of the file system clock.
        while write("two").changed == before.changed {
            std::thread::yield_now();
        }
        assert_ne!(write("two"), before);
    }
}
