//! Which engines with workers run on a data directory.
//!
//! Each engine holds the lock of a file of its own, which the system releases when its process
//! ends, however it ends. So whoever can lock the file of another engine knows that it is gone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folder of the files in a data directory.
const FOLDER: &str = "engines";

/// One engine on a data directory.
pub struct Presence {
    folder: PathBuf,
    /// The name of its file, and the file; none if it could not be written, or after its end.
    own: Mutex<Option<(String, File)>>,
}

impl Presence {
    /// Tells others that an engine with workers runs here.
    pub fn in_dir(data_dir: &Path) -> Self {
        static ENGINES: AtomicU64 = AtomicU64::new(0);
        let folder = data_dir.join(FOLDER);
        let number = ENGINES.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let own = match lock(&folder, &name) {
            Ok(file) => Some((name, file)),
            Err(error) => {
                // Others do not see it, and remove what its workers own.
                let path = folder.join(name);
                tracing::warn!("{}: cannot be locked: {error}", path.display());
                None
            }
        };
        let own = Mutex::new(own);
        Self { folder, own }
    }

    /// The same for an engine that no worker can connect to.
    pub fn of_others(data_dir: &Path) -> Self {
        let folder = data_dir.join(FOLDER);
        let own = Mutex::default();
        Self { folder, own }
    }

    /// No worker is served any more: removes the file.
    pub fn end(&self) {
        if let Some((name, file)) = self.own().take() {
            // Before the lock is released: the next one of this name is another file.
            let _ = fs::remove_file(self.folder.join(name));
            drop(file);
        }
    }

    // Never held across an await.
    fn own(&self) -> MutexGuard<'_, Option<(String, File)>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another engine runs here, or may. Removes the files of those that are gone.
    pub fn has_others(&self) -> bool {
        let files = match fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        let own = self.own().as_ref().map(|(name, _)| name.clone());
        let mut others = files.filter(|file| match file {
            Ok(file) => file.file_name().to_str() != own.as_deref(),
            Err(_) => true,
        });
        others.any(|other| other.is_ok_and(|other| is_locked(&other.path())))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock(folder: &Path, name: &str) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(name))?;
    file.try_lock()?;
    Ok(file)
}

fn is_locked(path: &Path) -> bool {
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    match file.try_lock() {
        Ok(()) => {
            let _ = fs::remove_file(path);
            false
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_on_one_directory_know_of_each_other_until_they_end() {
        let dir = tempfile::tempdir().unwrap();
        let first = Presence::in_dir(dir.path());
        assert!(!first.has_others());
        let second = Presence::in_dir(dir.path());
        assert!(first.has_others() && second.has_others());
        drop(second);
        assert!(!first.has_others());
        // A process that was killed leaves its file, without the lock.
        fs::write(dir.path().join(FOLDER).join("1-0"), "").unwrap();
        assert!(!first.has_others());
        let left = fs::read_dir(dir.path().join(FOLDER)).unwrap().count();
        assert_eq!(left, 1, "its file is removed");
        assert!(Presence::of_others(dir.path()).has_others());
        assert!(!first.has_others());
        let elsewhere = tempfile::tempdir().unwrap();
        assert!(!Presence::in_dir(elsewhere.path()).has_others());
    }
}
