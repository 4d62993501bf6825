//! `.3md` documents: the identity of an agent is the skill `{agent}`, and each of its
//! skills is `{agent}/{skill}`.

pub mod file;
mod skills;

use std::path::PathBuf;
use std::sync::Arc;

use skills_core::{SkillId, Skipped};

use crate::file_set::{FileEntry, ParsedFile, ParsedFiles};
use crate::limits::DOCUMENT_MAX;
use crate::pattern::PatternMatches;
use crate::scan::FoundFile;
use crate::text_file::{TextFile, Unserved};

pub use skills::{AgentSkill, AgentSkills};

/// Shared, because a listing clones every entry and a document holds all bodies.
pub(crate) type AgentFile = Arc<AgentSkills>;

/// A document that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedAgent {
    /// The id of the agent.
    pub agent: String,
    /// The ids it serves, its own first.
    pub ids: Vec<String>,
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// The warnings of the validator.
    pub warnings: Vec<String>,
}

/// Which documents are served, and which are not.
#[derive(Clone, Debug, Default)]
pub struct AgentsReport {
    /// Documents that are served.
    pub documents: Vec<LoadedAgent>,
    /// How much each pattern matches.
    pub patterns: Vec<PatternMatches>,
    /// Files that match a pattern and are not served, and patterns with a problem.
    pub skipped: Vec<Skipped>,
}

impl AgentsReport {
    pub(crate) fn new(listed: &ParsedFiles<AgentFile>) -> Self {
        let loaded = |file: &ParsedFile<AgentFile>| {
            let skills = file.entry.skills.iter();
            LoadedAgent {
                agent: file.entry.agent.to_string(),
                ids: skills.map(|entry| entry.skill.id.to_string()).collect(),
                path: file.path.clone(),
                pattern: Arc::clone(&file.pattern),
                warnings: file.entry.warnings.clone(),
            }
        };
        Self {
            documents: listed.files.iter().map(loaded).collect(),
            patterns: listed.matches.clone(),
            skipped: listed.skipped.clone(),
        }
    }
}

impl FileEntry for AgentFile {
    const SUFFIX: &'static str = ".3md";
    const LISTING: &'static str = "list the agents";
    type Name = SkillId;

    fn read(found: &FoundFile, _: Option<&Self>) -> Result<Option<Self>, Unserved> {
        let Some(file) = TextFile::read(found.real_path(), DOCUMENT_MAX, DOCUMENT_MAX)? else {
            return Ok(None);
        };
        let skills = AgentSkills::parse(&file.text, &file.modified_at)?;
        Ok(Some(Self::new(skills)))
    }

    fn name(&self) -> &SkillId {
        &self.agent
    }

    /// Two documents of one agent are not merged: a link in one must not lead into the
    /// other.
    fn duplicate_reason(&self, first: &str) -> String {
        let agent = &self.agent;
        format!("is the agent `{agent}` that {first} is already; rename one")
    }

    fn skipped_parts(&self) -> &[String] {
        &self.skipped
    }
}
