//! The rows of the scope of versions.
//!
//! The versions of an entry are a ring of rows with the keys `id@0`, `id@1` and so on: version 1
//! is in the first, and a new version replaces the oldest, so that pruning takes no call. A removal
//! replaces no text: it is in the row beside one, and what is removed
//! [later](super::kept) may be in another row. A row is
//! an object with a list for each version: `{"v21": [{...}]}`; some also name [how long the
//! ring](super::ring_buffer) is: `{"ring20": true}`. Versions are appended to their
//! list, which the engine does in one step: of two instances that write the same number, the
//! first is the version, and the other finds out and takes the next number. Nothing is
//! overwritten, even if one of them ends at that moment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::ring_buffer::longest;
use super::{Note, VersionOp, VersionPlace};
use crate::row::Row;
use crate::{Actor, Digest, Json};

/// One version as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredVersion {
    /// The id or name of its entry: lists of state have no keys.
    pub id: Arc<str>,
    pub version: u64,
    /// The length of the ring when it was written.
    pub of: u64,
    pub at: Arc<str>,
    pub op: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_name: Option<Arc<str>>,
    /// The row of the entry; none if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<Json>,
}

impl StoredVersion {
    /// The version of a row that is stored.
    pub(crate) fn of_row<T: Row>(row: &T, json: Json, note: &Note) -> Self {
        let content = row.content();
        Self {
            digest: Some(Digest::of(content.as_bytes()).to_string().into()),
            bytes: Some(content.len()),
            row: Some(json),
            ..Self::of_removal(row.key(), row.registered_at(), note)
        }
    }

    /// The version of a removal.
    pub(crate) fn of_removal(id: Arc<str>, at: Arc<str>, note: &Note) -> Self {
        let Actor {
            owner,
            worker,
            worker_name,
        } = &note.actor;
        Self {
            id,
            version: 0,
            of: 0,
            at,
            op: note.op.as_str().into(),
            digest: None,
            bytes: None,
            from: note.from,
            owner: owner.as_ref().map(crate::Owner::shared),
            worker: worker.clone(),
            worker_name: worker_name.clone(),
            row: None,
        }
    }

    pub(crate) fn op(&self) -> VersionOp {
        VersionOp::from_name(&self.op).unwrap_or_default()
    }

    pub(crate) fn version_place(&self) -> VersionPlace {
        VersionPlace {
            version: self.version,
            of: self.of,
            is_text: self.row.is_some(),
        }
    }

    /// The key of the row that has it.
    pub(crate) fn key(&self) -> String {
        row_key(&self.id, place(self.version, self.of))
    }
}

/// The place of a version in a ring.
pub(super) const fn place(version: u64, of: u64) -> u64 {
    match version.saturating_sub(1).checked_rem(of) {
        Some(place) => place,
        None => 0,
    }
}

pub(super) fn row_key(id: &str, place: u64) -> String {
    format!("{id}@{place}")
}

/// The field of a version in its row.
pub(super) fn field(version: u64) -> String {
    format!("v{version}")
}

/// The field that names the length of a ring.
pub(super) fn length_field(length: u64) -> String {
    format!("{LENGTH}{length}")
}

const LENGTH: &str = "ring";

/// A row of the scope: the lists of its versions by their fields.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct RingRow<'a>(#[serde(borrow)] BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'a> RingRow<'a> {
    /// A row that is not an object has no versions.
    pub(super) fn parse(text: &'a str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The numbers of its versions, with their lists.
    pub(super) fn lists(&self) -> impl Iterator<Item = (u64, &'a RawValue)> + '_ {
        let number = |field: &str| field.strip_prefix('v')?.parse().ok();
        let lists = self.0.iter();
        lists.filter_map(move |(field, list)| Some((number(field)?, *list)))
    }

    /// The lengths of the ring that it names.
    pub(super) fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        let length = |field: &Cow<'_, str>| field.strip_prefix(LENGTH)?.parse().ok();
        let lengths = self.0.keys().filter_map(length);
        lengths.filter(|length| (1..=longest()).contains(length))
    }

    /// The first version of a list: the others were not acknowledged with this number.
    pub(super) fn first(list: &'a RawValue) -> Option<&'a RawValue> {
        let list: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        list.first().copied()
    }
}

/// Visits the versions of one row of the scope.
pub(crate) fn for_each_version(row: &str, visit: &mut impl FnMut(StoredVersion)) {
    for (number, list) in RingRow::parse(row).lists() {
        let first = RingRow::first(list);
        let version = first.map(|first| serde_json::from_str::<StoredVersion>(first.get()));
        match version {
            Some(Ok(version)) if version.version == number => visit(version),
            Some(Err(problem)) => {
                tracing::warn!(number, "a stored version cannot be read: {problem}");
            }
            Some(Ok(_)) | None => tracing::warn!(number, "a stored version cannot be read"),
        }
    }
}

/// Whether a row has no versions, but names lengths of its ring.
pub(crate) fn has_only_lengths(row: &str) -> bool {
    let row = RingRow::parse(row);
    row.lists().next().is_none() && row.lengths().next().is_some()
}

/// The operations of `state::update` that append a version to its row, and drop those whose
/// place it takes. The first row names the length of the ring.
pub(super) fn append_ops(version: &StoredVersion, replaced: &[u64]) -> Json {
    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Op<'a> {
        Remove {
            path: String,
        },
        Append {
            path: String,
            value: &'a StoredVersion,
        },
        Set {
            path: String,
            value: bool,
        },
    }
    let remove = replaced.iter().map(|replaced| Op::Remove {
        path: field(*replaced),
    });
    let append = Op::Append {
        path: field(version.version),
        value: version,
    };
    let is_first = place(version.version, version.of) == 0;
    let length = is_first.then(|| Op::Set {
        path: length_field(version.of),
        value: true,
    });
    let ops: Vec<_> = remove.chain([append]).chain(length).collect();
    to_raw_value(&ops).expect("operations are JSON")
}

/// The operation that replaces what is stored as a version.
pub(super) fn replace_ops(version: &StoredVersion) -> Json {
    let path = field(version.version);
    let ops = json!([{ "type": "set", "path": path, "value": [version] }]);
    to_raw_value(&ops).expect("operations are JSON")
}

/// The operations that take back what [`append_ops`] did to a row that was `old`.
pub(super) fn undo_ops(version: &StoredVersion, replaced: &[u64], old: &RingRow<'_>) -> Json {
    let number = version.version;
    let first = |wanted: u64| {
        let (_, list) = old.lists().find(|(there, _)| *there == wanted)?;
        RingRow::first(list)
    };
    let set = |number, first| json!({ "type": "set", "path": field(number), "value": [first] });
    // Of the list with this number only the first counts, so this takes nothing away from
    // another instance.
    let taken = match first(number) {
        Some(first) => set(number, first),
        None => json!({ "type": "remove", "path": field(number) }),
    };
    // In a longer ring it is kept.
    let replaced = replaced.iter();
    let replaced = replaced.filter_map(|number| Some(set(*number, first(*number)?)));
    let ops: Vec<_> = [taken].into_iter().chain(replaced).collect();
    to_raw_value(&ops).expect("operations are JSON")
}
