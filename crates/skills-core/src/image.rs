//! The in-memory image of one scope, and the rules that keep it correct.
//!
//! Nothing here waits or calls an engine: the [catalogue](crate::catalogue) does. Every
//! step takes a tick of one logical clock, which makes the rules short:
//!
//! - A value read from state is applied only if its read began after the value in the image
//!   was taken (`applied`).
//! - Events may arrive out of order, so an event is a hint and not data: it marks its key,
//!   and the key is dirty until a read that began after the mark has been applied.
//! - An acknowledged write of this process is applied at once, unless an event for the key
//!   arrived since the write began: then only a read can find out which write was last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::row::Row;
use crate::row_slot::{RowSlot, Snapshot};
use crate::{Change, Skipped};

/// With more dirty keys than this, one list call is cheaper than a read of each key.
const SINGLE_READS_MAX: usize = 64;

/// The new value of a key, as an event reports it.
pub(crate) enum EventValue<T> {
    Unknown,
    Deleted,
    Set(RowSlot<T>),
}

/// What has to be read before the image is fresh again.
pub(crate) enum ReadPlan {
    Scope,
    Keys(Vec<Arc<str>>),
}

/// What a reader needs to be fresh.
#[derive(Clone, Copy)]
pub(crate) enum Need<'a> {
    Scope,
    Key(&'a str),
}

/// The ticks that decide whether the value of a key is current.
#[derive(Default)]
struct KeyVersion {
    /// The first and the last event that no applied read covers.
    oldest_event: u64,
    newest_event: u64,
    /// When the value in the image was taken.
    applied: u64,
}

impl KeyVersion {
    fn is_dirty(&self) -> bool {
        self.newest_event > self.applied
    }

    fn apply(&mut self, ticket: u64) {
        self.applied = ticket;
        // An event that is still unsettled arrived after this read began.
        self.oldest_event = ticket + 1;
    }
}

/// A write of this process that has not ended; no row means a removal.
struct OwnWrite<T> {
    row: Option<Arc<T>>,
    acknowledged: bool,
    /// The change, if a read found it in state first. The writer publishes it.
    change: Option<Change>,
}

pub(crate) struct Image<T> {
    rows: BTreeMap<Arc<str>, RowSlot<T>>,
    /// The problems of damaged rows of the last load that do not contain their key.
    keyless: Vec<Arc<str>>,
    loaded: bool,
    /// Whether the scope was ever loaded, so that a load can be compared with something.
    known: bool,
    loaded_at: u64,
    clock: u64,
    /// Reads and writes that began up to here belong to an earlier connection.
    connected_at: u64,
    versions: HashMap<Arc<str>, KeyVersion>,
    own_writes: HashMap<Arc<str>, OwnWrite<T>>,
    reads: usize,
    snapshot: Option<Arc<Snapshot<T>>>,
    /// The keys that changed since the search index took them; `None` if it never did.
    changed: Option<HashSet<Arc<str>>>,
}

impl<T: Row> Image<T> {
    pub(crate) fn new() -> Self {
        Self {
            rows: BTreeMap::new(),
            keyless: Vec::new(),
            loaded: false,
            known: false,
            loaded_at: 0,
            clock: 0,
            connected_at: 0,
            versions: HashMap::new(),
            own_writes: HashMap::new(),
            reads: 0,
            snapshot: None,
            changed: None,
        }
    }

    /// Advances the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether a reader that started at `since` may use the image.
    pub(crate) fn is_fresh(&self, since: u64, need: Need<'_>, watched: bool) -> bool {
        let settled = |v: &KeyVersion| !v.is_dirty() || v.oldest_event > since;
        self.loaded
            && (watched || self.loaded_at > since)
            && match need {
                Need::Scope => self.versions.values().all(settled),
                Need::Key(key) => self.versions.get(key).is_none_or(settled),
            }
    }

    /// Begins a read of everything that is not settled.
    pub(crate) fn begin_read(&mut self, watched: bool) -> (ReadPlan, u64) {
        self.reads += 1;
        let ticket = self.tick();
        let dirty = self.versions.iter().filter(|(_, v)| v.is_dirty());
        let dirty: Vec<_> = dirty.map(|(key, _)| Arc::clone(key)).collect();
        if !self.loaded || !watched || dirty.len() > SINGLE_READS_MAX {
            return (ReadPlan::Scope, ticket);
        }
        (ReadPlan::Keys(dirty), ticket)
    }

    pub(crate) fn end_read(&mut self) {
        self.reads -= 1;
        self.drop_settled_versions();
    }

