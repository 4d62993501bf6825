//! Calls that a worker made and that have no result yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::session::Session;

/// How many calls a worker has open.
#[derive(Debug)]
pub(super) struct OpenCalls {
    pub(super) max: usize,
    count: AtomicUsize,
    /// Set with half of the calls that are allowed, cleared with a quarter.
    many: AtomicBool,
}

impl OpenCalls {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            count: AtomicUsize::new(0),
            many: AtomicBool::new(false),
        }
    }

    /// Whether there are so many that the worker should wait for results.
    pub(super) fn are_many(&self) -> bool {
        self.many.load(Ordering::Relaxed)
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= self.max
    }
}

/// One of them.
#[derive(Debug)]
pub(super) struct OpenCall(pub(super) Arc<Session>);

impl OpenCall {
    pub(super) fn new(of: &Arc<Session>) -> Self {
        let OpenCalls { max, count, many } = &of.open_calls;
        if count.fetch_add(1, Ordering::Relaxed) + 1 >= max / 2 {
            many.store(true, Ordering::Relaxed);
            // Results may have come in between.
            if count.load(Ordering::Relaxed) <= max / 4 {
                many.store(false, Ordering::Relaxed);
            }
        }
        Self(Arc::clone(of))
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let OpenCalls { max, count, many } = &self.0.open_calls;
        let left = count.fetch_sub(1, Ordering::Relaxed) - 1;
        if left == max / 4 && many.swap(false, Ordering::Relaxed) {
            self.0.wake();
        }
    }
}
