//! How many rows the ring of an entry has, whatever number of versions its writers keep.
//!
//! Writers with different lengths would put one number into different rows, and a reader would not
//! find what is beyond its own length. So the ring of an entry has one length, which never shrinks:
//! the greatest that a writer used. The first row names every length that the ring had, and a
//! writer that needs a longer one announces it there. Then it marks the other rows of the shorter
//! ring, before it uses the longer one: a writer that has not heard of it meets a mark in whichever
//! row it appends to, takes back what it appended, and reads again. Marks are only added, so their
//! order does not matter, and who finds a row without the mark that it should have adds it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::entry::{RingRow, StoredVersion, for_each_version, length_field, place, row_key};
use super::store::{ATTEMPTS, VersionStore, as_number, raw, too_many_writers};
use super::versions::Version;
use crate::Failure;
use crate::engine::VALUE_DAMAGED;
use crate::limits::MAX_VERSIONS;
use crate::row::Row;

/// The longest ring.
pub(super) fn longest() -> u64 {
    as_number(MAX_VERSIONS)
}

/// One row of a ring.
#[derive(Debug, Default)]
struct Place {
    versions: Vec<StoredVersion>,
    /// The lengths that it names.
    lengths: BTreeSet<u64>,
}

/// What is stored of an entry.
#[derive(Debug, Default)]
pub(super) struct RingBuffer {
    /// By their places; empty if there is nothing of the entry.
    rows: Vec<Place>,
}

impl RingBuffer {
    /// The length that a writer uses which keeps this many versions.
    fn length_for(&self, keep: u64) -> u64 {
        let Some(first) = self.rows.first() else {
            return keep;
        };
        let named = first.lengths.last().copied().unwrap_or_else(|| {
            // Written by a release that did not name lengths: as many as have versions.
            let versions = self.rows.iter().flat_map(|row| &row.versions);
            let used =
                versions.map(|version| version.of.max(place(version.version, version.of) + 1));
            used.max().unwrap_or(0)
        });
        named.max(keep)
    }

    /// The places that have to name this length before it is used, the first row at first.
    fn unmarked(&self, length: u64) -> Vec<u64> {
        let Some(first) = self.rows.first() else {
            return Vec::new();
        };
        let shorter = first.lengths.range(..length).next_back();
        let marked = shorter.copied().unwrap_or(0).max(1);
        let rows = (0..).zip(&self.rows);
        let unmarked =
            rows.filter(|(place, row)| *place < marked && !row.lengths.contains(&length));
        unmarked.map(|(place, _)| place).collect()
    }

    /// Every version, once.
    pub(super) fn into_versions(self) -> Vec<StoredVersion> {
        let rows = self.rows.into_iter();
        let mut versions: Vec<_> = rows.flat_map(|row| row.versions).collect();
        // A number is in two rows if a version is being moved, or if a writer ended before it took
        // back what it had appended to a shorter ring. What is in the longer one is right.
        versions.sort_by_key(|version| (version.version, Reverse(version.of)));
        versions.dedup_by_key(|version| version.version);
        versions
    }
}

impl<T: Row> VersionStore<T> {
    /// Reads what is stored of an entry.
    pub(super) async fn read_ring(&self, id: &str) -> Result<RingBuffer, Failure> {
        let Some(first) = self.read_place(id, 0).await? else {
            return Ok(RingBuffer::default());
        };
        // Without a length, any row may have versions.
        let length = first.lengths.last().copied().unwrap_or_else(longest);
        let others = join_all((1..length).map(|place| self.read_place(id, place))).await;
        let mut rows = vec![first];
        for other in others {
            rows.push(other?.unwrap_or_default());
        }
        Ok(RingBuffer { rows })
    }

    /// Reads one version, with its row and the first one only. None if it is not where the ring
    /// has it now: then another row may have it.
    pub(crate) async fn read_one(&self, id: &str, number: u64) -> Result<Option<Version>, Failure> {
        let Some(first) = self.read_place(id, 0).await? else {
            return Ok(None);
        };
        let Some(&length) = first.lengths.last() else {
            return Ok(None);
        };
        // A longer ring has versions that this process does not list.
        if self.is_on() && length > self.keep() {
            return Ok(None);
        }
        let row = match place(number, length) {
            0 => Some(first),
            place => self.read_place(id, place).await?,
        };
        let mut versions = row.into_iter().flat_map(|row| row.versions);
        let found = versions.find(|version| (version.version, version.of) == (number, length));
        Ok(found.map(Version::from_stored))
    }

    async fn read_place(&self, id: &str, place: u64) -> Result<Option<Place>, Failure> {
        let text = match self.state.get(&row_key(id, place)).await {
            Ok(None) => return Ok(None),
            Ok(Some(text)) => text,
            Err(Failure::Failed { code, message }) if code == VALUE_DAMAGED => {
                tracing::warn!(id, place, "stored versions cannot be read: {message}");
                return Ok(None);
            }
            Err(failure) => return Err(failure),
        };
        let mut versions = Vec::new();
        for_each_version(text.get(), &mut |version| versions.push(version));
        versions.retain(|version| *version.id == *id);
        let lengths = RingRow::parse(text.get()).lengths().collect();
        Ok(Some(Place { versions, lengths }))
    }

    /// Reads what is stored of an entry, and makes sure that every writer knows how long its ring
    /// is. Returns the length too.
    pub(super) async fn settled_ring(&self, id: &str) -> Result<(RingBuffer, u64), Failure> {
        for _ in 0..ATTEMPTS {
            let ring = self.read_ring(id).await?;
            let length = ring.length_for(self.keep());
            let unmarked = ring.unmarked(length);
            if unmarked.is_empty() {
                return Ok((ring, length));
            }
            // The first row before the others: who meets a mark finds the length there.
            let (first, others) = unmarked.split_at(usize::from(unmarked[0] == 0));
            for place in first {
                self.mark(id, *place, length).await?;
            }
            let others = others.iter().map(|place| self.mark(id, *place, length));
            join_all(others)
                .await
                .into_iter()
                .collect::<Result<(), _>>()?;
            // Read again: others may have appended until a moment ago.
        }
        Err(too_many_writers())
    }

    async fn mark(&self, id: &str, place: u64, length: u64) -> Result<(), Failure> {
        #[derive(Default, Deserialize)]
        struct Answer<'a> {
            #[serde(default, borrow)]
            new_value: Option<&'a RawValue>,
        }
        let (key, field) = (row_key(id, place), length_field(length));
        let op = json!([{ "type": "set", "path": field, "value": true }]);
        let answer = self.state.update(&key, &raw(&op)).await?;
        let answer = answer.as_deref().map_or("null", RawValue::get);
        let answer: Answer<'_> = serde_json::from_str(answer).unwrap_or_default();
        let row = RingRow::parse(answer.new_value.map_or("null", RawValue::get));
        if row.lengths().all(|named| named != length) {
            // The row was not an object, so that it has no version.
            let row = json!({ field: true });
            self.state.set(&key, &raw(&row)).await?;
        }
        Ok(())
    }
}
