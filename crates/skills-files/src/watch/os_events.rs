//! What the system tells about folders.

use std::collections::{HashMap, HashSet};
use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{EventKind, ModifyKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// More paths that went away than this are not told apart.
const GONE_MAX: usize = 1_000;

/// What was heard and not yet attended to.
#[derive(Debug, Default)]
pub struct Heard {
    bell: Notify,
    gone: Mutex<Gone>,
}

/// What was moved or removed: a folder of that name is another one now.
#[derive(Debug, Default)]
struct Gone {
    paths: Vec<PathBuf>,
    /// There were too many to keep, or the system has lost count.
    all: bool,
}

impl Heard {
    /// Rings. Heard once, however often it rings before somebody listens.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for the next ring.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    fn event(&self, event: notify::Result<Event>) {
        let event = match event {
            // We read files ourselves.
            Ok(event) if event.kind.is_access() => return,
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(%error, "a change was missed");
                self.lock().all = true;
                return self.ring();
            }
        };
        let moved = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        let mut gone = self.lock();
        gone.all |= event.need_rescan();
        if moved && gone.paths.len() < GONE_MAX {
            gone.paths.extend(event.paths);
        } else if moved {
            gone.all = true;
        }
        drop(gone);
        self.ring();
    }

    /// Whether it was heard that this path went away.
    #[cfg(test)]
    pub fn is_gone(&self, path: &Path) -> bool {
        self.lock().paths.iter().any(|gone| gone == path)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Gone> {
        // A std mutex: nothing awaits while it is held, and a panic leaves it usable.
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How asking went.
#[derive(Debug, Default)]
pub struct Armed {
    /// Whether folders are watched that were not before.
    pub new: bool,
    /// Why some folder is not.
    pub unwatched: Option<String>,
}

impl Armed {
    /// Nothing is watched.
    pub fn not(why: impl Display) -> Self {
        Self {
            new: false,
            unwatched: Some(why.to_string()),
        }
    }
}

/// The folders that the system tells about.
pub struct System {
    heard: Arc<Heard>,
    watcher: notify::Result<RecommendedWatcher>,
    watched: HashMap<PathBuf, Identity>,
}

impl System {
    /// Asks for nothing yet.
    pub fn new(heard: &Arc<Heard>) -> Self {
        let hearing = Arc::clone(heard);
        let told = move |event| hearing.event(event);
        // What a link leads to is either among the folders or not served.
        let config = Config::default().with_follow_symlinks(false);
        Self {
            heard: Arc::clone(heard),
            watcher: RecommendedWatcher::new(told, config),
            watched: HashMap::new(),
        }
    }

    /// Watches these folders and no others; none of them if they are more than `most`.
    pub fn arm(&mut self, folders: &[PathBuf], most: usize) -> Armed {
        let watcher = match &mut self.watcher {
            Ok(watcher) => watcher,
            Err(error) => return Armed::not(error),
        };
        let mut wanted: HashSet<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let too_many = wanted.len() > most;
        let mut unwatched = too_many.then(|| {
            wanted.clear();
            format!("there are more than {most} folders; make the patterns narrower")
        });
        let gone = std::mem::take(&mut *self.heard.lock());
        let stays = |path: &Path, identity: &Identity| {
            let moved = gone.paths.iter().any(|gone| path.starts_with(gone));
            wanted.contains(path) && !gone.all && !moved && *identity == Identity::of(path)
        };
        let mut paths = watcher.paths_mut();
        self.watched.retain(|path, identity| {
            let stays = stays(path, identity);
            if !stays {
                // Fails where the folder is gone, and the watch with it.
                let _ = paths.remove(path);
            }
            stays
        });
        let mut new = false;
        for path in wanted {
            if self.watched.contains_key(path) {
                continue;
            }
            // Before it is watched: if it is replaced in between, that shows next time.
            let identity = Identity::of(path);
            match paths.add(path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(path.to_owned(), identity);
                    new = true;
                }
                Err(error) => unwatched = Some(format!("{}: {error}", path.display())),
            }
        }
        if let Err(error) = paths.commit() {
            self.watched.clear();
            return Armed::not(error);
        }
        Armed { new, unwatched }
    }

    #[cfg(test)]
    pub fn is_watched(&self, path: &Path) -> bool {
        self.watched.contains_key(path)
    }
}

impl Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("System")
            .field("watched", &self.watched.len())
            .finish_non_exhaustive()
    }
}

/// What tells a folder from another that took its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(Option<(u64, u64)>);

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok();
        Self(metadata.map(|metadata| (metadata.dev(), metadata.ino())))
    }

    /// Elsewhere a watched folder cannot be replaced unnoticed.
    #[cfg(not(unix))]
    fn of(_path: &Path) -> Self {
        Self(None)
    }
}
