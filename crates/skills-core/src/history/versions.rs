//! The versions of one entry, and which of them is current.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::{Actor, Kept, StoredVersion, VersionHead, VersionOp, VersionPlace, VersionRef};
use crate::row::Row;
use crate::timestamp::to_unix_ms;
use crate::{Digest, Json};

/// A version and the row that it has.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub head: VersionHead,
    pub place: VersionPlace,
    /// None if the entry was removed, or if its text was given back.
    pub row: Option<Json>,
}

impl Version {
    pub(crate) fn from_stored(stored: StoredVersion) -> Self {
        let digest = stored.digest.as_deref();
        Self {
            place: stored.version_place(),
            head: VersionHead {
                version: stored.version,
                op: stored.op(),
                at: stored.at,
                digest: digest.and_then(|digest| digest.parse().ok()),
                bytes: stored.bytes,
                from: stored.from,
                actor: Actor {
                    owner: stored.owner.and_then(|owner| owner.parse().ok()),
                    worker: stored.worker,
                    worker_name: stored.worker_name,
                },
                current: false,
            },
            row: stored.row,
        }
    }

    /// The version that a row without one gets.
    fn found(row: &RowHead, json: Option<Json>, version: u64) -> Self {
        Self {
            head: VersionHead {
                version,
                at: Arc::clone(&row.at),
                op: VersionOp::Found,
                digest: Some(row.digest),
                bytes: Some(row.bytes),
                from: None,
                actor: Actor::default(),
                current: false,
            },
            place: VersionPlace {
                version,
                of: 0,
                is_text: true,
            },
            row: json,
        }
    }

    /// Whether it had a text and has none now.
    fn is_given_back(&self) -> bool {
        self.head.digest.is_some() && !self.place.is_text
    }
}

/// What tells which version a row is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowHead {
    at: Arc<str>,
    digest: Digest,
    bytes: usize,
}

impl RowHead {
    pub(crate) fn of<T: Row>(row: &T) -> Self {
        let content = row.content();
        Self {
            at: row.registered_at(),
            digest: Digest::of(content.as_bytes()),
            bytes: content.len(),
        }
    }
}

/// Why there is no such version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotThere {
    Unknown,
    /// Its text was given back.
    GivenBack,
    /// Several digests have this beginning.
    Ambiguous(Vec<Digest>),
}

/// The versions of one entry.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// Oldest first, without those whose texts were given back.
    pub list: Vec<Version>,
    /// Those whose texts were given back. Most leave nothing; one in the first row may.
    given_back: Vec<Version>,
}

impl Versions {
    /// Puts versions into order, and keeps the last texts; all if `keep` is 0.
    pub(crate) fn new(mut list: Vec<Version>, keep: u64) -> Self {
        // A number is in two rows if a version is being moved, or if a writer ended before it took
        // back what it had appended to a shorter ring. What is in the longer one is right.
        list.sort_by_key(|Version { place, .. }| (place.version, Reverse(place.of)));
        list.dedup_by_key(|version| version.place.version);
        if keep > 0 {
            let places: Vec<_> = list.iter().map(|version| version.place).collect();
            let kept = Kept::new(&places, keep);
            list.retain(|version| version.is_given_back() || kept.has(version.place));
        }
        let (given_back, list) = list.into_iter().partition(Version::is_given_back);
        Self { list, given_back }
    }

    /// The number of the newest; 0 if there is none.
    pub(crate) fn newest(&self) -> u64 {
        let numbers = [self.list.last(), self.given_back.last()];
        let numbers = numbers.into_iter().flatten();
        numbers.map(|last| last.head.version).max().unwrap_or(0)
    }

