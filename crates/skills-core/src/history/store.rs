//! Reads and writes versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::entry::{
    RingRow, append_ops, field, for_each_version, length_field, replace_ops, row_key, undo_ops,
};
use super::ring_buffer::RingBuffer;
use super::{Kept, Note, RowHead, StoredVersion, Version, VersionOp, VersionPlace, Versions};
use crate::engine::StoredRow;
use crate::limits::MAX_VERSIONS;
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::state_scope::StateScope;
use crate::{Failure, Json};

/// How often a version takes another number when other instances write at the same moment.
pub(super) const ATTEMPTS: usize = 32;

/// The versions of the entries of one scope.
pub(crate) struct VersionStore<T: Row> {
    pub(crate) state: StateScope,
    /// How many versions of an entry are kept; 0: none is recorded.
    keep: u64,
    /// The newest version of each entry that this process changed.
    // A std mutex: it is never held across an await.
    known: Mutex<HashMap<Arc<str>, Known<T>>>,
}

struct Known<T> {
    newest: Next,
    /// The row that is this version.
    row: Arc<T>,
}

/// What a write of a row has to record.
pub(crate) enum Plan {
    /// It says what is registered already.
    Unchanged,
    /// It gets this number, if another instance does not take it first.
    Version(Next),
}

/// Where the next version of an entry goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub version: u64,
    /// The length of the ring.
    ring: u64,
    /// What is stored of the entry.
    stored: Vec<VersionPlace>,
}

impl Next {
    fn after(self) -> Result<Self, Failure> {
        let version = number_after(self.version)?;
        Ok(Self { version, ..self })
    }
}

/// The number after that of the newest version.
fn number_after(newest: u64) -> Result<u64, Failure> {
    newest.checked_add(1).ok_or_else(|| Failure::Failed {
        code: "no_number_left".into(),
        message: format!("version {newest} has the greatest number that there is"),
    })
}

