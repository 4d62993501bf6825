//! A request, and the terms it is looked up by.

use std::collections::HashSet;

use crate::dictionary::{Dictionary, Term, request_parts, stem_of};
use crate::document::Group;
use crate::limits::{MAX_REQUEST_BYTES, MAX_REQUEST_TERMS};
use crate::near::{Lookups, Near};
use crate::stem::Script;
use crate::words::for_each_word;

/// What is searched for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The request, in any words.
    pub text: &'a str,
    /// The groups to search, one bit for each.
    pub groups: u32,
    /// How the ids begin.
    pub prefix: &'a str,
    /// How many of the best matches to skip.
    pub offset: usize,
    /// How many matches to return at most.
    pub limit: usize,
}

impl<'a> Request<'a> {
    /// A request to all groups, for the ten best matches.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            groups: u32::MAX,
            prefix: "",
            offset: 0,
            limit: 10,
        }
    }

    pub(crate) fn selects_group(&self, group: Group) -> bool {
        self.groups & (1 << (group % 32)) != 0
    }

    /// The text that is read.
    pub(crate) fn read_text(&self) -> &'a str {
        let mut end = MAX_REQUEST_BYTES.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[..end]
    }
}

/// A word of a request.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The word, lowercase.
    pub word: String,
    /// The text of its term: orders the words, so that sums do not depend on numbers of terms.
    text: String,
    /// Its term, if documents have it.
    pub term: Option<Term>,
    /// How much it counts: less if documents only have a similar word.
    pub weight: f32,
}

/// The index as a request needs it.
pub(crate) struct Terms<'a> {
    pub dictionary: &'a Dictionary,
    /// How many documents have a term.
    pub documents: &'a dyn Fn(Term) -> u32,
    /// Its words, to be found by words that nearly are them.
    pub near: &'a Near,
    pub near_weight: f32,
}

impl Terms<'_> {
    fn known(&self, text: &str) -> Option<Term> {
        let term = self.dictionary.find(text)?;
        ((self.documents)(term) > 0).then_some(term)
    }
}

/// The distinct words of a request that are not stop words, in order of their terms.
pub(crate) fn asked(text: &str, terms: &Terms<'_>) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    // No more unknown words count, so no more are looked up: the first ones.
    let mut lookups = Lookups::new(terms.near, terms.dictionary, terms.documents);
    let mut unknown: HashSet<String> = HashSet::new();
    for_each_word(text, |word| {
        let Some(stem) = stem_of(word) else { return };
        let push = |asked: &mut Vec<Asked>, text: &str, term, weight| {
            let word = word.text.to_owned();
            let text = text.to_owned();
            asked.push(Asked {
                word,
                text,
                term,
                weight,
            });
        };
        let known = match word.script {
            Script::Unspaced => None,
            _ => terms.known(&stem),
        };
        if known.is_some() {
            return push(&mut asked, &stem, known, 1.0);
        }
        // Its parts are asked for already.
        if word.joined {
            return;
        }
        let parts = request_parts(word);
        if !parts.is_empty() {
            let known = parts
                .iter()
                .filter_map(|part| Some((part, terms.known(part)?)));
            let known: Vec<_> = known.collect();
            for (part, term) in &known {
                push(&mut asked, part, Some(*term), 1.0);
            }
            if !known.is_empty() {
                return;
            }
        }
        if !lookups.may_follow() || !unknown.insert(stem.clone().into_owned()) {
            return push(&mut asked, &stem, None, 0.0);
        }
        match lookups.find(&stem) {
            Some(term) => push(&mut asked, &stem, Some(term), terms.near_weight),
            None => push(&mut asked, &stem, None, 0.0),
        }
    });
    asked.sort_by(|a, b| a.text.cmp(&b.text));
    asked.dedup_by(|a, b| a.text == b.text);
    if asked.len() > MAX_REQUEST_TERMS {
        let documents = |asked: &Asked| asked.term.map_or(u32::MAX, terms.documents);
        asked.sort_by(|a, b| {
            documents(a)
                .cmp(&documents(b))
                .then_with(|| a.text.cmp(&b.text))
        });
        asked.truncate(MAX_REQUEST_TERMS);
        asked.sort_by(|a, b| a.text.cmp(&b.text));
    }
    asked
}
