//! Which versions of an entry stay.
//!
//! Texts are counted, and removals are not: an entry that is registered and removed often must not
//! lose its texts by that. Removals stay as long as an older text does, if they are among the last
//! `2 * keep` versions.

use super::entry::place;

/// What has to be known of a version to decide whether it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionPlace {
    /// Its number.
    pub version: u64,
    /// The length of the ring when it was written.
    pub of: u64,
    /// Whether it has a text: it is not a removal, and the text was not given back.
    pub is_text: bool,
}

impl VersionPlace {
    /// Its place in the ring.
    pub(super) const fn place(self) -> u64 {
        place(self.version, self.of)
    }
}

/// Decides for the versions of one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Nothing older stays.
    oldest: u64,
    /// No older removal stays, so that the number of removals without texts is limited.
    oldest_removal: u64,
}

impl Kept {
    /// With the last texts; none of them if `keep` is 0.
    pub(crate) fn new(places: &[VersionPlace], keep: u64) -> Self {
        let newest = places.iter().map(|one| one.version).max().unwrap_or(0);
        let mut texts: Vec<u64> = places
            .iter()
            .filter(|one| one.is_text)
            .map(|one| one.version)
            .collect();
        texts.sort_unstable_by(|a, b| b.cmp(a));
        // A version may be in two rows for a moment.
        texts.dedup();
        let oldest = match keep.checked_sub(1) {
            None => newest.saturating_add(1),
            Some(last) => usize::try_from(last)
                .ok()
                .and_then(|last| texts.get(last).copied())
                .unwrap_or(0),
        };
        Self {
            oldest,
            oldest_removal: newest
                .saturating_sub(keep.saturating_mul(2))
                .saturating_add(1),
        }
    }

    /// Whether a version stays.
    pub(crate) const fn has(&self, one: VersionPlace) -> bool {
        one.version >= self.oldest && (one.is_text || one.version >= self.oldest_removal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t` is a text and `x` a removal, oldest first.
    #[track_caller]
    fn check(versions: &str, keep: u64, expected: &[u64]) {
        let one = |(version, kind)| VersionPlace {
            version,
            of: keep,
            is_text: kind == 't',
        };
        let places: Vec<_> = (1..).zip(versions.chars()).map(one).collect();
        let kept = Kept::new(&places, keep);
        let there = places.iter().filter(|one| kept.has(**one));
        let there: Vec<_> = there.map(|one| one.version).collect();
        assert_eq!(there, expected, "{keep} of {versions}");
    }

    #[test]
    fn the_last_texts_stay_with_the_removals_between_them() {
        check("", 3, &[]);
        check("tttt", 3, &[2, 3, 4]);
        check("tx", 1, &[1, 2]);
        check("txt", 1, &[3]);
        check("ttxtx", 2, &[2, 3, 4, 5]);
        check("ttxtxtx", 4, &[1, 2, 3, 4, 5, 6, 7]);
        check("txxxx", 2, &[1, 2, 3, 4, 5]);
        // After texts were given back.
        check("xxxxxx", 2, &[3, 4, 5, 6]);
        check("txt", 0, &[]);
    }

    #[test]
    fn the_greatest_number_stays() {
        for keep in [0, 1, u64::MAX] {
            let greatest = VersionPlace {
                version: u64::MAX,
                of: 1,
                is_text: true,
            };
            assert!(Kept::new(&[greatest], keep).has(greatest), "{keep}");
        }
    }
}
