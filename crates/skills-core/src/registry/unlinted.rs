//! Registered skills whose findings are not logged yet.
//!
//! A check takes longer than the registration itself, and only the log waits for it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::Registry;
use crate::SkillId;

/// The skills to check; none in a process that checks them before they are registered.
// A std mutex: nothing awaits while it is held.
#[derive(Default)]
pub(super) struct Unlinted(Mutex<Option<HashSet<SkillId>>>);

impl Unlinted {
    fn with<R>(&self, use_ids: impl FnOnce(&mut Option<HashSet<SkillId>>) -> R) -> R {
        use_ids(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Registry {
    /// From now on something calls [`take_unlinted`](Self::take_unlinted) again and again.
    pub fn defer_lint(&self) {
        self.unlinted.with(|ids| {
            ids.get_or_insert_default();
        });
    }

    /// Notes that a skill is to be checked; false if nothing does that later.
    pub fn lint_later(&self, id: &SkillId) -> bool {
        self.unlinted.with(|ids| match ids {
            Some(ids) => {
                if !ids.contains(id) {
                    ids.insert(id.clone());
                }
                true
            }
            None => false,
        })
    }

    /// The skills that were noted since the last call, each once.
    pub fn take_unlinted(&self) -> Vec<SkillId> {
        self.unlinted
            .with(|ids| ids.as_mut().map(|ids| ids.drain().collect()))
            .unwrap_or_default()
    }
}
