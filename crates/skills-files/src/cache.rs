//! What was learnt from files that have not changed since.
//!
//! Bodies are never kept. A file that changed a moment ago is not kept either: it
//! could change again within one tick of the clock and look the same.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::scan::Found;
use crate::stamp::Stamp;

/// What each path taught, for as long as its stamp is the same.
#[derive(Debug)]
pub struct Cache<T>(Mutex<Known<T>>);

#[derive(Debug)]
struct Known<T> {
    files: HashMap<OsString, Learnt<T>>,
    /// Counts listings, to forget files that are gone.
    listing: u64,
}

#[derive(Debug)]
struct Learnt<T> {
    stamp: Stamp,
    listing: u64,
    what: T,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(Known {
            files: HashMap::new(),
            listing: 0,
        }))
    }
}

/// One listing: what it does not ask for is forgotten when it ends.
pub struct Listing<'a, T> {
    known: MutexGuard<'a, Known<T>>,
    began: SystemTime,
    kept: usize,
}

impl<T: Clone> Cache<T> {
    /// Begins a listing; `began` is a time before its walk.
    pub fn listing(&self, began: SystemTime) -> Listing<'_, T> {
        // A std mutex: nothing awaits while it is held, and a panic leaves it usable.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.listing += 1;
        Listing {
            known,
            began,
            kept: 0,
        }
    }
}

impl<T: Clone> Listing<'_, T> {
    /// What a file teaches: remembered if it still `fits`, or learnt by reading it. A
    /// failure is not kept, for it may pass without a change of the file.
    pub fn learn<E>(
        &mut self,
        found: &Found,
        fits: impl FnOnce(&T) -> bool,
        read: impl FnOnce() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let path = found.path.as_os_str();
        // Taken before reading: a change in between then shows as another stamp next time.
        let stamp = found.stamp;
        let Known { files, listing } = &mut *self.known;
        if let Some(learnt) = files.get_mut(path) {
            if learnt.stamp == stamp && fits(&learnt.what) {
                learnt.listing = *listing;
                self.kept += 1;
                return Ok(Some(learnt.what.clone()));
            }
            files.remove(path);
        }
        let what = read();
        if stamp.is_settled(self.began)
            && let Ok(Some(what)) = &what
        {
            let learnt = Learnt {
                stamp,
                listing: *listing,
                what: what.clone(),
            };
            files.insert(path.to_owned(), learnt);
            self.kept += 1;
        }
        what
    }
}

impl<T> Drop for Listing<'_, T> {
    fn drop(&mut self) {
        let Known { files, listing } = &mut *self.known;
        if files.len() > self.kept {
            files.retain(|_, learnt| learnt.listing == *listing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn found(path: &Path) -> Found {
        Found {
            path: path.to_owned(),
            relative: "a.md".into(),
            pattern: "*.md".into(),
            stamp: Stamp::of(&fs::metadata(path).unwrap()),
        }
    }

    /// A time at which everything written now has settled.
    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_mins(1)
    }

    #[test]
    fn a_fresh_file_is_read_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let cache = Cache::default();
        let reads = Cell::new(0);
        let learn = || {
            let mut listing = cache.listing(SystemTime::now());
            let read = || {
                reads.set(reads.get() + 1);
                Ok::<_, Infallible>(fs::read_to_string(&path).ok())
            };
            listing.learn(&found(&path), |_| true, read).unwrap()
        };
        assert_eq!(learn(), Some("one".into()));
        // The same length, within a tick of the clock.
        fs::write(&path, "two").unwrap();
        assert_eq!(learn(), Some("two".into()));
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn a_settled_file_is_read_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let cache = Cache::default();
        let learn = |fits: bool, result: Result<i32, &'static str>| {
            let mut listing = cache.listing(later());
            listing.learn(&found(&path), |_| fits, || result.map(Some))
        };
        assert!(learn(true, Err("too many open files")).is_err());
        assert_eq!(learn(true, Ok(1)), Ok(Some(1)), "a failure is not kept");
        assert_eq!(learn(true, Ok(2)), Ok(Some(1)));
        assert_eq!(learn(false, Ok(3)), Ok(Some(3)), "it does not fit");
        fs::write(&path, "longer").unwrap();
        assert_eq!(learn(true, Ok(4)), Ok(Some(4)));
        drop(cache.listing(later()));
        assert!(cache.0.lock().unwrap().files.is_empty(), "not asked for");
    }
}
