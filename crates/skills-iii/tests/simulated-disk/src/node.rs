//! One file: its content, and what of it is on the disk.

use std::ops::Range;

use crate::lock::{FileLocks, SharedMemory};
use crate::random::Random;

/// A disk writes a sector as a whole or not at all.
const SECTOR: usize = 512;

#[derive(Debug)]
pub(crate) struct Node {
    content: Vec<u8>,
    synced: Vec<u8>,
    /// What happened since the last sync.
    unsynced: Vec<Change>,
    /// Whether its next sync is one of the directory too.
    syncs_directory: bool,
    pub(crate) locks: FileLocks,
    pub(crate) memory: SharedMemory,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Node {
    pub(crate) fn new(syncs_directory: bool) -> Self {
        Self {
            content: Vec::new(),
            synced: Vec::new(),
            unsynced: Vec::new(),
            syncs_directory,
            locks: FileLocks::default(),
            memory: SharedMemory::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.content.len()
    }

    /// Returns whether everything was there; the rest is filled with zeros.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) -> bool {
        let start = offset.min(self.content.len());
        let found = &self.content[start..];
        let len = found.len().min(into.len());
        into[..len].copy_from_slice(&found[..len]);
        into[len..].fill(0);
        len == into.len()
    }

    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        write(&mut self.content, offset, bytes);
        self.unsynced.push(Change::Write(offset, bytes.to_owned()));
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.content.truncate(len);
        self.unsynced.push(Change::Truncate(len));
    }

    /// Returns whether the directory is synced too.
    pub(crate) fn sync(&mut self) -> bool {
        for change in self.unsynced.drain(..) {
            match change {
                Change::Write(offset, bytes) => write(&mut self.synced, offset, &bytes),
                Change::Truncate(len) => self.synced.truncate(len),
            }
        }
        std::mem::take(&mut self.syncs_directory)
    }

    /// Of everything since the last sync, nothing (`kept` is 0), all (1) or any part (2) has
    /// reached the disk. The last write is torn: any of its sectors are there.
    pub(crate) fn lose_unsynced(&mut self, kept: u64, random: &mut Random) {
        let last = self.unsynced.len();
        for (n, change) in self.unsynced.drain(..).enumerate() {
            if kept == 0 || (kept == 2 && random.chance(2)) {
                continue;
            }
            match change {
                Change::Truncate(len) => self.synced.truncate(len),
                Change::Write(offset, bytes) => {
                    let torn = n + 1 == last || (kept == 2 && random.chance(2));
                    for sector in sectors(offset, bytes.len()) {
                        if !torn || random.chance(2) {
                            let bytes = &bytes[sector.start - offset..sector.end - offset];
                            write(&mut self.synced, sector.start, bytes);
                        }
                    }
                }
            }
        }
        self.content.clone_from(&self.synced);
        (self.locks, self.memory) = Default::default();
    }
}

fn write(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}

/// The parts of a write that lie in one sector each.
fn sectors(offset: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    let end = offset + len;
    (offset / SECTOR..end.div_ceil(SECTOR))
        .map(move |sector| (sector * SECTOR).max(offset)..((sector + 1) * SECTOR).min(end))
}
