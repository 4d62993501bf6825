//! How the bytes in queues are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::message::Message;

/// The bytes that may wait in several queues together.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<(usize, AtomicUsize)>);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new((bytes, AtomicUsize::new(0))))
    }

    /// Takes bytes if there are as many. A larger message still fits an unused budget.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let (max, used) = &*self.0;
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            let all = used.saturating_add(bytes);
            (used == 0 || all <= *max).then_some(all)
        })
        .is_ok()
    }

    /// Takes bytes, also if there are fewer.
    pub(super) fn take_always(&self, bytes: usize) {
        self.0.1.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.0.1.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes of all messages, and of the replies among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) all: usize,
    pub(super) replies: usize,
}

impl Bytes {
    pub(super) fn of(message: &Message) -> Self {
        let all = message.weight();
        let replies = if message.is_reply() { all } else { 0 };
        Self { all, replies }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all.saturating_add(other.all),
            replies: self.replies.saturating_add(other.replies),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            all: self.all - other.all,
            replies: self.replies - other.replies,
        }
    }
}
