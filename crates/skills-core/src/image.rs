//! The in-memory image of one scope, and the rules that keep it right.
//!
//! Nothing here waits or calls: the [catalogue](crate::catalogue) does. Every step
//! takes a tick of one clock, which makes the rules short:
//!
//! - A value read from state counts only if its read began after the value we
//!   hold was taken (`applied`).
//! - An event is a doorbell: it marks its key, and the key is dirty until a read
//!   that began after the mark has been applied.
//! - An acknowledged write of our own is applied at once, unless somebody rang for
//!   the key since it began: then only a read can tell who came last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::row::Row;
use crate::slot::{Slot, Snapshot};
use crate::{Change, Skipped};

/// Above this many dirty keys one listing is cheaper than many reads.
const MANY: usize = 64;

/// What a doorbell said about the key's new value.
pub(crate) enum Rung<T> {
    /// Nothing that could be understood.
    Unknown,
    Gone,
    Now(Slot<T>),
}

/// What has to be read to be fresh again.
pub(crate) enum Plan {
    Load,
    Keys(Vec<Arc<str>>),
}

/// What a reader wants to be fresh.
#[derive(Clone, Copy)]
pub(crate) enum Need<'a> {
    All,
    Key(&'a str),
}

/// A key about which something is not settled yet.
#[derive(Default)]
struct Motion {
    /// The first and the last doorbell that no applied read covers.
    oldest: u64,
    newest: u64,
    /// When the value we hold was taken.
    applied: u64,
}

impl Motion {
    fn is_dirty(&self) -> bool {
        self.newest > self.applied
    }

    fn settle(&mut self, ticket: u64) {
        self.applied = ticket;
        // What is still unsettled rang after this read began.
        self.oldest = ticket + 1;
    }
}

/// A write of our own that is not over yet; no row means a removal.
struct Own<T> {
    row: Option<Arc<T>>,
    acknowledged: bool,
    /// The change, where a read has already met it: its writer announces it.
    met: Option<Change>,
}

pub(crate) struct Image<T> {
    rows: BTreeMap<Arc<str>, Slot<T>>,
    /// Damaged rows of the last load that do not even say their key.
    nameless: Vec<Arc<str>>,
    loaded: bool,
    /// Whether there was ever something to compare a load with.
    known: bool,
    loaded_at: u64,
    clock: u64,
    /// Reads that began up to here belong to a connection that is gone.
    floor: u64,
    motion: HashMap<Arc<str>, Motion>,
    own: HashMap<Arc<str>, Own<T>>,
    reads: usize,
    snapshot: Option<Arc<Snapshot<T>>>,
}

impl<T: Row> Image<T> {
    pub(crate) fn new() -> Self {
        Self {
            rows: BTreeMap::new(),
            nameless: Vec::new(),
            loaded: false,
            known: false,
            loaded_at: 0,
            clock: 0,
            floor: 0,
            motion: HashMap::new(),
            own: HashMap::new(),
            reads: 0,
            snapshot: None,
        }
    }

    /// One step of the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether a reader that came at `since` may be answered from here.
    pub(crate) fn is_fresh(&self, since: u64, need: Need<'_>, watched: bool) -> bool {
        let settled = |m: &Motion| !m.is_dirty() || m.oldest > since;
        let current = if watched {
            self.loaded
        } else {
            self.loaded && self.loaded_at > since
        };
        current
            && match need {
                Need::All => self.motion.values().all(settled),
                Need::Key(key) => self.motion.get(key).is_none_or(settled),
            }
    }

    /// Begins a read of whatever is not settled.
    pub(crate) fn begin_read(&mut self, watched: bool) -> (Plan, u64) {
        self.reads += 1;
        let ticket = self.tick();
        let dirty: Vec<_> = self
            .motion
            .iter()
            .filter(|(_, m)| m.is_dirty())
            .map(|(k, _)| Arc::clone(k))
            .collect();
        let load = !self.loaded || !watched || dirty.len() > MANY;
        (if load { Plan::Load } else { Plan::Keys(dirty) }, ticket)
    }

