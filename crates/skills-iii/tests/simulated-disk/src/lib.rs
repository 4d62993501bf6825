//! A disk in memory, as SQLite sees one: for tests of what a store keeps.
//!
//! [`Disk::install`] puts every database of a directory on a simulated disk. What was written but
//! not synced is lost in part when the power is cut, and a disk can have a limited size. `node` is
//! one file, `lock` its locks, `vfs` connects the disk to SQLite; only `vfs` has unsafe code.

mod lock;
mod node;
mod random;
mod vfs;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::Node;
pub use random::Random;
use rusqlite::ffi;

/// An operation that failed, with the code of SQLite.
type Done<T = ()> = Result<T, i32>;

/// The disks of this process, by directory.
static DISKS: Mutex<BTreeMap<PathBuf, Arc<Disk>>> = Mutex::new(BTreeMap::new());

/// The disk of one directory.
#[derive(Debug, Default)]
pub struct Disk(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    nodes: HashMap<u64, Node>,
    next_node: u64,
    /// The files by name, and the same as of the last sync of the directory.
    names: BTreeMap<String, u64>,
    synced_names: BTreeMap<String, u64>,
    /// How many operations remain until the power is cut.
    remaining: Option<u64>,
    off: bool,
    max_bytes: Option<usize>,
}

impl Disk {
    /// Simulates a disk for the databases in `dir`. From now on SQLite reaches no other directory
    /// of this process, unless it is simulated too.
    pub fn install(dir: &Path) -> Arc<Self> {
        vfs::register();
        let disk = Arc::<Self>::default();
        disks().insert(dir.to_owned(), Arc::clone(&disk));
        disk
    }

    /// Cuts the power during the operation after `operations` writes, syncs, truncations,
    /// creations and deletions. Then everything fails.
    pub fn cut_after(&self, operations: u64) {
        self.state().remaining = Some(operations);
    }

    /// Whether the power is cut.
    pub fn is_off(&self) -> bool {
        self.state().off
    }

    /// How many bytes all files together may have.
    pub fn set_max_bytes(&self, max_bytes: Option<usize>) {
        self.state().max_bytes = max_bytes;
    }

    /// How many bytes the files have.
    pub fn used_bytes(&self) -> usize {
        self.state().used_bytes()
    }

    /// Cuts the power, unless that has happened, and restores it: of everything since the last
    /// sync of a file or of the directory, a random part has reached the disk. No file may be open.
    pub fn restart(&self, random: &mut Random) {
        let mut state = self.state();
        let State {
            nodes,
            names,
            synced_names,
            ..
        } = &mut *state;
        let all: BTreeSet<_> = names.keys().chain(synced_names.keys()).cloned().collect();
        for name in all {
            let kept = if random.chance(2) {
                &*names
            } else {
                &*synced_names
            };
            match kept.get(&name).copied() {
                Some(node) => synced_names.insert(name, node),
                None => synced_names.remove(&name),
            };
        }
        names.clone_from(synced_names);
        nodes.retain(|id, _| names.values().any(|kept| kept == id));
        // The same for the whole disk, because losing everything must be likely.
        let kept_writes = random.below(3);
        for node in nodes.values_mut() {
            node.lose_unsynced(kept_writes, random);
        }
        (state.remaining, state.off) = (None, false);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an operation. Returns whether the power is cut during it.
    fn count(&mut self) -> Done<bool> {
        if self.off {
            return Err(ffi::SQLITE_IOERR);
        }
        match &mut self.remaining {
            Some(0) => self.off = true,
            Some(remaining) => *remaining -= 1,
            None => {}
        }
        Ok(self.off)
    }

    /// Fails if the power is cut during an operation that has no effect then.
    fn count_or_fail(&mut self) -> Done {
        if self.count()? {
            return Err(ffi::SQLITE_IOERR);
        }
        Ok(())
    }

    fn used_bytes(&self) -> usize {
        let nodes = self.names.values().filter_map(|node| self.nodes.get(node));
        nodes.map(Node::len).sum()
    }

    fn node(&mut self, id: u64) -> Done<&mut Node> {
        self.nodes.get_mut(&id).ok_or(ffi::SQLITE_IOERR)
    }

    /// The node of a file. A file without a name is temporary.
    fn open(&mut self, name: Option<&str>, flags: i32) -> Done<u64> {
        if let Some(node) = name.and_then(|name| self.names.get(name)) {
            return Ok(*node);
        }
        if name.is_some() && flags & ffi::SQLITE_OPEN_CREATE == 0 {
            return Err(ffi::SQLITE_CANTOPEN);
        }
        self.count_or_fail()?;
        let id = self.next_node;
        self.next_node += 1;
        // As on Unix: the first sync of a new journal also syncs the directory.
        let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_WAL;
        self.nodes.insert(id, Node::new(flags & journals != 0));
        self.names.extend(name.map(|name| (name.to_owned(), id)));
        Ok(id)
    }

    fn delete(&mut self, name: &str, sync: bool) -> Done {
        self.count_or_fail()?;
        let found = self.names.remove(name);
        if sync {
            self.synced_names.clone_from(&self.names);
        }
        found.map(drop).ok_or(ffi::SQLITE_IOERR_DELETE_NOENT)
    }

    /// Like a Unix system, SQLite's view: an empty file does not exist.
    fn exists(&self, name: &str) -> bool {
        let node = self.names.get(name).and_then(|node| self.nodes.get(node));
        node.is_some_and(|node| node.len() > 0)
    }

    fn write(&mut self, id: u64, offset: usize, bytes: &[u8]) -> Done {
        // A write during the cut is one that was not synced.
        let cut = self.count()?;
        let (used, max_bytes) = (self.used_bytes(), self.max_bytes);
        let node = self.node(id)?;
        let growth = (offset + bytes.len()).saturating_sub(node.len());
        if growth > 0 && max_bytes.is_some_and(|max| used + growth > max) {
            return Err(ffi::SQLITE_FULL);
        }
        node.write(offset, bytes);
        if cut {
            return Err(ffi::SQLITE_IOERR);
        }
        Ok(())
    }

    fn truncate(&mut self, id: u64, len: usize) -> Done {
        self.count_or_fail()?;
        self.node(id)?.truncate(len);
        Ok(())
    }

    fn sync(&mut self, id: u64) -> Done {
        self.count_or_fail()?;
        if self.node(id)?.sync() {
            self.synced_names.clone_from(&self.names);
        }
        Ok(())
    }

    fn read(&mut self, id: u64, offset: usize, into: &mut [u8]) -> Done {
        if self.off {
            return Err(ffi::SQLITE_IOERR);
        }
        if !self.node(id)?.read(offset, into) {
            return Err(ffi::SQLITE_IOERR_SHORT_READ);
        }
        Ok(())
    }
}

fn disks() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<Disk>>> {
    DISKS.lock().unwrap_or_else(PoisonError::into_inner)
}
