//! What the sources served at one moment, to compute the changes by the next.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;

use skills_core::{Change, PromptName, SkillId};

/// A fingerprint of every skill and prompt that was served at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    skills: HashMap<SkillId, u64>,
    prompts: HashMap<PromptName, u64>,
    folders: Vec<PathBuf>,
}

impl Snapshot {
    pub(crate) fn new(
        skills: impl Iterator<Item = (SkillId, u64)>,
        prompts: impl Iterator<Item = (PromptName, u64)>,
        folders: Vec<PathBuf>,
    ) -> Self {
        Self {
            skills: skills.collect(),
            prompts: prompts.collect(),
            folders,
        }
    }

    /// Adds what a source of lower precedence serves: an id that is already here stays.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, print) in other.skills {
            self.skills.entry(id).or_insert(print);
        }
        for (name, print) in other.prompts {
            self.prompts.entry(name).or_insert(print);
        }
        self.folders.extend(other.folders);
    }

    /// The folders to watch: those that were read, and roots that do not exist yet.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// What was added, changed or removed since `before`: skills, then prompts, each in
    /// order of their names.
    pub fn changes_since(&self, before: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for id in differing(&before.skills, &self.skills) {
            changes.push(if self.skills.contains_key(id) {
                Change::SkillRegistered(id.clone())
            } else {
                Change::SkillUnregistered(id.clone())
            });
        }
        for name in differing(&before.prompts, &self.prompts) {
            changes.push(if self.prompts.contains_key(name) {
                Change::PromptRegistered(name.clone())
            } else {
                Change::PromptUnregistered(name.clone())
            });
        }
        changes
    }
}

fn differing<'a, N: Eq + Hash + Ord>(
    before: &'a HashMap<N, u64>,
    after: &'a HashMap<N, u64>,
) -> Vec<&'a N> {
    let changed = after
        .iter()
        .filter(|(name, print)| before.get(*name) != Some(*print));
    let removed = before.iter().filter(|(name, _)| !after.contains_key(*name));
    let mut names: Vec<&N> = changed.chain(removed).map(|(name, _)| name).collect();
    names.sort();
    names
}