    pub(crate) fn end_read(&mut self) {
        self.reads -= 1;
        self.tidy();
    }

    /// The value of one key, read since `ticket`. Answers the change it made.
    pub(crate) fn apply(
        &mut self,
        key: &Arc<str>,
        ticket: u64,
        slot: Option<Slot<T>>,
    ) -> Option<Change> {
        if ticket <= self.floor {
            return None;
        }
        let motion = self.motion.entry(Arc::clone(key)).or_default();
        if motion.applied > ticket {
            return None;
        }
        motion.settle(ticket);
        self.replace(key, slot)
    }

    /// All rows of the scope, read since `ticket`. Answers the changes it made.
    pub(crate) fn apply_list(
        &mut self,
        ticket: u64,
        rows: Vec<(Arc<str>, Slot<T>)>,
        nameless: Vec<Arc<str>>,
    ) -> Vec<Change> {
        if ticket <= self.floor {
            return Vec::new();
        }
        let known = self.known;
        let mut changes = Vec::new();
        let mut listed = HashSet::with_capacity(rows.len());
        let mut twice = Vec::new();
        for (key, slot) in rows {
            if !listed.insert(Arc::clone(&key)) {
                twice.push(key);
                continue;
            }
            if self.motion.get(&key).is_none_or(|m| m.applied <= ticket) {
                changes.extend(self.replace(&key, Some(slot)));
            }
        }
        let gone = |key: &&Arc<str>| {
            !listed.contains(*key) && self.motion.get(*key).is_none_or(|m| m.applied <= ticket)
        };
        let gone: Vec<_> = self.rows.keys().filter(gone).map(Arc::clone).collect();
        for key in gone {
            changes.extend(self.replace(&key, None));
        }
        for motion in self.motion.values_mut().filter(|m| m.applied <= ticket) {
            motion.settle(ticket);
        }
        for key in twice {
            // Two rows claim one key: reading the key decides.
            self.mark(&key);
        }
        if self.nameless != nameless {
            self.nameless = nameless;
            self.snapshot = None;
        }
        self.loaded = true;
        self.known = true;
        self.loaded_at = self.loaded_at.max(ticket);
        // The first load is not news.
        if known { changes } else { Vec::new() }
    }

    /// Somebody wrote the key. Answers whether it has to be read.
    pub(crate) fn ring(&mut self, key: &Arc<str>, rung: &Rung<T>) -> bool {
        // A load to come will see it, and so does nothing that is under way.
        if !self.loaded && self.reads == 0 && !self.own.contains_key(key) {
            return false;
        }
        let told = match rung {
            Rung::Unknown => None,
            Rung::Gone => Some(None),
            Rung::Now(slot) => Some(Some(slot)),
        };
        if let Some(told) = told {
            let dirty = self.motion.get(key).is_some_and(Motion::is_dirty);
            let nothing_new = match self.own.get(key) {
                // The echo of our own write says no more than its acknowledgement will.
                Some(own) if !own.acknowledged => own.matches(told),
                // What we hold is what it says, and no read can put something older there.
                _ => self.reads == 0 && !dirty && self.rows.get(key) == told,
            };
            if nothing_new {
                return false;
            }
        }
        self.mark(key);
        true
    }

    pub(crate) fn begin_write(&mut self, key: &Arc<str>, row: Option<Arc<T>>) -> u64 {
        let own = Own {
            row,
            acknowledged: false,
            met: None,
        };
        self.own.insert(Arc::clone(key), own);
        self.tick()
    }