    /// The version that a row is; none if it has no version.
    pub(crate) fn of_row(&self, row: &RowHead) -> Option<usize> {
        let same = |version: &Version| version.head.digest == Some(row.digest);
        let newest = self.list.last()?;
        if same(newest) {
            return Some(self.list.len() - 1);
        }
        let of_this_time = |version: &Version| version.head.at == row.at && same(version);
        // An older version, if the newest one was made after this row: its own row was lost, or
        // another instance wrote at the same moment.
        let is_older = compare(&row.at, &newest.head.at) == Ordering::Less;
        let by_time = self.list.iter().rposition(of_this_time);
        by_time.or_else(|| is_older.then(|| self.list.iter().rposition(same)).flatten())
    }

    /// The version of the same registration.
    pub(crate) fn of_registration(&self, stored: &StoredVersion) -> Option<&Version> {
        let digest: Digest = stored.digest.as_deref()?.parse().ok()?;
        let mut list = self.list.iter();
        list.find(|version| version.head.at == stored.at && version.head.digest == Some(digest))
    }

    /// Whether the newest of them made what is registered, or removed it. If not, they and the row
    /// may be of different moments.
    pub(crate) fn agree_with(&self, row: Option<&RowHead>) -> bool {
        match row {
            Some(row) => {
                let at = self.of_row(row);
                at.is_some_and(|at| at + 1 == self.list.len())
            }
            None => self.list.last().is_none_or(|newest| !newest.place.is_text),
        }
    }

    /// Marks the version of the registered row. A row without one is added with the number that
    /// it will get, and its text if that is needed.
    pub(crate) fn mark_current(&mut self, row: &RowHead, json: impl FnOnce() -> Option<Json>) {
        let at = self.of_row(row).unwrap_or_else(|| {
            let number = self.newest().saturating_add(1);
            self.list.push(Version::found(row, json(), number));
            self.list.len() - 1
        });
        self.list[at].head.current = true;
    }

    /// The version that is meant.
    pub(crate) fn find(&self, wanted: &VersionRef) -> Result<&Version, NotThere> {
        let digits = match wanted {
            VersionRef::Number(number) => {
                let is_it = |version: &&Version| version.head.version == *number;
                let found = self.list.iter().find(is_it);
                return found.ok_or_else(|| self.not_there(is_it));
            }
            VersionRef::Digest(digits) => format!("sha256:{digits}"),
        };
        let begins = |digest: Digest| digest.to_string().starts_with(&digits);
        // Newest first: two versions with one digest have the same content.
        let mut found: Vec<(&Version, Digest)> = Vec::new();
        for version in self.list.iter().rev() {
            if let Some(digest) = version.head.digest
                && begins(digest)
                && found.iter().all(|(_, known)| *known != digest)
            {
                found.push((version, digest));
            }
        }
        match &found[..] {
            [] => Err(self.not_there(|version| version.head.digest.is_some_and(begins))),
            [(version, _)] => Ok(version),
            several => Err(NotThere::Ambiguous(
                several.iter().map(|(_, digest)| *digest).collect(),
            )),
        }
    }

    /// Why a version that is not listed is not.
    fn not_there(&self, is_it: impl Fn(&&Version) -> bool) -> NotThere {
        match self.given_back.iter().find(is_it) {
            Some(_) => NotThere::GivenBack,
            None => NotThere::Unknown,
        }
    }
}

