//! Removing versions without losing the number of the last one.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::entry::{RingRow, StoredVersion, field, for_each_version, row_key};
use super::store::{VersionStore, raw};
use super::{Note, VersionOp};
use crate::Failure;
use crate::row::Row;
use crate::state_scope::Expected;

/// The version that stays of an entry whose texts were given back: its number, without a text. It
/// is in the first row, where the versions of an entry are looked for.
pub(crate) struct Tombstone;

impl Tombstone {
    pub(crate) fn key(id: &str) -> String {
        row_key(id, 0)
    }
}

impl<T: Row> VersionStore<T> {
    /// Stores the number of the last version of an entry without its text. Returns false if
    /// another instance has made a newer version.
    pub(crate) async fn mark_last(&self, id: &str, newest: u64) -> Result<bool, Failure> {
        let last = self.read(id).await?.list.pop();
        let Some(last) = last.filter(|last| last.head.version == newest) else {
            return Ok(false);
        };
        let op = match &last.row {
            Some(_) => VersionOp::Gc,
            None => last.head.op,
        };
        let note = Note {
            op,
            from: None,
            actor: last.head.actor,
        };
        let mark = StoredVersion {
            version: newest,
            // In a ring of one row every version is in the first.
            of: 1,
            ..StoredVersion::of_removal(id.into(), last.head.at, &note)
        };
        // Replaces the version if it is in this row already.
        let op = json!([{ "type": "set", "path": field(newest), "value": [mark] }]);
        self.state.update(&Tombstone::key(id), &raw(&op)).await?;
        Ok(true)
    }

    /// Removes versions of one row. What another instance writes meanwhile stays.
    pub(crate) async fn remove_versions(&self, key: &str, versions: &[u64]) -> Result<(), Failure> {
        #[derive(Default, Deserialize)]
        struct Answer<'a> {
            #[serde(default, borrow)]
            new_value: Option<&'a RawValue>,
        }
        if versions.is_empty() {
            return Ok(());
        }
        let ops = versions.iter();
        let ops = ops.map(|version| json!({ "type": "remove", "path": field(*version) }));
        let ops: Vec<_> = ops.collect();
        let answer = self.state.update(key, &raw(&ops.into())).await?;
        let answer = answer.as_deref().map_or("null", RawValue::get);
        let answer: Answer<'_> = serde_json::from_str(answer).unwrap_or_default();
        let left = answer.new_value.map_or("null", RawValue::get);
        let left = RingRow::parse(left);
        // A length must stay: a writer with a shorter ring meets it there.
        if left.lists().next().is_some() || left.lengths().next().is_some() {
            return Ok(());
        }
        // The row is empty. A version that another instance appends at this moment keeps it, or is
        // put back if the engine does not compare.
        let empty = Some(Expected(answer.new_value));
        let taken = match self.state.take_if(key, empty).await {
            Err(failure) if failure.is_value_changed() => None,
            taken => taken?,
        };
        let Some(taken) = taken else {
            return Ok(());
        };
        for (number, list) in RingRow::parse(taken.get()).lists() {
            if let Some(version) = RingRow::first(list) {
                let op = json!([{ "type": "append", "path": field(number), "value": version }]);
                self.state.update(key, &raw(&op)).await?;
            }
        }
        Ok(())
    }

    /// Removes the texts of versions of the first row, which tells that there are versions, and how
    /// long their ring is.
    pub(crate) async fn remove_texts(&self, key: &str, versions: &[u64]) -> Result<(), Failure> {
        let Some(row) = self.state.get(key).await? else {
            return Ok(());
        };
        let mut ops = Vec::new();
        for_each_version(row.get(), &mut |mut version| {
            if versions.contains(&version.version) {
                version.row = None;
                let path = field(version.version);
                ops.push(json!({ "type": "set", "path": path, "value": [version] }));
            }
        });
        self.state.update(key, &raw(&ops.into())).await.map(drop)
    }
}