impl<T: Row> VersionStore<T> {
    pub(crate) fn new(state: StateScope, keep: usize) -> Self {
        Self {
            state,
            keep: as_number(keep.min(MAX_VERSIONS)),
            known: Mutex::default(),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.keep > 0
    }

    /// How many versions of an entry are kept.
    pub(crate) const fn keep(&self) -> u64 {
        self.keep
    }

    /// The versions of an entry.
    pub(crate) async fn read(&self, id: &str) -> Result<Versions, Failure> {
        Ok(self.in_order(self.read_ring(id).await?).0)
    }

    fn in_order(&self, ring: RingBuffer) -> (Versions, Vec<VersionPlace>) {
        let stored = ring.into_versions();
        let places = stored.iter().map(StoredVersion::version_place).collect();
        let versions = stored.into_iter().map(Version::from_stored).collect();
        (Versions::new(versions, self.keep), places)
    }

    /// Prepares the write of `row` over `before`: what is stored without a version gets one, so
    /// that it is not lost.
    pub(crate) async fn plan(&self, row: &T, before: Option<&RowSlot<T>>) -> Result<Plan, Failure> {
        if says_the_same(before, row) {
            return Ok(Plan::Unchanged);
        }
        self.next(&row.key(), before).await.map(Plan::Version)
    }

    /// The next number of an entry. What is stored without a version gets one before.
    pub(crate) async fn next(
        &self,
        id: &Arc<str>,
        before: Option<&RowSlot<T>>,
    ) -> Result<Next, Failure> {
        let before = match before {
            Some(RowSlot::Row(row)) => Some(row),
            Some(RowSlot::Damaged(_)) | None => None,
        };
        if let Some(before) = before
            && let Some(known) = self.known().get(id)
            && known.row == *before
        {
            return known.newest.clone().after();
        }
        let (ring, length) = self.settled_ring(id).await?;
        let (versions, stored) = self.in_order(ring);
        let next = Next {
            version: number_after(versions.newest())?,
            ring: length,
            stored,
        };
        let Some(unrecorded) =
            before.filter(|before| versions.of_row(&RowHead::of(&***before)).is_none())
        else {
            return Ok(next);
        };
        let note = Note {
            op: VersionOp::Found,
            ..Note::default()
        };
        let found = StoredVersion::of_row(&**unrecorded, unrecorded.to_json(), &note);
        self.append(found, next).await?.after()
    }

    /// Records a row that is being written.
    pub(crate) async fn record(
        &self,
        plan: Plan,
        row: &T,
        json: &RawValue,
        note: &Note,
    ) -> Result<Option<Next>, Failure> {
        let Plan::Version(next) = plan else {
            return Ok(None);
        };
        let version = StoredVersion::of_row(row, json.to_owned(), note);
        self.append(version, next).await.map(Some)
    }

    /// A row was written, and its version if it has one.
    pub(crate) fn recorded(&self, row: Arc<T>, version: Option<Next>) {
        let mut known = self.known();
        match (version, known.get_mut(&row.key())) {
            (Some(newest), _) => {
                drop(known.insert(row.key(), Known { newest, row }));
            }
            (None, Some(known)) => known.row = row,
            (None, None) => {}
        }
    }

    /// The number of the newest version of an entry cannot be trusted, or is not needed soon.
    pub(crate) fn forget(&self, id: &str) {
        self.known().remove(id);
    }

    /// Appends a version with the next number that is free. Returns where it went.
    pub(crate) async fn append(
        &self,
        mut version: StoredVersion,
        mut next: Next,
    ) -> Result<Next, Failure> {
        for _ in 0..ATTEMPTS {
            (version.version, version.of) = (next.version, next.ring);
            let appended = self.append_once(&version, &next.stored).await?;
            if let Appended::Yes(stored) = appended {
                return Ok(Next { stored, ..next });
            }
            let (ring, length) = self.settled_ring(&version.id).await?;
            let versions;
            (versions, next.stored) = self.in_order(ring);
            next.ring = length;
            if let Some(recorded) = versions.of_registration(&version) {
                (version.version, version.of) = (recorded.place.version, recorded.place.of);
                // Another instance that saw the row before its version has recorded it as found.
                if recorded.head.op == VersionOp::Found && version.op() != VersionOp::Found {
                    let (key, ops) = (version.key(), replace_ops(&version));
                    self.state.update(&key, &ops).await?;
                }
                next.version = version.version;
                return Ok(next);
            }
            // What has the number may be something that is not a version.
            let after = match appended {
                Appended::Taken => number_after(next.version)?,
                Appended::Yes(_) | Appended::Outdated => next.version,
            };
            next.version = number_after(versions.newest())?.max(after);
        }
        Err(too_many_writers())
    }

    /// Appends a version, unless another instance has taken its number or uses a longer ring.
    async fn append_once(
        &self,
        version: &StoredVersion,
        before: &[VersionPlace],
    ) -> Result<Appended, Failure> {
        #[derive(Default, Deserialize)]
        struct Answer<'a> {
            #[serde(default, borrow)]
            old_value: Option<&'a RawValue>,
            #[serde(default, borrow)]
            new_value: Option<&'a RawValue>,
        }
        let (key, number) = (version.key(), version.version);
        let here = version.version_place().place();
        let places: Vec<VersionPlace> = before
            .iter()
            .copied()
            .chain([version.version_place()])
            .collect();
        let kept = Kept::new(&places, version.of);
        let (mut stored, unneeded): (Vec<VersionPlace>, Vec<VersionPlace>) =
            places.into_iter().partition(|one| kept.has(*one));
        let (replaced, elsewhere): (Vec<VersionPlace>, Vec<VersionPlace>) =
            unneeded.into_iter().partition(|one| one.place() == here);
        let replaced: Vec<u64> = replaced.iter().map(|one| one.version).collect();
        let ops = append_ops(version, &replaced);
        let answer = self.state.update(&key, &ops).await?;
        let answer: Answer<'_> = answer
            .as_deref()
            .and_then(|answer| serde_json::from_str(answer.get()).ok())
            .unwrap_or_default();
        let old = answer.old_value.map_or("null", RawValue::get);
        let old = RingRow::parse(old);
        let is_outdated = old.lengths().any(|length| length > version.of);
        let is_taken = old.lists().any(|(there, _)| there >= number);
        if is_outdated || is_taken {
            let undo = undo_ops(version, &replaced, &old);
            self.state.update(&key, &undo).await?;
            return Ok(if is_taken {
                Appended::Taken
            } else {
                Appended::Outdated
            });
        }
        let new = answer.new_value.map_or("null", RawValue::get);
        let new = RingRow::parse(new);
        if !new.lists().any(|(there, _)| there == number) {
            // The row was not an object, so that nothing could be appended to it.
            let row = json!({ field(number): [version], length_field(version.of): true });
            self.state.set(&key, &raw(&row)).await?;
            return Ok(Appended::Yes(stored));
        }
        // From a ring of another length.
        let outdated = |(there, _): &(u64, _)| {
            let mut here = stored.iter().filter(|one| one.place() == here);
            there.saturating_add(version.of) <= number && here.all(|one| one.version != *there)
        };
        let outdated = new.lists().filter(outdated);
        let remove = outdated.map(|(there, _)| json!({ "type": "remove", "path": field(there) }));
        let remove: Vec<_> = remove.collect();
        if !remove.is_empty() {
            self.state.update(&key, &raw(&remove.into())).await?;
        }
        for one in elsewhere {
            let (key, versions) = (row_key(&version.id, one.place()), [one.version]);
            let has_others = stored.iter().any(|other| other.place() == one.place());
            let removed = if one.place() != 0 || has_others {
                self.remove_versions(&key, &versions).await
            } else if one.is_text {
                // Its head stays: a list of rows has no keys, so a version must name the entry, and
                // without the first row no other is found.
                self.remove_texts(&key, &versions).await
            } else {
                Ok(())
            };
            // The version is recorded. What is left is removed with the next one.
            if let Err(failure) = removed {
                tracing::debug!(key, one.version, "an old version is left: it {failure}");
                stored.push(one);
            }
        }
        Ok(Appended::Yes(stored))
    }