    /// Applies the value of one key, read since `ticket`. Returns the change it made.
    pub(crate) fn apply(
        &mut self,
        key: &Arc<str>,
        ticket: u64,
        slot: Option<RowSlot<T>>,
    ) -> Option<Change> {
        if ticket <= self.connected_at {
            return None;
        }
        let version = self.versions.entry(Arc::clone(key)).or_default();
        if version.applied > ticket {
            return None;
        }
        version.apply(ticket);
        self.replace(key, slot)
    }

    /// Applies all rows of the scope, read since `ticket`. Returns the changes it made.
    pub(crate) fn apply_list(
        &mut self,
        ticket: u64,
        rows: Vec<(Arc<str>, RowSlot<T>)>,
        keyless: Vec<Arc<str>>,
    ) -> Vec<Change> {
        if ticket <= self.connected_at {
            return Vec::new();
        }
        let known = self.known;
        let mut changes = Vec::new();
        let mut listed = HashSet::with_capacity(rows.len());
        let mut duplicates = Vec::new();
        for (key, slot) in rows {
            if !listed.insert(Arc::clone(&key)) {
                duplicates.push(key);
            } else if self.is_older(&key, ticket) {
                changes.extend(self.replace(&key, Some(slot)));
            }
        }
        let gone = self.rows.keys();
        let gone = gone.filter(|key| !listed.contains(*key) && self.is_older(key, ticket));
        for key in gone.map(Arc::clone).collect::<Vec<_>>() {
            changes.extend(self.replace(&key, None));
        }
        for version in self.versions.values_mut().filter(|v| v.applied <= ticket) {
            version.apply(ticket);
        }
        for key in duplicates {
            // Two rows contain the same key: reading the key decides.
            self.mark(&key);
        }
        if self.keyless != keyless {
            self.keyless = keyless;
            self.snapshot = None;
        }
        self.loaded = true;
        self.known = true;
        self.loaded_at = self.loaded_at.max(ticket);
        // The first load is not a change.
        if known { changes } else { Vec::new() }
    }

    /// Whether the value in the image is older than a read that began at `ticket`.
    fn is_older(&self, key: &str, ticket: u64) -> bool {
        self.versions.get(key).is_none_or(|v| v.applied <= ticket)
    }

    /// Records an event: the key was written. Returns whether the key has to be read.
    pub(crate) fn record_event(&mut self, key: &Arc<str>, value: &EventValue<T>) -> bool {
        // Nothing is loaded or in progress, so the next load reads this value anyway.
        if !self.loaded && self.reads == 0 && !self.own_writes.contains_key(key) {
            return false;
        }
        let value = match value {
            EventValue::Unknown => None,
            EventValue::Deleted => Some(None),
            EventValue::Set(slot) => Some(Some(slot)),
        };
        if let Some(value) = value {
            let dirty = self.versions.get(key).is_some_and(KeyVersion::is_dirty);
            let nothing_new = match self.own_writes.get(key) {
                // The event of our own write, which its acknowledgement will apply.
                Some(write) if !write.acknowledged => write.matches(value),
                // The image has this value, and no read in progress can replace it by an
                // older one.
                _ => self.reads == 0 && !dirty && self.rows.get(key) == value,
            };
            if nothing_new {
                return false;
            }
        }
        self.mark(key);
        true
    }

    pub(crate) fn begin_write(&mut self, key: &Arc<str>, row: Option<Arc<T>>) -> u64 {
        let write = OwnWrite {
            row,
            acknowledged: false,
            change: None,
        };
        self.own_writes.insert(Arc::clone(key), write);
        self.tick()
    }

    /// Our write is in state. Returns whether the image contains it now; if not, the key
    /// must be read.
    pub(crate) fn acknowledge(&mut self, key: &Arc<str>, began: u64) -> bool {
        // From here on an event with the same value is another worker's write.
        let write = self.own_writes.get_mut(key);
        let row = write.and_then(|write| {
            write.acknowledged = true;
            write.row.clone()
        });
        // An event of an earlier connection may have been lost.
        let overtaken = began <= self.connected_at
            || self
                .versions
                .get(key)
                .is_some_and(|v| v.newest_event > began);
        if overtaken {
            self.mark(key);
        } else {
            let ticket = self.tick();
            let version = self.versions.entry(Arc::clone(key)).or_default();
            version.apply(ticket);
            self.replace(key, row.map(RowSlot::Row));
        }
        !overtaken
    }

