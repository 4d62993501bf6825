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

    /// Adds them to the dictionary, which may have grown since they were looked up in it. `first`:
    /// its next term at that time.
    pub(crate) fn add_to(
        self,
        dictionary: &mut Dictionary,
        near: &mut Near,
        first: Term,
    ) -> NewTerms {
        let mut new_terms = NewTerms {
            first,
            terms: Vec::new(),
        };
        for text in self.beside.terms() {
            let next = dictionary.next_term();
            let term = dictionary.find_or_add(text);
            new_terms.terms.push(term);
            // A new term can be found by words that nearly are it.
            if term == next && dictionary.is_word(term) {
                near.insert(term, text);
            }
        }
        for (text, known) in self.beside.words() {
            let key = known.key();
            if dictionary.find_text(key, text).is_none() {
                let term = new_terms.of(known.term);
                dictionary.add_word(key, text, term, known.rows);
            }
        }
        new_terms
    }
}

/// The terms that a dictionary gave to new terms.
pub(crate) struct NewTerms {
    /// The first number that was not of the dictionary.
    first: Term,
    terms: Vec<Term>,
}

impl NewTerms {
    /// The term of the dictionary for one that was found beside it.
    #[inline]
    pub(crate) fn of(&self, term: Term) -> Term {
        let new = term.checked_sub(self.first);
        new.map_or(term, |new| self.terms[new as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::for_each_word;

    /// The terms of the words of a text, which are added to the dictionary.
    fn terms(dictionary: &mut Dictionary, text: &str) -> Vec<String> {
        let (mut new, mut found) = (NewWords::default(), Vec::new());
        let first = dictionary.next_term();
        for_each_word(text, |word| {
            let known = dictionary.find_text(word.key, word.text);
            let term = match known {
                Some(known) => known.term,
                None => new.find_or_add(dictionary, word).term,
            };
            found.push(term);
            new.for_each_part(dictionary, word, |term| found.push(term));
        });
        let added = new.add_to(dictionary, &mut Near::default(), first);
        let found = found.into_iter().filter(|&term| term != STOP_WORD);
        let text = |term: Term| dictionary.text(term).replace('\u{2}', "");
        found.map(|term| added.of(term)).map(text).collect()
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
    fn words_that_others_added_meanwhile_are_not_added_again() {
        let mut dictionary = Dictionary::default();
        let first = dictionary.next_term();
        let read = |texts: &[&str]| {
            let mut new = NewWords::default();
            for text in texts {
                for_each_word(text, |word| {
                    new.find_or_add(&dictionary, word);
                });
            }
            new
        };
        let (one, two) = (
            read(&["emails", "the", "a"]),
            read(&["send email", "emails"]),
        );
        let mut near = Near::default();
        assert_eq!(one.add_to(&mut dictionary, &mut near, first).terms, [1]);
        assert_eq!(two.add_to(&mut dictionary, &mut near, first).terms, [2, 1]);
        let words: Vec<_> = dictionary.words_from("email").collect();
        assert_eq!(words.len(), 2, "{words:?}");
    }
}
