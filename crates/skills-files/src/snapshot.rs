//! What the files served at one moment, to tell what changed by the next.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;

use skills_core::{PromptName, SkillId, SourcePrompt, SourceSkill};

use super::library::{File, Files};

/// What was served at one moment: of every document, what tells a change.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    skills: HashMap<SkillId, u64>,
    prompts: HashMap<PromptName, u64>,
    /// Where a change could come from.
    pub folders: Vec<PathBuf>,
}

/// What came, changed or went between two moments, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Ids of skills.
    pub skills: Vec<SkillId>,
    /// Names of prompts.
    pub prompts: Vec<PromptName>,
}

impl Snapshot {
    pub(super) fn of(skills: &Files<SourceSkill>, prompts: &Files<SourcePrompt>) -> Self {
        Self {
            skills: prints(&skills.entries, |skill| &skill.id),
            prompts: prints(&prompts.entries, |prompt| &prompt.name),
            folders: [&*skills.folders, &*prompts.folders].concat(),
        }
    }

    /// Skills, each with what tells a change, and where a change could come from.
    pub(crate) fn of_skills(
        skills: impl Iterator<Item = (SkillId, u64)>,
        folders: Vec<PathBuf>,
    ) -> Self {
        Self {
            skills: skills.collect(),
            prompts: HashMap::new(),
            folders,
        }
    }

    /// Whether a file is this skill.
    pub fn has_skill(&self, id: &SkillId) -> bool {
        self.skills.contains_key(id)
    }

    /// Whether a file is this prompt.
    pub fn has_prompt(&self, name: &PromptName) -> bool {
        self.prompts.contains_key(name)
    }

    /// What is not as it was `before`.
    pub fn since(&self, before: &Self) -> Changed {
        Changed {
            skills: differing(&before.skills, &self.skills),
            prompts: differing(&before.prompts, &self.prompts),
        }
    }
}

fn prints<T, N: Clone + Eq + Hash>(files: &[File<T>], name: impl Fn(&T) -> &N) -> HashMap<N, u64> {
    let print = |file: &File<T>| (name(&file.part.entry).clone(), file.part.print);
    files.iter().map(print).collect()
}

fn differing<N: Clone + Eq + Hash + Ord>(a: &HashMap<N, u64>, b: &HashMap<N, u64>) -> Vec<N> {
    let changed = b
        .iter()
        .filter(|(name, print)| a.get(*name) != Some(*print));
    let gone = a.iter().filter(|(name, _)| !b.contains_key(*name));
    let mut names: Vec<N> = changed.chain(gone).map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}
