//! What the sources served at one moment, to compute the changes by the next.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use skills_core::{Change, PromptName, SkillId};

/// A fingerprint of every skill and prompt that was served at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(crate) served: BTreeMap<ServedName, u64>,
    /// The folders to watch: those that were read, and roots that do not exist yet.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) skipped_skills: usize,
    /// What is not served, and why, by place.
    pub(crate) skipped: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ServedName {
    Skill(SkillId),
    Prompt(PromptName),
}

impl Snapshot {
    /// The ids of the skills that were served.
    pub fn skills(&self) -> impl Iterator<Item = &SkillId> {
        self.served.keys().filter_map(|name| match name {
            ServedName::Skill(id) => Some(id),
            ServedName::Prompt(_) => None,
        })
    }

    /// The names of the prompts that were served.
    pub fn prompts(&self) -> impl Iterator<Item = &PromptName> {
        self.served.keys().filter_map(|name| match name {
            ServedName::Prompt(name) => Some(name),
            ServedName::Skill(_) => None,
        })
    }

    /// How many files and patterns for skills were skipped.
    pub const fn skipped(&self) -> usize {
        self.skipped_skills
    }

    /// The files that are not served now and were served, absent, or skipped for another reason
    /// `before`: each with its path and the reason.
    pub(crate) fn newly_skipped(&self, before: &Self) -> Vec<(String, String)> {
        let skipped = self.skipped.iter();
        let new = skipped.filter(|(place, reason)| before.skipped.get(*place) != Some(*reason));
        new.map(|(place, reason)| (place.clone(), reason.clone()))
            .collect()
    }

    /// What was added or changed since `before`, then what was removed; each skills first,
    /// in order of their names.
    pub fn changes_since(&self, before: &Self) -> Vec<Change> {
        let is_new = |(name, print): &(&ServedName, &u64)| before.served.get(name) != Some(print);
        let changed = self.served.iter().filter(is_new);
        let is_removed = |name: &&ServedName| !self.served.contains_key(name);
        let removed = before.served.keys().filter(is_removed);
        let changed = changed.map(|(name, _)| match name.clone() {
            ServedName::Skill(id) => Change::SkillRegistered(id),
            ServedName::Prompt(name) => Change::PromptRegistered(name),
        });
        let removed = removed.map(|name| match name.clone() {
            ServedName::Skill(id) => Change::SkillUnregistered(id),
            ServedName::Prompt(name) => Change::PromptUnregistered(name),
        });
        changed.chain(removed).collect()
    }
}

/// A hash that changes with `value`.
pub(crate) fn fingerprint(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
