//! The word that a beginning stands for, for a search while it is typed.

use std::cmp::Reverse;

use crate::index::Index;
use crate::words::for_each_word;

/// Shorter beginnings fit too many words.
const LETTERS_MIN: usize = 2;

impl Index {
    /// The word of the documents that the last word of `text` is the beginning of; of several the
    /// one that most documents have, then the first in byte order. None if the text does not end
    /// in a word, or if documents have that word itself.
    pub fn completion(&self, text: &str) -> Option<&str> {
        if !text.ends_with(char::is_alphanumeric) {
            return None;
        }
        let mut last = String::new();
        for_each_word(text, |word| {
            if !word.joined {
                word.text.clone_into(&mut last);
            }
        });
        if last.chars().count() < LETTERS_MIN {
            return None;
        }
        let documents = |term| self.documents.postings[term as usize].live();
        let words = self.dictionary.words_from(&last);
        let words = words.filter(|&(_, term)| documents(term) > 0);
        let best =
            words.min_by_key(|&(word, term)| (*word != last, Reverse(documents(term)), word));
        best.map(|(word, _)| word).filter(|word| *word != last)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Index};

    #[test]
    fn a_beginning_stands_for_the_most_frequent_word() {
        let mut index = Index::default();
        for (id, title) in [("a", "Emails"), ("b", "Emails"), ("c", "Emacs mail")] {
            let document = Document {
                id,
                title,
                ..Document::default()
            };
            index.insert(&document);
        }
        for (text, expected) in [
            ("send ema", Some("emails")),
            ("Emac", Some("emacs")),
            ("mail", None),
            ("mai", Some("mail")),
            ("e", None),
            ("ema ", None),
            ("", None),
            ("zz", None),
        ] {
            assert_eq!(index.completion(text), expected, "for {text:?}");
        }
        index.remove(0, "c");
        assert_eq!(index.completion("emac"), None);
    }
}