/// Compares two times. Times that cannot be read count as equal: the version with the greater
/// number is later.
fn compare(a: &Arc<str>, b: &Arc<str>) -> Ordering {
    match (to_unix_ms(a), to_unix_ms(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Note;
    use super::*;
    use crate::Skill;

    fn skill(body: &str, second: u64) -> Skill {
        let at = format!("2026-01-01T00:00:{second:02}Z");
        Skill::new("a".parse().unwrap(), body, at)
    }

    fn versions(rows: &[(&str, u64)]) -> Versions {
        let stored = rows.iter().zip(1..).map(|((body, second), version)| {
            let row = skill(body, *second);
            let stored = StoredVersion::of_row(&row, row.to_json(), &Note::default());
            Version::from_stored(StoredVersion { version, ..stored })
        });
        Versions::new(stored.collect(), 20)
    }

    #[test]
    fn which_version_a_row_is() {
        #[track_caller]
        fn check(rows: &[(&str, u64)], row: (&str, u64), expected: Option<u64>) {
            let versions = versions(rows);
            let found = versions.of_row(&RowHead::of(&skill(row.0, row.1)));
            let number = found.map(|at| versions.list[at].head.version);
            assert_eq!(number, expected, "{row:?} of {rows:?}");
        }
        check(&[], ("A", 1), None);
        check(&[("A", 1)], ("A", 1), Some(1));
        // Registered again without a change.
        check(&[("A", 1)], ("A", 5), Some(1));
        check(&[("A", 1), ("B", 2)], ("B", 9), Some(2));
        // Written by a program that does not know versions.
        check(&[("A", 1)], ("C", 2), None);
        check(&[("A", 1), ("B", 2)], ("A", 3), None);
        // The row of the newest version was lost, or another instance wrote after it.
        check(&[("A", 1), ("B", 3)], ("A", 2), Some(1));
        check(&[("A", 1), ("B", 2)], ("A", 1), Some(1));
        // The clock was set back: the number decides.
        check(&[("A", 9), ("B", 2)], ("A", 9), Some(1));
    }

    #[test]
    fn a_row_without_a_version_has_the_next_number() {
        let mut versions = versions(&[("A", 1)]);
        versions.mark_current(&RowHead::of(&skill("B", 2)), || None);
        let heads: Vec<_> = versions.list.iter().map(|version| &version.head).collect();
        assert_eq!((heads[1].version, heads[1].op), (2, VersionOp::Found));
        assert!(heads[1].current && !heads[0].current);
    }

    #[test]
    fn a_version_is_found_by_its_number_or_the_beginning_of_its_digest() {
        let versions = versions(&[("A", 1), ("B", 2), ("A", 3)]);
        let number = |wanted: &str| {
            let found = versions.find(&wanted.parse().unwrap());
            found.map(|version| version.head.version)
        };
        assert_eq!(number("2"), Ok(2));
        assert_eq!(number("4"), Err(NotThere::Unknown));
        let digest = |body: &str| Digest::of(body.as_bytes()).to_string();
        assert_eq!(number(&digest("B")), Ok(2));
        // Two versions with one content are not ambiguous.
        assert_eq!(number(&digest("A")[..11]), Ok(3));
        assert_eq!(number("sha256:0000"), Err(NotThere::Unknown));
    }

    #[test]
    fn a_beginning_that_two_digests_have_is_ambiguous() {
        // These two texts have digests with the same four digits.
        let (a, b) = collision();
        let versions = versions(&[(&a, 1), (&b, 2)]);
        let digests = [b, a].map(|text| Digest::of(text.as_bytes()));
        let wanted = digests[0].to_string()[..11].parse().unwrap();
        assert_eq!(
            versions.find(&wanted).unwrap_err(),
            NotThere::Ambiguous(digests.to_vec())
        );
    }

    fn collision() -> (String, String) {
        let mut seen = std::collections::HashMap::new();
        for text in (0..).map(|number: u32| number.to_string()) {
            let digits = Digest::of(text.as_bytes()).to_string()[..11].to_owned();
            if let Some(other) = seen.insert(digits, text.clone()) {
                return (other, text);
            }
        }
        unreachable!("there are fewer than 2^16 beginnings of four digits")
    }

    #[test]
    fn only_the_last_versions_count() {
        let rows: Vec<_> = (1..=25)
            .map(|number| (number.to_string(), number))
            .collect();
        let rows: Vec<_> = rows.iter().map(|(text, at)| (text.as_str(), *at)).collect();
        let versions = versions(&rows);
        let numbers = versions.list.iter().map(|version| version.head.version);
        assert_eq!(numbers.collect::<Vec<_>>(), (6..=25).collect::<Vec<_>>());
    }
}
