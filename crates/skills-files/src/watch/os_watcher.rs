//! Watches folders with the operating system's service.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{EventKind, ModifyKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use crate::reason::{io_reason, is_not_found};

/// How many moved or removed paths are kept; after that all folders count as replaced.
const REMOVED_MAX: usize = 1_000;

/// Events that were not handled yet. Bounded: a flag, and a limited list of paths.
#[derive(Debug, Default)]
pub struct PendingEvents {
    /// Set by any number of events until the next wait.
    any: Notify,
    removed: Mutex<RemovedPaths>,
}

/// Paths that were moved or removed: a folder of that name is another one now.
#[derive(Debug, Default)]
struct RemovedPaths {
    paths: Vec<PathBuf>,
    /// There were too many to keep, or the system dropped events.
    all: bool,
}

impl PendingEvents {
    /// Adds an event without details.
    pub fn add(&self) {
        self.any.notify_one();
    }

    /// Waits for an event; returns at once if there was one since the last call.
    pub async fn wait(&self) {
        self.any.notified().await;
    }

    fn handle(&self, event: notify::Result<Event>) {
        match event {
            // The scan itself reads files.
            Ok(event) if event.kind.is_access() => return,
            Ok(event) => self.handle_change(event),
            Err(error) => {
                tracing::debug!(%error, "an event was lost");
                self.removed().all = true;
            }
        }
        self.add();
    }

    fn handle_change(&self, event: Event) {
        let mut removed = self.removed();
        removed.all |= event.need_rescan();
        let moved = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        if moved && removed.paths.len() < REMOVED_MAX {
            removed.paths.extend(event.paths);
        } else if moved {
            removed.all = true;
        }
    }

    /// Whether an event reported that this path was moved or removed.
    #[cfg(test)]
    pub fn is_removed(&self, path: &Path) -> bool {
        self.removed().paths.iter().any(|removed| removed == path)
    }

    fn removed(&self) -> MutexGuard<'_, RemovedPaths> {
        // Nothing awaits while this is held, and a panic leaves the value consistent.
        self.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which folders are watched after a call.
#[derive(Debug, Default)]
pub struct Coverage {
    /// Whether some folder is watched that was not before.
    pub added: bool,
    /// Why some folder is not watched.
    pub unwatched: Option<String>,
}

impl Coverage {
    /// No folder is watched.
    pub fn none(reason: impl Display) -> Self {
        Self {
            added: false,
            unwatched: Some(reason.to_string()),
        }
    }
}

/// The folders that the system watches.
#[derive(Debug)]
pub struct OsWatcher {
    events: Arc<PendingEvents>,
    /// Or the reason why the system offers none.
    pub watcher: notify::Result<RecommendedWatcher>,
    watched: HashMap<PathBuf, FolderIdentity>,
}

impl OsWatcher {
    /// Watches no folder yet.
    pub fn new(events: &Arc<PendingEvents>) -> Self {
        let pending = Arc::clone(events);
        let handler = move |event| pending.handle(event);
        // The target of a link is either one of the folders or not served.
        let config = Config::default().with_follow_symlinks(false);
        Self {
            events: Arc::clone(events),
            watcher: RecommendedWatcher::new(handler, config),
            watched: HashMap::new(),
        }
    }

    /// Watches these folders and no others; none of them if they are more than `max`.
    pub fn watch_only(&mut self, folders: &[PathBuf], max: usize) -> Coverage {
        let watcher = match &mut self.watcher {
            Ok(watcher) => watcher,
            Err(error) => return Coverage::none(problem(error)),
        };
        let mut wanted: HashSet<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let too_many = wanted.len() > max;
        let mut unwatched = too_many.then(|| {
            wanted.clear();
            format!("there are more than {max} folders; make the patterns narrower")
        });
        let removed = std::mem::take(&mut *self.events.removed());
        let stays = |path: &Path, identity: &FolderIdentity| {
            let moved = removed
                .paths
                .iter()
                .any(|removed| path.starts_with(removed));
            let replaced = removed.all || moved || *identity != FolderIdentity::of(path);
            wanted.contains(path) && !replaced
        };
        let mut paths = watcher.paths_mut();
        self.watched.retain(|path, identity| {
            let stays = stays(path, identity);
            if !stays {
                // Fails if the folder was removed, and the watch with it.
                let _ = paths.remove(path);
            }
            stays
        });
        let mut added = false;
        for path in wanted {
            if self.watched.contains_key(path) {
                continue;
            }
            // Taken before watching: a folder that is replaced in between differs next time.
            let identity = FolderIdentity::of(path);
            match paths.add(path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(path.to_owned(), identity);
                    added = true;
                }
                Err(error) => unwatched = Some(format!("{}: {}", path.display(), problem(&error))),
            }
        }
        if let Err(error) = paths.commit() {
            self.watched.clear();
            return Coverage::none(problem(&error));
        }
        Coverage { added, unwatched }
    }

    #[cfg(test)]
    pub fn is_watched(&self, path: &Path) -> bool {
        self.watched.contains_key(path)
    }
}

/// What went wrong, without the words and paths of the library.
fn problem(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => "it does not exist".into(),
        ErrorKind::MaxFilesWatch => "the system watches no more folders for this user".into(),
        ErrorKind::Io(error) if is_not_found(error) => "it does not exist".into(),
        ErrorKind::Io(error) => io_reason(error),
        ErrorKind::Generic(problem) => problem.clone(),
        ErrorKind::InvalidConfig(_) => "the system does not watch folders".into(),
    }
}

/// Detects that a folder was replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FolderIdentity(Option<(u64, u64)>);

impl FolderIdentity {
    #[cfg(unix)]
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok();
        Self(metadata.map(|metadata| (metadata.dev(), metadata.ino())))
    }

    /// Other systems report when a watched folder is replaced.
    #[cfg(not(unix))]
    fn of(_path: &Path) -> Self {
        Self(None)
    }
}