    /// Our write is applied and published. Until here, a read that finds its value must not
    /// treat it as another worker's change.
    pub(crate) fn end_write(&mut self, key: &Arc<str>) {
        self.own_writes.remove(key);
        self.drop_settled_versions();
    }

    /// Our write failed or was cancelled, so it may or may not be in state. Returns a change
    /// that a read already found and that is not published yet.
    pub(crate) fn abandon(&mut self, key: &Arc<str>) -> Option<Change> {
        let write = self.own_writes.remove(key)?;
        self.mark(key);
        write.change
    }

    /// The connection is gone, and events may have been lost: everything must be read again.
    pub(crate) fn invalidate(&mut self) {
        self.loaded = false;
        self.connected_at = self.tick();
        self.versions.clear();
    }

    pub(crate) fn get(&self, key: &str) -> Option<RowSlot<T>> {
        self.rows.get(key).cloned()
    }

    pub(crate) fn snapshot(
        &mut self,
        scope: &str,
        is_served: impl Fn(&T) -> bool,
    ) -> Arc<Snapshot<T>> {
        if let Some(snapshot) = &self.snapshot {
            return Arc::clone(snapshot);
        }
        let mut rows = Vec::with_capacity(self.rows.len());
        let (mut off, mut damaged) = (Vec::new(), Vec::new());
        for (key, slot) in &self.rows {
            match slot {
                RowSlot::Row(row) if !is_served(row) => off.push(Arc::clone(row)),
                RowSlot::Row(row) => rows.push(Arc::clone(row)),
                RowSlot::Damaged(problem) => damaged.push((&**key, problem)),
            }
        }
        damaged.extend(self.keyless.iter().map(|problem| ("?", problem)));
        let skipped = damaged.into_iter().map(|(key, problem)| Skipped {
            place: format!("{scope}/{key}"),
            reason: problem.to_string(),
        });
        let snapshot = Arc::new(Snapshot::new(rows, off, skipped.collect()));
        self.snapshot = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// The keys that changed since the last call, with their rows; at first all keys.
    pub(crate) fn take_changes(&mut self) -> Vec<(Arc<str>, Option<Arc<T>>)> {
        let with_row = |key: &Arc<str>| match self.rows.get(key) {
            Some(RowSlot::Row(row)) => (Arc::clone(key), Some(Arc::clone(row))),
            Some(RowSlot::Damaged(_)) | None => (Arc::clone(key), None),
        };
        match self.changed.replace(HashSet::new()) {
            None => self.rows.keys().map(with_row).collect(),
            Some(keys) => keys.iter().map(with_row).collect(),
        }
    }

    fn mark(&mut self, key: &Arc<str>) {
        let now = self.tick();
        let version = self.versions.entry(Arc::clone(key)).or_default();
        if !version.is_dirty() {
            version.oldest_event = now;
        }
        version.newest_event = now;
    }

    /// Stores a value under a key. Returns the change, unless there is none or our own write
    /// in progress publishes it.
    fn replace(&mut self, key: &Arc<str>, slot: Option<RowSlot<T>>) -> Option<Change> {
        if self.rows.get(key) == slot.as_ref() {
            return None;
        }
        self.snapshot = None;
        if let Some(changed) = &mut self.changed {
            changed.insert(Arc::clone(key));
        }
        let change = match (&slot, self.rows.get(key)) {
            (Some(RowSlot::Row(row)), _) => row.registered(),
            (None | Some(RowSlot::Damaged(_)), Some(RowSlot::Row(old))) => old.unregistered(),
            (None | Some(RowSlot::Damaged(_)), _) => None,
        };
        let own_write = self.own_writes.get_mut(key);
        let own_write = own_write.filter(|write| write.matches(slot.as_ref()));
        match slot {
            Some(slot) => self.rows.insert(Arc::clone(key), slot),
            None => self.rows.remove(key),
        };
        match own_write {
            Some(write) => {
                write.change = change;
                None
            }
            None => change,
        }
    }

    /// With no read or write in progress, only the versions of dirty keys are needed.
    fn drop_settled_versions(&mut self) {
        if self.reads == 0 && self.own_writes.is_empty() {
            self.versions.retain(|_, v| v.is_dirty());
        }
    }
}

impl<T: PartialEq> OwnWrite<T> {
    fn matches(&self, slot: Option<&RowSlot<T>>) -> bool {
        match (&self.row, slot) {
            (Some(own), Some(RowSlot::Row(row))) => own == row,
            (None, None) => true,
            _ => false,
        }
    }
}
