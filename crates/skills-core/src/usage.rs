//! How often each skill was offered, routed to and fetched, since the counts were last written.
//!
//! Requests only add to numbers in memory. No text of a request is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::lock::Mutex as AsyncMutex;
use serde::{Deserialize, Serialize};

use crate::limits::MAX_COUNTED_SKILLS;

/// How often a skill was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct UsageCounts {
    /// It was among the matches of a search or of a route.
    pub offered: u64,
    /// It was the first match of a route.
    pub routed: u64,
    /// Its body was read.
    pub fetched: u64,
}

impl UsageCounts {
    /// Whether no route led to it and nothing read it.
    pub fn is_unused(&self) -> bool {
        self.routed == 0 && self.fetched == 0
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.offered = self.offered.saturating_add(other.offered);
        self.routed = self.routed.saturating_add(other.routed);
        self.fetched = self.fetched.saturating_add(other.fetched);
    }
}

/// The counts that are not written yet.
pub(crate) struct Usage {
    pub is_counted: bool,
    /// The scope of state that has the totals.
    pub scope: String,
    // A std mutex: it is never held across an await.
    pending: Mutex<HashMap<Arc<str>, UsageCounts>>,
    /// One writer at a time; a reader waits for it, so that no count is missing.
    pub writing: AsyncMutex<()>,
}

impl Usage {
    pub(crate) fn new(is_counted: bool, scope: String) -> Self {
        Self {
            is_counted,
            scope,
            pending: Mutex::default(),
            writing: AsyncMutex::new(()),
        }
    }

    /// Skills were offered.
    pub(crate) fn offered<'a>(&self, ids: impl Iterator<Item = &'a Arc<str>>) {
        self.count(ids, |counts| counts.offered += 1);
    }

    /// A request was routed to a skill.
    pub(crate) fn routed<'a>(&self, id: impl Iterator<Item = &'a Arc<str>>) {
        self.count(id, |counts| counts.routed += 1);
    }

    /// The body of a skill was read.
    pub(crate) fn fetched(&self, id: &Arc<str>) {
        self.count(std::iter::once(id), |counts| counts.fetched += 1);
    }

    fn count<'a>(&self, ids: impl Iterator<Item = &'a Arc<str>>, add: impl Fn(&mut UsageCounts)) {
        if !self.is_counted {
            return;
        }
        let mut pending = self.pending();
        for id in ids {
            if pending.len() < MAX_COUNTED_SKILLS || pending.contains_key(id) {
                add(pending.entry(Arc::clone(id)).or_default());
            }
        }
    }

    /// Takes everything that is not written.
    pub(crate) fn take(&self) -> Vec<(Arc<str>, UsageCounts)> {
        std::mem::take(&mut *self.pending()).into_iter().collect()
    }

    /// What could not be written is kept for the next time.
    pub(crate) fn put_back(&self, id: Arc<str>, counts: UsageCounts) {
        self.pending().entry(id).or_default().add(counts);
    }

    /// What is not written.
    pub(crate) fn unwritten(&self) -> HashMap<Arc<str>, UsageCounts> {
        self.pending().clone()
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<Arc<str>, UsageCounts>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
