//! Reads and writes versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::entry::{RingRow, append_ops, field, for_each_version, row_key};
use super::{Note, StoredVersion, Version, VersionOp, Versions};
use crate::engine::{StoredRow, VALUE_DAMAGED};
use crate::limits::MAX_VERSIONS;
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::state_scope::StateScope;
use crate::{Failure, Json};

/// How often a version takes another number when other instances write at the same moment.
const ATTEMPTS: usize = 32;

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
    newest: u64,
    /// The row that is this version.
    row: Arc<T>,
}

/// What a write of a row has to record.
pub(crate) enum Plan {
    /// It says what is registered already.
    Unchanged,
    /// It gets this number, if another instance does not take it first.
    Version(u64),
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
        let mut found = self.read_row(id, 0).await?;
        let mut read = 1;
        // The first row always has a version, if there is one.
        while !found.is_empty() {
            let longest = found.iter().map(|version| version.of).max();
            let ring = longest
                .unwrap_or(0)
                .max(self.keep)
                .min(as_number(MAX_VERSIONS));
            if read >= ring {
                break;
            }
            let rows = join_all((read..ring).map(|place| self.read_row(id, place)));
            for row in rows.await {
                found.extend(row?);
            }
            read = ring;
        }
        let list = found.into_iter().map(Version::from_stored).collect();
        Ok(Versions::new(list, self.keep))
    }

    async fn read_row(&self, id: &str, place: u64) -> Result<Vec<StoredVersion>, Failure> {
        let mut versions = Vec::new();
        match self.state.get(&row_key(id, place)).await {
            Ok(None) => {}
            Ok(Some(row)) => for_each_version(row.get(), &mut |version| versions.push(version)),
            Err(Failure::Failed { code, message }) if code == VALUE_DAMAGED => {
                tracing::warn!(id, place, "stored versions cannot be read: {message}");
            }
            Err(failure) => return Err(failure),
        }
        versions.retain(|version| *version.id == *id);
        Ok(versions)
    }

    /// Prepares the write of `row` over `before`: what is stored without a version gets one, so
    /// that it is not lost.
    pub(crate) async fn plan(&self, row: &T, before: Option<&RowSlot<T>>) -> Result<Plan, Failure> {
        if let Some(RowSlot::Row(before)) = before
            && before.content() == row.content()
        {
            return Ok(Plan::Unchanged);
        }
        self.next(&row.key(), before).await.map(Plan::Version)
    }

    /// The next number of an entry. What is stored without a version gets one before.
    pub(crate) async fn next(
        &self,
        id: &Arc<str>,
        before: Option<&RowSlot<T>>,
    ) -> Result<u64, Failure> {
        let before = match before {
            Some(RowSlot::Row(row)) => Some(row),
            Some(RowSlot::Damaged(_)) | None => None,
        };
        if let Some(before) = before
            && let Some(known) = self.known().get(id)
            && known.row == *before
        {
            return Ok(known.newest + 1);
        }
        let versions = self.read(id).await?;
        let newest = versions.newest();
        let Some(unrecorded) = before.filter(|before| versions.of_row(&***before).is_none()) else {
            return Ok(newest + 1);
        };
        let note = Note {
            op: VersionOp::Found,
            ..Note::default()
        };
        let found = StoredVersion::of_row(&**unrecorded, unrecorded.to_json(), &note);
        Ok(self.append(found, newest + 1).await? + 1)
    }

    /// Records a row that is being written.
    pub(crate) async fn record(
        &self,
        plan: Plan,
        row: &T,
        json: &RawValue,
        note: &Note,
    ) -> Result<Option<u64>, Failure> {
        let Plan::Version(next) = plan else {
            return Ok(None);
        };
        let version = StoredVersion::of_row(row, json.to_owned(), note);
        self.append(version, next).await.map(Some)
    }

    /// A row was written, and its version if it has one.
    pub(crate) fn recorded(&self, row: Arc<T>, version: Option<u64>) {
        let mut known = self.known();
        match (version, known.get_mut(&row.key())) {
            (Some(newest), _) => drop(known.insert(row.key(), Known { newest, row })),
            (None, Some(known)) => known.row = row,
            (None, None) => {}
        }
    }

    /// The number of the newest version of an entry cannot be trusted, or is not needed soon.
    pub(crate) fn forget(&self, id: &str) {
        self.known().remove(id);
    }

    /// Appends a version with the next number that is free. Returns the number.
    pub(crate) async fn append(
        &self,
        mut version: StoredVersion,
        mut next: u64,
    ) -> Result<u64, Failure> {
        version.of = self.keep;
        for _ in 0..ATTEMPTS {
            version.version = next;
            if self.append_once(&version).await? {
                return Ok(next);
            }
            let versions = self.read(&version.id).await?;
            // Another instance that saw the row before its version has recorded it.
            if let Some(recorded) = versions.of_registration(&version) {
                return Ok(recorded);
            }
            next = versions.newest().max(next) + 1;
        }
        Err(Failure::Failed {
            code: "too_many_writers".into(),
            message: format!("other instances took {ATTEMPTS} version numbers one after another"),
        })
    }

    /// Appends a version. Returns false if another instance has taken its number.
    async fn append_once(&self, version: &StoredVersion) -> Result<bool, Failure> {
        #[derive(Default, Deserialize)]
        struct Answer<'a> {
            #[serde(default, borrow)]
            old_value: Option<&'a RawValue>,
            #[serde(default, borrow)]
            new_value: Option<&'a RawValue>,
        }
        let (key, number) = (version.key(), version.version);
        let answer = self.state.update(&key, &append_ops(version)).await?;
        let answer: Answer<'_> = answer
            .as_deref()
            .and_then(|answer| serde_json::from_str(answer.get()).ok())
            .unwrap_or_default();
        let old = answer.old_value.map_or("null", RawValue::get);
        let old = RingRow::parse(old);
        if let Some((taken, list)) = old.lists().find(|(there, _)| *there >= number) {
            // What was appended in vain is removed. Of the list with this number only the first
            // counts, so this takes nothing away from another instance.
            let path = field(number);
            let undo = match RingRow::first(list).filter(|_| taken == number) {
                Some(first) => json!([{ "type": "set", "path": path, "value": [first] }]),
                None => json!([{ "type": "remove", "path": path }]),
            };
            self.state.update(&key, &raw(&undo)).await?;
            return Ok(false);
        }
        let new = answer.new_value.map_or("null", RawValue::get);
        let new = RingRow::parse(new);
        if !new.lists().any(|(there, _)| there == number) {
            // The row was not an object, so that nothing could be appended to it.
            let row = json!({ field(number): [version] });
            self.state.set(&key, &raw(&row)).await?;
            return Ok(true);
        }
        // From a ring of another length.
        let outdated = |(there, _): &(u64, _)| *there + version.of <= number;
        let outdated = new.lists().filter(outdated);
        let remove = outdated.map(|(there, _)| json!({ "type": "remove", "path": field(there) }));
        let remove: Vec<_> = remove.collect();
        if !remove.is_empty() {
            self.state.update(&key, &raw(&remove.into())).await?;
        }
        Ok(true)
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

fn as_number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

pub(super) fn raw(value: &serde_json::Value) -> Json {
    to_raw_value(value).expect("a value is JSON")
}