    /// Our write is in state. Answers whether the image shows it already; if not,
    /// the key must be read.
    pub(crate) fn acknowledge(&mut self, key: &Arc<str>, began: u64) -> bool {
        // From here on somebody who writes the same as we did is no echo.
        let own = self.own.get_mut(key);
        let row = own.and_then(|own| {
            own.acknowledged = true;
            own.row.clone()
        });
        // A doorbell of an earlier connection may have been missed.
        let rung = began <= self.floor || self.motion.get(key).is_some_and(|m| m.newest > began);
        if rung {
            self.mark(key);
        } else {
            let ticket = self.tick();
            let motion = self.motion.entry(Arc::clone(key)).or_default();
            motion.settle(ticket);
            self.replace(key, row.map(Slot::Row));
        }
        !rung
    }

    /// Our write is shown and announced. Until here a read that meets it must not
    /// take it for somebody else's.
    pub(crate) fn end_write(&mut self, key: &Arc<str>) {
        self.own.remove(key);
        self.tidy();
    }

    /// Our write failed, or nobody waits for it any more: it may be in state or
    /// not. Answers the change nobody was told of yet.
    pub(crate) fn abandon(&mut self, key: &Arc<str>) -> Option<Change> {
        let own = self.own.remove(key)?;
        self.mark(key);
        own.met
    }

    /// The connection is gone: events may have been missed.
    pub(crate) fn forget(&mut self) {
        self.loaded = false;
        self.floor = self.tick();
        self.motion.clear();
    }

    pub(crate) fn get(&self, key: &str) -> Option<Slot<T>> {
        self.rows.get(key).cloned()
    }

    pub(crate) fn snapshot(&mut self, scope: &str) -> Arc<Snapshot<T>> {
        if let Some(snapshot) = &self.snapshot {
            return Arc::clone(snapshot);
        }
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut damaged = Vec::new();
        for (key, slot) in &self.rows {
            match slot {
                Slot::Row(row) => rows.push(Arc::clone(row)),
                Slot::Damaged(problem) => damaged.push(Skipped {
                    place: format!("{scope}/{key}"),
                    reason: problem.to_string(),
                }),
            }
        }
        damaged.extend(self.nameless.iter().map(|problem| Skipped {
            place: format!("{scope}/?"),
            reason: problem.to_string(),
        }));
        let snapshot = Arc::new(Snapshot::new(rows, damaged));
        self.snapshot = Some(Arc::clone(&snapshot));
        snapshot
    }

    fn mark(&mut self, key: &Arc<str>) {
        let now = self.tick();
        let motion = self.motion.entry(Arc::clone(key)).or_default();
        if !motion.is_dirty() {
            motion.oldest = now;
        }
        motion.newest = now;
    }

    /// Puts a value under a key. Answers the change, unless it is none or one that
    /// the writer of it will announce.
    fn replace(&mut self, key: &Arc<str>, slot: Option<Slot<T>>) -> Option<Change> {
        if self.rows.get(key) == slot.as_ref() {
            return None;
        }
        self.snapshot = None;
        let change = match (&slot, self.rows.get(key)) {
            (Some(Slot::Row(row)), _) => Some(row.registered()),
            (None | Some(Slot::Damaged(_)), Some(Slot::Row(old))) => Some(old.unregistered()),
            (None | Some(Slot::Damaged(_)), _) => None,
        };
        let expected = self
            .own
            .get_mut(key)
            .filter(|own| own.matches(slot.as_ref()));
        match slot {
            Some(slot) => self.rows.insert(Arc::clone(key), slot),
            None => self.rows.remove(key),
        };
        match expected {
            Some(own) => {
                own.met = change;
                None
            }
            None => change,
        }
    }

    /// Without a read or a write on its way, only dirty keys need remembering.
    fn tidy(&mut self) {
        if self.reads == 0 && self.own.is_empty() {
            self.motion.retain(|_, m| m.is_dirty());
        }
    }
}

impl<T: PartialEq> Own<T> {
    fn matches(&self, slot: Option<&Slot<T>>) -> bool {
        match (&self.row, slot) {
            (Some(own), Some(Slot::Row(row))) => own == row,
            (None, None) => true,
            _ => false,
        }
    }
}
