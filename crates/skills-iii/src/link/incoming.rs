//! The bytes of messages that have not arrived completely.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::MIN_INCOMING_BYTES;
use crate::queue::Budget;

/// The message that one connection receives. Atomics, because a connection may move between
/// threads.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    budget: Budget,
    bytes: AtomicUsize,
    taken: AtomicUsize,
}

impl Incoming {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            bytes: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    /// Counts received bytes. False if too many bytes of other large messages are in memory.
    pub(super) fn add(&self, bytes: usize) -> bool {
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        self.bytes.store(bytes, Ordering::Relaxed);
        let taken = self.taken.load(Ordering::Relaxed);
        let more = bytes.saturating_sub(MIN_INCOMING_BYTES + taken);
        if more == 0 {
            return true;
        }
        let fits = self.budget.take(more);
        if fits {
            self.taken.store(taken + more, Ordering::Relaxed);
        }
        fits
    }

    /// The message is complete.
    pub(super) fn complete(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        if self.taken.load(Ordering::Relaxed) > 0 {
            self.budget.give_back(self.taken.swap(0, Ordering::Relaxed));
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.complete();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_share_a_budget_and_small_ones_need_none() {
        let budget = Budget::new(10);
        let (one, other) = (Incoming::new(budget.clone()), Incoming::new(budget));
        assert!(one.add(MIN_INCOMING_BYTES + 4) && one.add(4));
        assert!(other.add(MIN_INCOMING_BYTES));
        assert!(!other.add(4));
        other.complete();
        assert!(other.add(MIN_INCOMING_BYTES + 2));
        drop(one);
        assert!(other.add(8));
    }
}
