//! Words that nearly are a word: for a word of a request that no document has, because it is
//! misspelled, or inflected in a language without a stemmer.

use std::collections::HashMap;

use crate::dictionary::{Dictionary, Term};

/// Shorter words have too many neighbours.
const LETTERS_MIN: usize = 4;
/// From this length on two letters may differ.
const TWO_EDITS_FROM: usize = 8;
/// Letters that both words begin with if they differ in more than one.
const PREFIX_MIN: usize = 3;
/// Letters that both words begin with if only their endings differ.
const STEM_MIN: usize = 5;
/// Letters of an ending.
const ENDING_MAX: usize = 3;

/// The terms by first letter and length.
#[derive(Default)]
pub(crate) struct Near {
    buckets: HashMap<(char, usize), Vec<Term>>,
}

impl Near {
    /// Adds a term.
    pub(crate) fn insert(&mut self, term: Term, text: &str) {
        let letters = text.chars().count();
        if let Some(first) = text.chars().next().filter(|_| letters >= LETTERS_MIN) {
            self.buckets.entry((first, letters)).or_default().push(term);
        }
    }

    /// The nearest term that documents have; of several the one with the most documents, then the
    /// first in byte order.
    pub(crate) fn find(
        &self,
        word: &str,
        dictionary: &Dictionary,
        documents: impl Fn(Term) -> u32,
    ) -> Option<Term> {
        let wanted: Vec<char> = word.chars().collect();
        if wanted.len() < LETTERS_MIN {
            return None;
        }
        let lengths = wanted.len() - ENDING_MAX.min(wanted.len())..=wanted.len() + ENDING_MAX;
        let buckets = lengths.filter_map(|length| self.buckets.get(&(wanted[0], length)));
        let mut letters = Vec::new();
        let near = buckets.flatten().filter_map(|&term| {
            let text = dictionary.text(term);
            letters.clear();
            letters.extend(text.chars());
            let edits = edits(&wanted, &letters)?;
            let documents = documents(term);
            (documents > 0).then_some((edits, std::cmp::Reverse(documents), text, term))
        });
        near.min().map(|(.., term)| term)
    }
}

/// How far two words are apart, if they are near.
fn edits(a: &[char], b: &[char]) -> Option<usize> {
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (&a[prefix..], &b[prefix..]);
    let pairs = a_rest.iter().rev().zip(b_rest.iter().rev());
    let suffix = pairs.take_while(|(a, b)| a == b).count();
    let a_middle = &a_rest[..a_rest.len() - suffix];
    let b_middle = &b_rest[..b_rest.len() - suffix];
    match (a_middle, b_middle) {
        ([], []) => return Some(0),
        ([] | [_], [_]) | ([_], []) => return Some(1),
        ([a, b], [c, d]) if a == d && b == c => return Some(1),
        _ => {}
    }
    if prefix < PREFIX_MIN {
        return None;
    }
    if a.len().min(b.len()) >= TWO_EDITS_FROM {
        let text = |middle: &[char]| middle.iter().collect::<String>();
        if strsim::osa_distance(&text(a_middle), &text(b_middle)) <= 2 {
            return Some(2);
        }
    }
    let endings = a_rest.len() <= ENDING_MAX && b_rest.len() <= ENDING_MAX;
    (prefix >= STEM_MIN && endings).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: Option<usize>) {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(edits(&letters(a), &letters(b)), expected, "{a} {b}");
        assert_eq!(edits(&letters(b), &letters(a)), expected, "{b} {a}");
    }

    #[test]
    fn one_letter_may_differ_and_two_in_long_words() {
        check("email", "email", Some(0));
        check("emial", "email", Some(1));
        check("emal", "email", Some(1));
        check("commit", "comit", Some(1));
        check("docker", "packer", None);
        check("kubernetes", "kubernets", Some(1));
        check("kuberentees", "kubernetes", Some(2));
        check("rechnungen", "rechnung", Some(2));
        check("übersetzt", "übersetzen", Some(2));
        check("katze", "katzen", Some(1));
    }
}
