//! Looking words up in a dictionary that others read at the same time: the words that it does not
//! have are collected beside it, and added to it later.

use crate::dictionary::{Dictionary, Known, STOP_WORD, Term, WordNumber, for_each_part, stem_of};
use crate::near::Near;
use crate::stem::Script;
use crate::vectors::WordRows;
use crate::words::Word;

/// In the place of the number of a word whose script has no words.
pub(crate) const NO_WORD: WordNumber = WordNumber::MAX;

/// A word that was looked up.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub term: Term,
    /// The same at all places of the word, or [`NO_WORD`].
    pub number: WordNumber,
    pub rows: WordRows,
}

impl Found {
    #[inline]
    pub(crate) fn of(known: &Known) -> Self {
        Self {
            term: known.term,
            number: known.number(),
            rows: known.rows,
        }
    }
}

/// The words and terms that a dictionary does not have. Their terms have the numbers after those of
/// the dictionary, which must not change before they are added to it.
#[derive(Default)]
pub(crate) struct NewWords {
    /// Its words have terms in these numbers; its own list of terms begins at 1, as every one.
    beside: Dictionary,
    /// How many of the terms were returned by [`Self::terms_since_last_call`].
    returned: usize,
}

impl NewWords {
    /// How many terms there are with those of the dictionary.
    pub(crate) fn all_terms(&self, dictionary: &Dictionary) -> usize {
        // Both have the term of stop words.
        dictionary.len() + self.beside.len() - 1
    }

    /// Finds a word of a document that the dictionary does not have.
    #[cold]
    pub(crate) fn find_or_add(&mut self, dictionary: &Dictionary, word: Word<'_>) -> Found {
        if word.script == Script::Unspaced {
            return Found {
                term: STOP_WORD,
                number: NO_WORD,
                rows: WordRows::NONE,
            };
        }
        let known = self.beside.find_text(word.key, word.text).copied();
        let known = known.unwrap_or_else(|| {
            let term = stem_of(word).map_or(STOP_WORD, |stem| self.term(dictionary, &stem));
            let rows = WordRows::of(word);
            self.beside.add_word(word.key, word.text, term, rows)
        });
        Found {
            number: dictionary.bytes() + known.number(),
            ..Found::of(&known)
        }
    }

    /// Visits the terms of the parts of a word of a document.
    pub(crate) fn for_each_part(
        &mut self,
        dictionary: &Dictionary,
        word: Word<'_>,
        mut visit: impl FnMut(Term),
    ) {
        for_each_part(word, |part| visit(self.term(dictionary, part)));
    }

    fn term(&mut self, dictionary: &Dictionary, text: &str) -> Term {
        dictionary
            .find(text)
            .unwrap_or_else(|| dictionary.next_term() - 1 + self.beside.find_or_add(text))
    }

    /// The texts of the terms that were found since the last call.
    pub(crate) fn terms_since_last_call(&mut self) -> Vec<Box<str>> {
        let new = self.beside.terms().skip(self.returned);
        let new: Vec<_> = new.map(Box::from).collect();
        self.returned += new.len();
        new
    }
}

/// The new terms of several readers, with one number for each.
pub(crate) struct NewTerms {
    /// The first number that is not of the dictionary.
    first: Term,
    terms: Dictionary,
    /// By reader: the numbers of the terms that it found, in its order.
    by_reader: Vec<Vec<Term>>,
}

impl NewTerms {
    pub(crate) fn new(dictionary: &Dictionary, readers: usize) -> Self {
        Self {
            first: dictionary.next_term(),
            terms: Dictionary::default(),
            by_reader: vec![Vec::new(); readers],
        }
    }

    /// How many terms there are with those of the dictionary.
    pub(crate) fn all_terms(&self) -> usize {
        // Both have the term of stop words.
        self.first as usize + self.terms.len() - 1
    }

    /// Adds terms that a reader found.
    pub(crate) fn add(&mut self, reader: usize, texts: &[Box<str>]) {
        for text in texts {
            let term = self.first - 1 + self.terms.find_or_add(text);
            self.by_reader[reader].push(term);
        }
    }

