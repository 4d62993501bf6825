//! Remembers what was parsed from files that have not changed since, and why they cannot be
//! served.
//!
//! What was parsed from a file that changed a moment ago is not trusted: it could change again
//! within one tick of the clock and keep its stamp. The file is parsed again, and only what
//! does not depend on its content is taken from the earlier result.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::scan::FoundFile;
use crate::stamp::Stamp;
use crate::text_file::Unserved;

/// Values by path, each valid while the stamp of its file stays the same.
#[derive(Debug)]
pub struct Cache<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    /// Boxed: a table has room for up to twice as many values as it holds.
    values: HashMap<OsString, Box<Value<T>>>,
    /// The number of the current pass.
    pass: u64,
}

#[derive(Debug)]
struct Value<T> {
    stamp: Stamp,
    /// How much of the path is below the root: the id of a skill depends on it.
    relative_bytes: usize,
    /// The last pass that used it.
    pass: u64,
    /// Whether every change of the file gives another stamp.
    is_settled: bool,
    /// Or the reason why the file is not served.
    parsed: Result<T, String>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(Mutex::new(State {
            values: HashMap::new(),
            pass: 0,
        }))
    }
}

/// One pass over all files: values that it does not use are dropped at its end.
pub struct CachePass<'a, T> {
    state: MutexGuard<'a, State<T>>,
    started: SystemTime,
    used: usize,
}

impl<T: Clone> Cache<T> {
    /// Starts a pass; `started` is a time before the walk that found its files.
    pub fn pass(&self, started: SystemTime) -> CachePass<'_, T> {
        // Nothing awaits while this is held, and a panic leaves the values consistent.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.pass += 1;
        CachePass {
            state,
            started,
            used: 0,
        }
    }
}

impl<T: Clone> CachePass<'_, T> {
    /// The remembered result for a file, after `update` changed what depends on other files;
    /// else the result of `read`, which gets the earlier result. A file that could not be read
    /// is not remembered, because that may pass without a change of the file.
    pub fn get_or_read(
        &mut self,
        found: &FoundFile,
        update: impl FnOnce(&mut T),
        read: impl FnOnce(Option<&T>) -> Result<Option<T>, Unserved>,
    ) -> Result<Option<T>, Unserved> {
        let path = found.path.as_os_str();
        let relative_bytes = found.relative.as_os_str().len();
        // Taken before reading: a change in between gives another stamp in the next pass.
        let stamp = found.stamp;
        let State { values, pass } = &mut *self.state;
        let mut earlier = None;
        if let Some(value) = values.get_mut(path) {
            let is_same = value.stamp == stamp && value.relative_bytes == relative_bytes;
            if is_same && value.is_settled {
                value.pass = *pass;
                self.used += 1;
                if let Ok(parsed) = &mut value.parsed {
                    update(parsed);
                }
                let parsed = value.parsed.clone();
                return parsed.map(Some).map_err(Unserved::Invalid);
            }
            earlier = values.remove(path).and_then(|value| value.parsed.ok());
        }
        let parsed = match read(earlier.as_ref()) {
            Ok(Some(parsed)) => Ok(parsed),
            Err(Unserved::Invalid(reason)) => Err(reason),
            other => return other,
        };
        let value = Box::new(Value {
            stamp,
            relative_bytes,
            pass: *pass,
            is_settled: stamp.is_settled(self.started),
            parsed: parsed.clone(),
        });
        values.insert(path.to_owned(), value);
        self.used += 1;
        parsed.map(Some).map_err(Unserved::Invalid)
    }
}

impl<T> Drop for CachePass<'_, T> {
    fn drop(&mut self) {
        let State { values, pass } = &mut *self.state;
        if values.len() > self.used {
            values.retain(|_, value| value.pass == *pass);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn found(path: &Path) -> FoundFile {
        FoundFile {
            path: path.to_owned(),
            relative: path.file_name().unwrap().into(),
            target: None,
            rank: 0,
            pattern: "*.md".into(),
            stamp: Stamp::of(&fs::metadata(path).unwrap()),
            folder: None,
        }
    }

    /// A time at which the stamps of files written now have settled.
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
        let get = || {
            let mut pass = cache.pass(SystemTime::now());
            let read = |_: Option<&String>| {
                reads.set(reads.get() + 1);
                Ok(fs::read_to_string(&path).ok())
            };
            pass.get_or_read(&found(&path), |_| (), read).unwrap()
        };
        assert_eq!(get(), Some("one".into()));
        // The same length, within a tick of the clock.
        fs::write(&path, "two").unwrap();
        assert_eq!(get(), Some("two".into()));
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn a_settled_file_is_read_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let cache = Cache::default();
        let get = |relative: &str, result: Result<i32, Unserved>| {
            let mut pass = cache.pass(later());
            let mut found = found(&path);
            found.relative = relative.into();
            pass.get_or_read(&found, |_| (), |_| result.map(Some))
        };
        let outage = Unserved::Outage("too many open files".into());
        assert!(get("a.md", Err(outage)).is_err());
        assert_eq!(
            get("a.md", Ok(1)),
            Ok(Some(1)),
            "an outage is not remembered"
        );
        assert_eq!(get("a.md", Ok(2)), Ok(Some(1)));
        assert_eq!(get("d/a.md", Ok(3)), Ok(Some(3)), "below another root");
        let invalid = Unserved::Invalid("no description".into());
        fs::write(&path, "longer").unwrap();
        assert_eq!(get("a.md", Err(invalid.clone())), Err(invalid.clone()));
        assert_eq!(get("a.md", Ok(4)), Err(invalid), "the reason is remembered");
        fs::write(&path, "longer still").unwrap();
        assert_eq!(get("a.md", Ok(5)), Ok(Some(5)));
        drop(cache.pass(later()));
        assert!(cache.0.lock().unwrap().values.is_empty(), "unused");
    }
}
