//! Suggestions for mistyped names.

use std::collections::HashMap;

/// Bytes of a name that is compared. A longer one does not fit into the bits of a number.
const COMPARED_MAX: usize = 128;

/// The name closest to `asked`, if it is close enough to suggest: at most a third of the
/// characters differ, or the last segment is the same (`email` for `resend/email`).
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = |name: &str| name.rfind('/').map_or(0, |slash| slash + 1);
    let asked_last = &asked[last(asked)..];
    let max = (asked.len() / 3).max(1);
    let pattern = (asked.len() <= COMPARED_MAX).then(|| Pattern::of(asked));
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let pattern = pattern.as_ref();
        let distance = pattern
            .filter(|_| name.len().abs_diff(asked.len()) <= max)
            .map(|pattern| pattern.distance(name));
        let distance = match distance {
            Some(distance) if distance <= max => distance,
            _ if &name[last(name)..] == asked_last => max + 1,
            _ => continue,
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// A name that others are compared with: for each of its characters the places where it is, as
/// bits. A column of the table of distances is then a few operations on numbers, so that a
/// comparison takes the length of the other name, and not the product of both lengths: anyone
/// may ask for hundreds of long names that are among thousands of long names.
struct Pattern {
    ascii: [u128; 128],
    others: HashMap<char, u128>,
    /// How many characters it has.
    length: usize,
}

impl Pattern {
    /// Of a name of at most [`COMPARED_MAX`] characters.
    fn of(name: &str) -> Self {
        let mut pattern = Self {
            ascii: [0; 128],
            others: HashMap::new(),
            length: 0,
        };
        for c in name.chars() {
            let places = match pattern.ascii.get_mut(c as usize) {
                Some(places) => places,
                None => pattern.others.entry(c).or_default(),
            };
            *places |= 1 << pattern.length;
            pattern.length += 1;
        }
        pattern
    }

    /// The characters to insert, to remove, to replace or to swap with the next one, to get
    /// `name`: the optimal string alignment distance, by Hyyrö's bit-parallel algorithm (2003).
    fn distance(&self, name: &str) -> usize {
        let Some(last) = self.length.checked_sub(1) else {
            return name.chars().count();
        };
        let mut distance = self.length;
        // How a cell of the column differs from the one above it: it is one more, or one less.
        let (mut more, mut less) = (u128::MAX, 0_u128);
        // Where a cell is the same as the one before it in the diagonal.
        let mut same = 0_u128;
        let mut before = 0_u128;
        for c in name.chars() {
            let places = match self.ascii.get(c as usize) {
                Some(places) => *places,
                None => self.others.get(&c).copied().unwrap_or_default(),
            };
            let swapped = ((!same & places) << 1) & before;
            let carried = (places & more).wrapping_add(more) ^ more;
            same = carried | places | less | swapped;
            // How a cell differs from the one in the column before.
            let grown = less | !(same | more);
            let shrunk = same & more;
            distance += usize::from(grown >> last & 1 == 1);
            distance -= usize::from(shrunk >> last & 1 == 1);
            let grown = grown << 1 | 1;
            more = shrunk << 1 | !(same | grown);
            less = grown & same;
            before = places;
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, expected: Option<&str>) {
        let names = ["resend", "resend/email", "resend/email/send", "brain"];
        assert_eq!(nearest(asked, names.into_iter()), expected, "for {asked:?}");
    }

    #[test]
    fn suggestions() {
        check("resend/emial", Some("resend/email"));
        check("resnd", Some("resend"));
        check("email", Some("resend/email"));
        check("brian", Some("brain"));
        check("zebra", None);
        check(&"x".repeat(1000), None);
    }

    proptest::proptest! {
        /// The same as the distance that is computed cell by cell.
        #[test]
        fn distances(
            a in "[abé手]{0,8}|[abcé]{0,40}|[a-d]{120,128}",
            b in "[abé手]{0,8}|[abcé]{0,40}|[a-d]{80,170}"
        ) {
            let expected = strsim::osa_distance(&a, &b);
            proptest::prop_assert_eq!(Pattern::of(&a).distance(&b), expected);
        }
    }
}
