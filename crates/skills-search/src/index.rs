//! The index: documents are added, replaced and removed one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice;

use crate::dictionary::Dictionary;
use crate::document::{Document, Group};
use crate::documents::Documents;
use crate::near::Near;
use crate::new_words::NewTerms;
use crate::reading::Reader;
use crate::threads::{Piece, read_all, threads_for};
use crate::weights::Weights;

/// Documents by the words they contain and by what they mean.
#[derive(Default)]
pub struct Index {
    pub(crate) weights: Weights,
    /// The words and terms of the documents.
    pub(crate) dictionary: Dictionary,
    pub(crate) near: Near,
    pub(crate) documents: Documents,
    /// One for each thread.
    readers: Vec<Reader>,
}

impl Index {
    /// An index with other weights.
    pub fn with_weights(weights: Weights) -> Self {
        Self {
            weights,
            ..Self::default()
        }
    }

    /// How many documents it has.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether it has no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has a document.
    pub fn contains(&self, group: Group, id: &str) -> bool {
        self.documents.slot(group, id).is_some()
    }

    /// Adds a document, or replaces the one with its group and id.
    pub fn insert(&mut self, document: &Document<'_>) {
        self.insert_all(slice::from_ref(document));
    }

    /// The same for several documents, in order. Many are read on several threads.
    pub fn insert_all(&mut self, documents: &[Document<'_>]) {
        match threads_for(documents.len()) {
            // The words of one document are known to the next one.
            1 => documents.chunks(1).for_each(|one| self.insert_on(1, one)),
            threads => self.insert_on(threads, documents),
        }
    }

    fn insert_on(&mut self, threads: usize, documents: &[Document<'_>]) {
        let Self {
            weights,
            dictionary,
            near,
            documents: stored,
            readers,
        } = self;
        if readers.len() < threads {
            readers.resize_with(threads, Reader::default);
        }
        let readers = &mut readers[..threads];
        let mut new_terms = NewTerms::new(dictionary, threads);
        let store = |piece: &Piece<'_>| {
            new_terms.add(piece.reader, &piece.new_terms);
            stored.reserve_terms(new_terms.all_terms());
            let number_of = new_terms.of(piece.reader);
            for (document, reading) in piece.documents.iter().zip(&piece.readings) {
                stored.insert(document, reading, &number_of);
            }
        };
        let read = || read_all(readers, dictionary, documents, weights.vector_body, store);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(read)) {
            // The stored documents have these terms. The readers may have words of the document that
            // was being read.
            new_terms.add_to(dictionary, near, []);
            self.readers.clear();
            resume_unwind(panic);
        }
        let words = readers.iter_mut().map(Reader::take_new);
        new_terms.add_to(dictionary, near, words);
    }

    /// Removes a document. Returns whether there was one.
    pub fn remove(&mut self, group: Group, id: &str) -> bool {
        self.documents.remove(group, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    fn bodies() -> Vec<String> {
        let body = |n: usize| {
            let words = (0..40).map(|at| format!("word{} ", (n * 7 + at * at) % 211));
            format!("# Skill {n}\n\n{}", words.collect::<String>())
        };
        (0..300).map(body).collect()
    }

    fn documents<'a>(ids: &'a [String], bodies: &'a [String]) -> Vec<Document<'a>> {
        let document = |(id, body): (&'a String, &'a String)| Document {
            id,
            body,
            ..Document::default()
        };
        ids.iter().zip(bodies).map(document).collect()
    }

    /// More threads than there are processors, so that documents are read in any order.
    #[test]
    fn an_index_does_not_depend_on_the_number_of_threads() {
        let bodies = bodies();
        let ids: Vec<String> = (0..bodies.len()).map(|n| format!("skill-{n}")).collect();
        let documents = documents(&ids, &bodies);
        let index_on = |threads| {
            let mut index = Index::default();
            for some in documents.chunks(100) {
                index.insert_on(threads, some);
            }
            index
        };
        let one = index_on(1);
        for threads in [2, 3, 4, 8] {
            let many = index_on(threads);
            assert_eq!(many.len(), one.len());
            for request in ["word3 word77", "skill 12", "word210 word1 word5"] {
                let ranked = |index: &Index| format!("{:?}", index.rank(&Request::new(request)));
                assert_eq!(ranked(&many), ranked(&one), "{threads} threads: {request}");
            }
        }
    }
}