    /// The number of a term that a reader found.
    pub(crate) fn of(&self, reader: usize) -> impl Fn(Term) -> Term {
        let (first, terms) = (self.first, &*self.by_reader[reader]);
        move |term| {
            let new = term.checked_sub(first);
            new.map_or(term, |new| terms[new as usize])
        }
    }

    /// Adds all to the dictionary, with the words that the readers found.
    pub(crate) fn add_to(
        &self,
        dictionary: &mut Dictionary,
        near: &mut Near,
        words: impl IntoIterator<Item = NewWords>,
    ) {
        for text in self.terms.terms() {
            let term = dictionary.find_or_add(text);
            // A new term can be found by words that nearly are it.
            if dictionary.is_word(term) {
                near.insert(term, text);
            }
        }
        for (reader, words) in words.into_iter().enumerate() {
            let number_of = self.of(reader);
            for (text, known) in words.beside.words() {
                let key = known.key();
                if dictionary.find_text(key, text).is_none() {
                    dictionary.add_word(key, text, number_of(known.term), known.rows);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::for_each_word;

    /// The terms of the words of a text, which are added to the dictionary.
    fn terms(dictionary: &mut Dictionary, text: &str) -> Vec<String> {
        let (mut new, mut found) = (NewWords::default(), Vec::new());
        for_each_word(text, |word| {
            let known = dictionary.find_text(word.key, word.text);
            let term = match known {
                Some(known) => known.term,
                None => new.find_or_add(dictionary, word).term,
            };
            found.push(term);
            new.for_each_part(dictionary, word, |term| found.push(term));
        });
        let mut terms = NewTerms::new(dictionary, 1);
        terms.add(0, &new.terms_since_last_call());
        terms.add_to(dictionary, &mut Near::default(), [new]);
        let number_of = terms.of(0);
        let found = found.into_iter().filter(|&term| term != STOP_WORD);
        let text = |term: Term| dictionary.text(term).replace('\u{2}', "");
        found.map(number_of).map(text).collect()
    }

    #[test]
    fn words_with_one_stem_are_one_term() {
        let mut dictionary = Dictionary::default();
        let found = terms(&mut dictionary, "The deployments deployed: deploy them");
        assert_eq!(found, ["deploy", "deploy", "deploy"]);
        assert_eq!(dictionary.len(), 2, "with the term of stop words");
        let found = terms(&mut dictionary, "deploying deployed applications");
        assert_eq!(found, ["deploy", "deploy", "applic"]);
        assert_eq!(dictionary.len(), 3);
        assert_eq!(terms(&mut dictionary, "книгами книги"), ["книг", "книг"]);
    }

    #[test]
    fn other_scripts_have_parts() {
        let mut dictionary = Dictionary::default();
        let found = terms(&mut dictionary, "搜索码 שלום");
        assert_eq!(
            found,
            ["搜", "索", "码", "搜索", "索码", "שלום", "שלו", "לום"]
        );
        let term = dictionary.find("שלום").unwrap();
        assert!(dictionary.is_word(term) && !dictionary.is_word(1));
    }

    #[test]
    fn words_that_several_readers_found_are_added_once() {
        let mut dictionary = Dictionary::default();
        let read = |texts: &[&str]| {
            let mut new = NewWords::default();
            for text in texts {
                for_each_word(text, |word| {
                    new.find_or_add(&dictionary, word);
                });
            }
            new
        };
        let (mut one, mut two) = (
            read(&["emails", "the", "a"]),
            read(&["send email", "emails"]),
        );
        let mut terms = NewTerms::new(&dictionary, 2);
        terms.add(0, &one.terms_since_last_call());
        terms.add(1, &two.terms_since_last_call());
        assert!(one.terms_since_last_call().is_empty());
        assert_eq!(terms.by_reader, [vec![1], vec![2, 1]]);
        assert_eq!(terms.all_terms(), 3);
        terms.add_to(&mut dictionary, &mut Near::default(), [one, two]);
        let words: Vec<_> = dictionary.words_from("email").collect();
        assert_eq!(words.len(), 2, "{words:?}");
    }
}
