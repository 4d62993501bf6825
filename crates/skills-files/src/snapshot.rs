//! What the sources served at one moment, to compute the changes by the next.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use skills_core::{Change, PromptName, SkillId};

/// A fingerprint of every skill and prompt that was served at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    skills: HashMap<SkillId, u64>,
    prompts: HashMap<PromptName, u64>,
    folders: Vec<PathBuf>,
    skipped: usize,
}

impl Snapshot {
    pub(crate) fn new(
        skills: impl Iterator<Item = (SkillId, u64)>,
        prompts: impl Iterator<Item = (PromptName, u64)>,
        folders: Vec<PathBuf>,
        skipped: usize,
    ) -> Self {
        Self {
            skills: skills.collect(),
            prompts: prompts.collect(),
            folders,
            skipped,
        }
    }

    /// Adds what a source of lower precedence serves: an id that is already here stays.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, fingerprint) in other.skills {
            self.skills.entry(id).or_insert(fingerprint);
        }
        for (name, fingerprint) in other.prompts {
            self.prompts.entry(name).or_insert(fingerprint);
        }
        self.folders.extend(other.folders);
        self.skipped += other.skipped;
    }

    /// The ids of the skills that were served.
    pub fn skills(&self) -> impl Iterator<Item = &SkillId> {
        self.skills.keys()
    }

    /// How many files and patterns for skills were skipped.
    pub const fn skipped(&self) -> usize {
        self.skipped
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

/// A hash that changes with `value`.
pub fn fingerprint(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn differing<'a, N: Eq + Hash + Ord>(
    before: &'a HashMap<N, u64>,
    after: &'a HashMap<N, u64>,
) -> Vec<&'a N> {
    let changed = after
        .iter()
        .filter(|(name, fingerprint)| before.get(*name) != Some(*fingerprint));
    let removed = before.iter().filter(|(name, _)| !after.contains_key(*name));
    let mut names: Vec<&N> = changed.chain(removed).map(|(name, _)| name).collect();
    names.sort();
    names
}
