//! Reading many documents, on several threads. What is read does not depend on how many there are:
//! each looks words up in the same dictionary, which does not change meanwhile.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, Builder, available_parallelism};

use crate::dictionary::Dictionary;
use crate::document::Document;
use crate::reading::{Reader, Reading};

/// More threads would wait for the one that stores what they read.
const THREADS_MAX: usize = 4;

/// Fewer documents for a thread would take less time than to start it.
const DOCUMENTS_MIN: usize = 16;

/// Documents that a thread takes at once: few, so that all threads end at nearly the same time.
const AT_ONCE: usize = 4;

/// Some documents that were read.
pub(crate) struct Piece<'a> {
    pub documents: &'a [Document<'a>],
    pub readings: Vec<Reading>,
    /// The number of their reader.
    pub reader: usize,
    /// The terms that the reader did not have before.
    pub new_terms: Vec<Box<str>>,
    /// Where the first one is.
    at: usize,
}

/// How many threads read so many documents.
pub(crate) fn threads_for(documents: usize) -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let threads = || available_parallelism().map_or(1, usize::from);
    let most = documents / DOCUMENTS_MIN;
    match most {
        0 | 1 => 1,
        most => most.min(*THREADS.get_or_init(threads)).min(THREADS_MAX),
    }
}

/// Reads documents, with each reader on a thread, and visits them in their order on this thread,
/// which reads with the first reader when nothing is to be visited.
pub(crate) fn read_all<'a>(
    readers: &mut [Reader],
    dictionary: &Dictionary,
    documents: &'a [Document<'a>],
    body_weight: f32,
    mut visit: impl FnMut(&Piece<'a>),
) {
    let next = AtomicUsize::new(0);
    let read_next = |number: usize, reader: &mut Reader| {
        let at = next.fetch_add(AT_ONCE, Ordering::Relaxed);
        let documents = documents.get(at..).filter(|rest| !rest.is_empty())?;
        let documents = &documents[..documents.len().min(AT_ONCE)];
        let read = |document| reader.read(dictionary, document, body_weight);
        Some(Piece {
            documents,
            readings: documents.iter().map(read).collect(),
            reader: number,
            new_terms: reader.terms_since_last_call(),
            at,
        })
    };
    let Some((own, others)) = readers.split_first_mut() else {
        return;
    };
    if others.is_empty() {
        while let Some(piece) = read_next(0, own) {
            visit(&piece);
        }
        return;
    }
    thread::scope(|scope| {
        let (sender, pieces) = channel();
        for (number, reader) in (1..).zip(others) {
            let sender = sender.clone();
            let read = move || {
                while let Some(piece) = read_next(number, reader)
                    && sender.send(piece).is_ok()
                {}
            };
            // Without one that the system has no thread for: the others read all.
            let _ = Builder::new().spawn_scoped(scope, read);
        }
        drop(sender);
        let (mut waiting, mut visited) = (BTreeMap::new(), 0);
        loop {
            waiting.extend(pieces.try_iter().map(|piece| (piece.at, piece)));
            if let Some(piece) = waiting.remove(&visited) {
                visited += piece.documents.len();
                visit(&piece);
                continue;
            }
            let piece = read_next(0, own).or_else(|| pieces.recv().ok());
            let Some(piece) = piece else { break };
            waiting.insert(piece.at, piece);
        }
    });
}
