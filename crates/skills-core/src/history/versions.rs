//! The versions of one entry, and which of them is current.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Actor, StoredVersion, VersionHead, VersionOp, VersionRef};
use crate::row::Row;
use crate::timestamp::to_unix_ms;
use crate::{Digest, Json};

/// A version and the row that it has.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub head: VersionHead,
    /// None if the entry was removed, or if it was given back.
    pub row: Option<Json>,
}

impl Version {
    pub(crate) fn from_stored(stored: StoredVersion) -> Self {
        let digest = stored.digest.as_deref();
        Self {
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
    fn found<T: Row>(row: &T, version: u64) -> Self {
        let content = row.content();
        Self {
            head: VersionHead {
                version,
                at: row.registered_at(),
                op: VersionOp::Found,
                digest: Some(Digest::of(content.as_bytes())),
                bytes: Some(content.len()),
                from: None,
                actor: Actor::default(),
                current: false,
            },
            row: Some(row.to_json()),
        }
    }
}

/// Why there is no such version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotThere {
    Unknown,
    /// Several digests have this beginning.
    Ambiguous(Vec<Digest>),
}

/// The versions of one entry.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// Oldest first.
    pub list: Vec<Version>,
}

impl Versions {
    /// Puts versions into order, and keeps the last ones; all if `keep` is 0.
    pub(crate) fn new(mut list: Vec<Version>, keep: u64) -> Self {
        list.sort_by_key(|version| version.head.version);
        // A version that was moved to another row is in both for a moment.
        list.dedup_by_key(|version| version.head.version);
        let mut versions = Self { list };
        if keep > 0 {
            let oldest = versions.newest().saturating_sub(keep);
            versions
                .list
                .retain(|version| version.head.version > oldest);
        }
        versions
    }

    /// The number of the newest; 0 if there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.list.last().map_or(0, |newest| newest.head.version)
    }

    /// The version that a row is; none if it has no version.
    pub(crate) fn of_row<T: Row>(&self, row: &T) -> Option<usize> {
        let digest = Some(row.digest());
        let registered_at = row.registered_at();
        let same = |version: &Version| version.head.digest == digest;
        let newest = self.list.last()?;
        if same(newest) {
            return Some(self.list.len() - 1);
        }
        let of_this_time = |version: &Version| version.head.at == registered_at && same(version);
        // An older version, if the newest one was made after this row: its own row was lost, or
        // another instance wrote at the same moment.
        let is_older = compare(&registered_at, &newest.head.at) == Ordering::Less;
        let by_time = self.list.iter().rposition(of_this_time);
        by_time.or_else(|| is_older.then(|| self.list.iter().rposition(same)).flatten())
    }

    /// The number of the version of the same registration.
    pub(crate) fn of_registration(&self, stored: &StoredVersion) -> Option<u64> {
        let digest: Digest = stored.digest.as_deref()?.parse().ok()?;
        let mut list = self.list.iter();
        let same = list
            .find(|version| version.head.at == stored.at && version.head.digest == Some(digest));
        same.map(|version| version.head.version)
    }

    /// Marks the version of the registered row. A row without one is added with the number that
    /// it will get.
    pub(crate) fn mark_current<T: Row>(&mut self, row: &T) {
        let at = self.of_row(row).unwrap_or_else(|| {
            self.list.push(Version::found(row, self.newest() + 1));
            self.list.len() - 1
        });
        self.list[at].head.current = true;
    }

    /// The version that is meant.
    pub(crate) fn find(&self, wanted: &VersionRef) -> Result<&Version, NotThere> {
        let digits = match wanted {
            VersionRef::Number(number) => {
                let mut list = self.list.iter();
                let found = list.find(|version| version.head.version == *number);
                return found.ok_or(NotThere::Unknown);
            }
            VersionRef::Digest(digits) => format!("sha256:{digits}"),
        };
        // Newest first: two versions with one digest have the same content.
        let mut found: Vec<(&Version, Digest)> = Vec::new();
        for version in self.list.iter().rev() {
            if let Some(digest) = version.head.digest
                && digest.to_string().starts_with(&digits)
                && found.iter().all(|(_, known)| *known != digest)
            {
                found.push((version, digest));
            }
        }
        match &found[..] {
            [] => Err(NotThere::Unknown),
            [(version, _)] => Ok(version),
            several => Err(NotThere::Ambiguous(
                several.iter().map(|(_, digest)| *digest).collect(),
            )),
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
            let found = versions.of_row(&skill(row.0, row.1));
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
        versions.mark_current(&skill("B", 2));
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
