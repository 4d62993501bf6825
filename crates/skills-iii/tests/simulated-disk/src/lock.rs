//! The locks of a file and its shared memory, between the connections of this process.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicU64;

use rusqlite::ffi;

use crate::Done;

/// The level of each connection's lock on the database, by the number of the connection.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(HashMap<u64, i32>);

impl FileLocks {
    pub(crate) fn lock(&mut self, connection: u64, level: i32) -> Done {
        let others = self.0.iter().filter(|(other, _)| **other != connection);
        let highest = others.map(|(_, level)| *level).max();
        let highest = highest.unwrap_or(ffi::SQLITE_LOCK_NONE);
        let own = self.0.entry(connection).or_default();
        if *own >= level {
            return Ok(());
        }
        let blocking = match level {
            ffi::SQLITE_LOCK_SHARED => ffi::SQLITE_LOCK_PENDING,
            _ => ffi::SQLITE_LOCK_RESERVED,
        };
        if highest >= blocking {
            return Err(ffi::SQLITE_BUSY);
        }
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && highest >= ffi::SQLITE_LOCK_SHARED {
            // No new reader gets a lock until this connection has its own.
            *own = ffi::SQLITE_LOCK_PENDING;
            return Err(ffi::SQLITE_BUSY);
        }
        *own = level;
        Ok(())
    }

    pub(crate) fn unlock(&mut self, connection: u64, level: i32) {
        self.0.insert(connection, level);
    }

    pub(crate) fn is_reserved(&self) -> bool {
        let mut levels = self.0.values();
        levels.any(|level| *level >= ffi::SQLITE_LOCK_RESERVED)
    }
}

/// Memory that the connections to a database share, with its locks.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    regions: Vec<Box<[AtomicU64]>>,
    users: BTreeSet<u64>,
    /// Who holds each lock, and whether exclusively.
    locks: [HashMap<u64, bool>; ffi::SQLITE_SHM_NLOCK as usize],
}

impl SharedMemory {
    /// A region of `size` bytes; none if it does not exist and is not to be created.
    pub(crate) fn region(
        &mut self,
        connection: u64,
        number: usize,
        size: usize,
        create: bool,
    ) -> Option<&[AtomicU64]> {
        self.users.insert(connection);
        while create && self.regions.len() <= number {
            let words = std::iter::repeat_with(|| AtomicU64::new(0));
            self.regions.push(words.take(size / 8).collect());
        }
        self.regions.get(number).map(|region| &**region)
    }

    pub(crate) fn lock(
        &mut self,
        connection: u64,
        first: usize,
        n: usize,
        exclusive: bool,
    ) -> Done {
        let locks = &mut self.locks[first..first + n];
        let blocks = |(other, held_exclusively): (&u64, &bool)| {
            *other != connection && (exclusive || *held_exclusively)
        };
        if locks.iter().any(|holders| holders.iter().any(blocks)) {
            return Err(ffi::SQLITE_BUSY);
        }
        for holders in locks {
            holders.insert(connection, exclusive);
        }
        Ok(())
    }

    pub(crate) fn unlock(&mut self, connection: u64, first: usize, n: usize) {
        for holders in &mut self.locks[first..first + n] {
            holders.remove(&connection);
        }
    }

    /// The memory goes with its last user; the next one builds it again.
    pub(crate) fn leave(&mut self, connection: u64) {
        self.unlock(connection, 0, self.locks.len());
        self.users.remove(&connection);
        if self.users.is_empty() {
            self.regions.clear();
        }
    }
}
