//! Reading many documents, on several threads. What is read does not depend on how many there are:
//! each looks words up in the same dictionary, which does not change meanwhile.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{self, Builder, available_parallelism};

use crate::dictionary::Dictionary;
use crate::document::Document;
use crate::new_words::NewWords;
use crate::reading::{Reader, Reading};

/// More threads would wait for the one that stores what they read.
const THREADS_MAX: usize = 4;

/// Fewer documents for a thread would take less time than to start it.
const DOCUMENTS_MIN: usize = 16;

/// Documents that a thread reads before they are stored: many enough for the time to start it, few
/// enough for what was read to stay in the cache.
const DOCUMENTS_MAX: usize = 128;

/// Some documents that were read, and the words that the dictionary did not have.
pub(crate) struct Piece {
    pub readings: Vec<Reading>,
    pub new: NewWords,
}

/// How many of so many documents to read before they are stored.
pub(crate) fn documents_at_once(documents: usize) -> usize {
    match threads_for(documents) {
        1 => 1,
        threads => threads * DOCUMENTS_MAX,
    }
}

/// Reads documents, the first ones on this thread.
pub(crate) fn read_all(
    reader: &mut Reader,
    dictionary: &Dictionary,
    documents: &[Document<'_>],
    body_weight: f32,
) -> Vec<Piece> {
    let size = documents.len().div_ceil(threads_for(documents.len()));
    let (own, others) = documents.split_at(size.min(documents.len()));
    let read = |reader: &mut Reader, documents: &[Document<'_>]| {
        let read = |document| reader.read(dictionary, document, body_weight);
        let readings = documents.iter().map(read).collect();
        let new = reader.take_new();
        Piece { readings, new }
    };
    thread::scope(|scope| {
        let start = |documents| {
            let read = move || read(&mut Reader::default(), documents);
            (documents, Builder::new().spawn_scoped(scope, read))
        };
        let threads: Vec<_> = others.chunks(size.max(1)).map(start).collect();
        let mut pieces = vec![read(reader, own)];
        for (documents, thread) in threads {
            pieces.push(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no more threads.
                Err(_) => read(reader, documents),
            });
        }
        pieces
    })
}

fn threads_for(documents: usize) -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let threads = || available_parallelism().map_or(1, usize::from);
    let most = documents / DOCUMENTS_MIN;
    match most {
        0 | 1 => 1,
        most => most.min(*THREADS.get_or_init(threads)).min(THREADS_MAX),
    }
}
