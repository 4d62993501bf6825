//! Folders of markdown: each file that a pattern matches is a skill or a prompt, and a
//! `SKILL.md` makes its folder a skill.

mod content;
mod lookup;
mod prompt;
mod prompt_arguments;
mod skill;

use std::path::PathBuf;
use std::sync::Arc;

use skills_core::{SkillFolder, Skipped};

use crate::file_set::{ParsedFile, ParsedFiles};
use crate::pattern::PatternMatches;

pub(crate) use content::{FILE_MAX, read_text};
pub(crate) use lookup::{BodyResult, SkillPlace, read_body};
pub(crate) use prompt::PromptFile;
pub(crate) use skill::{SkillFile, file_id, folder_id};

/// A file that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// The id of the skill or the name of the prompt.
    pub name: String,
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// What its author should correct, and how.
    pub warnings: Vec<String>,
    /// The folder of a skill that is one.
    pub folder: Option<Arc<SkillFolder>>,
}

/// Which markdown files are served, and which are not.
#[derive(Clone, Debug, Default)]
pub struct FolderReport {
    /// Files that are skills.
    pub skills: Vec<LoadedFile>,
    /// Files that are prompts.
    pub prompts: Vec<LoadedFile>,
    /// How much each pattern for skills matches.
    pub skill_patterns: Vec<PatternMatches>,
    /// How much each pattern for prompts matches.
    pub prompt_patterns: Vec<PatternMatches>,
    /// Files that match a pattern and cannot be served, and patterns with a problem.
    pub skipped: Vec<Skipped>,
}

impl LoadedFile {
    fn new<E>(file: &ParsedFile<E>, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            path: file.path.clone(),
            pattern: Arc::clone(&file.pattern),
            warnings: Vec::new(),
            folder: None,
        }
    }
}

impl FolderReport {
    pub(crate) fn new(skills: &ParsedFiles<SkillFile>, prompts: &ParsedFiles<PromptFile>) -> Self {
        let skill = |file: &ParsedFile<SkillFile>| LoadedFile {
            warnings: file.entry.all_warnings(),
            folder: file.entry.skill.folder.clone(),
            ..LoadedFile::new(file, file.entry.skill.id.as_str())
        };
        let prompt = |file: &ParsedFile<PromptFile>| LoadedFile {
            warnings: file.entry.warnings.to_vec(),
            ..LoadedFile::new(file, file.entry.prompt.name.as_str())
        };
        Self {
            skills: skills.files.iter().map(skill).collect(),
            prompts: prompts.files.iter().map(prompt).collect(),
            skill_patterns: skills.matches.clone(),
            prompt_patterns: prompts.matches.clone(),
            skipped: [&*skills.skipped, &*prompts.skipped].concat(),
        }
    }
}
