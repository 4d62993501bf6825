//! Words that nearly are a word: for a word of a request that no document has, because it is
//! misspelled, or inflected in a language without a stemmer.
//!
//! A lookup compares the word with every term of its first letter and about its length, which is
//! fast for the words of a language and slow for a document full of random ones. So a request has a
//! budget for all its lookups: one that would cost more than what is left finds nothing. Whether it
//! does is known before it begins, so that the order of the terms does not count.

use std::collections::HashMap;

use crate::dictionary::{Dictionary, Term};
use crate::limits::{MAX_COMPARED_LETTERS, MAX_REQUEST_TERMS};

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

    /// The terms that a word is compared with.
    fn buckets(&self, first: char, letters: usize) -> impl Iterator<Item = &[Term]> {
        let lengths = letters - ENDING_MAX.min(letters)..=letters + ENDING_MAX;
        let buckets = lengths.filter_map(move |length| self.buckets.get(&(first, length)));
        buckets.map(Vec::as_slice)
    }
}

/// The lookups of one request.
pub(crate) struct Lookups<'a> {
    near: &'a Near,
    dictionary: &'a Dictionary,
    /// How many documents have a term.
    documents: &'a dyn Fn(Term) -> u32,
    /// How many lookups may follow.
    left: usize,
    /// How many letters they may compare.
    letters_left: usize,
}

impl<'a> Lookups<'a> {
    pub(crate) fn new(
        near: &'a Near,
        dictionary: &'a Dictionary,
        documents: &'a dyn Fn(Term) -> u32,
    ) -> Self {
        Self {
            near,
            dictionary,
            documents,
            left: MAX_REQUEST_TERMS,
            letters_left: MAX_COMPARED_LETTERS,
        }
    }

    /// Whether another lookup may follow.
    pub(crate) fn may_follow(&self) -> bool {
        self.left > 0
    }

    /// The nearest term that documents have; of several the one with the most documents, then the
    /// first in byte order.
    pub(crate) fn find(&mut self, word: &str) -> Option<Term> {
        let wanted: Vec<char> = word.chars().collect();
        if wanted.len() < LETTERS_MIN {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let buckets = || self.near.buckets(wanted[0], wanted.len());
        let cost = buckets().map(<[Term]>::len).sum::<usize>() * wanted.len();
        self.letters_left = self.letters_left.checked_sub(cost)?;
        let mut letters = Vec::new();
        let near = buckets().flatten().filter_map(|&term| {
            let text = self.dictionary.text(term);
            letters.clear();
            letters.extend(text.chars());
            let edits = edits(&wanted, &letters)?;
            let documents = (self.documents)(term);
            (documents > 0).then_some((edits, std::cmp::Reverse(documents), text, term))
        });
        near.min().map(|(.., term)| term)
    }
}

/// How far two words are apart, if they are near.
fn edits(a: &[char], b: &[char]) -> Option<usize> {
    let prefix = common_start(a, b);
    let (a_rest, b_rest) = (&a[prefix..], &b[prefix..]);
    match edits_after(a_rest, b_rest) {
        None => {}
        edits => return edits,
    }
    if prefix < PREFIX_MIN {
        return None;
    }
    if a.len().min(b.len()) >= TWO_EDITS_FROM && are_two_edits(a_rest, b_rest) {
        return Some(2);
    }
    let endings = a_rest.len() <= ENDING_MAX && b_rest.len() <= ENDING_MAX;
    (prefix >= STEM_MIN && endings).then_some(3)
}

fn common_start(a: &[char], b: &[char]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// How far two words are apart after what both begin with, if that is at most one edit: a letter
/// that is missing or another one, or two letters in the wrong order.
fn edits_after(a: &[char], b: &[char]) -> Option<usize> {
    if a.len().abs_diff(b.len()) > 1 {
        return None;
    }
    let pairs = a.iter().rev().zip(b.iter().rev());
    let suffix = pairs.take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - suffix], &b[..b.len() - suffix]) {
        ([], []) => Some(0),
        ([] | [_], [_]) | ([_], []) => Some(1),
        ([a, b], [c, d]) if a == d && b == c => Some(1),
        _ => None,
    }
}

/// Whether two words, of which the first letters differ, are at most two edits apart. One of the
/// edits is at that place, so that a few passes decide it, however long the words are.
fn are_two_edits(a: &[char], b: &[char]) -> bool {
    let is_one_more = |a: &[char], b: &[char]| {
        let start = common_start(a, b);
        edits_after(&a[start..], &b[start..]).is_some()
    };
    let (Some((a_first, a_rest)), Some((b_first, b_rest))) = (a.split_first(), b.split_first())
    else {
        return a.len().max(b.len()) <= 2;
    };
    is_one_more(a_rest, b_rest)
        || is_one_more(a_rest, b)
        || is_one_more(a, b_rest)
        || match (a_rest.split_first(), b_rest.split_first()) {
            (Some((a_second, a_rest)), Some((b_second, b_rest))) => {
                (a_first, a_second) == (b_second, b_first) && is_one_more(a_rest, b_rest)
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Index};

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

    proptest::proptest! {
        /// The same as the distance that is known for this, which takes the square of the length.
        #[test]
        fn two_edits_are_those_of_the_distance(a in "[abc]{0,7}", b in "[abc]{0,7}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let start = common_start(&a, &b);
            let text = |letters: &[char]| letters[start..].iter().collect::<String>();
            let distance = strsim::osa_distance(&text(&a), &text(&b));
            let (a, b) = (&a[start..], &b[start..]);
            proptest::prop_assert_eq!(edits_after(a, b), (distance < 2).then_some(distance));
            proptest::prop_assert_eq!(are_two_edits(a, b), distance <= 2);
        }
    }

    /// The terms of one document.
    fn near(texts: impl Iterator<Item = String>) -> (Near, Dictionary) {
        let body: Vec<String> = texts.collect();
        let mut index = Index::default();
        index.insert(&Document {
            body: &body.join(" "),
            ..Document::default()
        });
        (index.near, index.dictionary)
    }

    #[test]
    fn a_request_has_a_budget_for_its_lookups() {
        let random =
            (0..300_000).map(|number: u32| format!("q{:08x}", number.wrapping_mul(0x9E37_79B1)));
        let (near, dictionary) = near(random.chain(["email".into()]));
        let mut lookups = Lookups::new(&near, &dictionary, &|_| 1);
        let found = (0..MAX_REQUEST_TERMS).filter(|_| lookups.find("q00000000z").is_some());
        // Each compares 300,000 words of nine letters with one of ten.
        assert_eq!(found.count(), MAX_COMPARED_LETTERS / 3_000_000);
        assert!(!lookups.may_follow());
        let mut lookups = Lookups::new(&near, &dictionary, &|_| 1);
        lookups.letters_left = 5;
        assert_eq!(lookups.find("q00000000z"), None);
        assert!(lookups.find("emial").is_some(), "what is left is enough");
    }
}