    /// Visits every version of every entry, in no order.
    pub(crate) async fn for_each(
        &self,
        mut visit: impl FnMut(StoredVersion) + Send,
    ) -> Result<(), Failure> {
        let mut visit_row = |(key, text): StoredRow<'_>| match text {
            Ok(text) => for_each_version(text, &mut visit),
            Err(problem) => tracing::warn!(key, "stored versions cannot be read: {problem}"),
        };
        let scope = &self.state.name;
        if let Some(visited) = self.state.engine.for_each_row(scope, &mut visit_row) {
            return visited;
        }
        let list = self.state.list().await?;
        let text = list.as_deref().map_or("[]", RawValue::get);
        let rows: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| Failure::Failed {
            code: "unexpected_answer".into(),
            message: format!("`state::list` did not return a list: {error}"),
        })?;
        for row in rows {
            visit_row(("?", Ok(row.get())));
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Arc<str>, Known<T>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a row has the content of what is stored.
pub(crate) fn says_the_same<T: Row>(stored: Option<&RowSlot<T>>, row: &T) -> bool {
    matches!(stored, Some(RowSlot::Row(stored)) if stored.content() == row.content())
}

/// What came of an append.
#[derive(PartialEq, Eq)]
enum Appended {
    /// What is stored now.
    Yes(Vec<VersionPlace>),
    /// Another instance has this number.
    Taken,
    /// The ring is longer.
    Outdated,
}

/// The failure of a write that other instances were always faster than.
pub(super) fn too_many_writers() -> Failure {
    Failure::Failed {
        code: "too_many_writers".into(),
        message: format!("other instances changed the same entry {ATTEMPTS} times"),
    }
}

pub(super) fn as_number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

pub(super) fn raw(value: &serde_json::Value) -> Json {
    to_raw_value(value).expect("a value is JSON")
}
