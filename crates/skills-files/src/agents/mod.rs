//! `.3md` files as a source of the registry: the identity of an agent is the skill
//! `{agent}`, and each of its skills is `{agent}/{skill}`.

pub mod file;
mod skills;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Error, Listing, Pending, PromptName, PromptText, SkillId, Skipped, Source, SourcePrompt,
    SourceSkill,
};

pub use skills::{AgentSkill, AgentSkills};

use crate::file_set::{FileEntry, FileSet, ParsedFile, ParsedFiles, Unserved};
use crate::markdown::modified_at;
use crate::pattern::PatternMatches;
use crate::read_file::ReadFileError;
use crate::scan::{FoundFile, Limits, NOT_A_FILE, io_reason};
use crate::snapshot::{Snapshot, fingerprint};
use file::{DOCUMENT_MAX, ReadError};

/// Documents, each with the skills of one agent. A clone shares the cache.
#[derive(Clone, Debug)]
pub struct Agents(Arc<FileSet<Arc<AgentSkills>>>);

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

/// What is served from where, and what is not.
#[derive(Clone, Debug, Default)]
pub struct AgentsReport {
    /// Documents that are served.
    pub documents: Vec<LoadedAgent>,
    /// How much each pattern matches.
    pub patterns: Vec<PatternMatches>,
    /// Files that match a pattern and are not served, and patterns with a problem.
    pub skipped: Vec<Skipped>,
}

impl Agents {
    /// The documents that patterns match; relative patterns start at `base`.
    pub fn new(base: &Path, patterns: &[String]) -> Self {
        Self(Arc::new(FileSet::new(base, patterns, Limits::DEFAULT)))
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<AgentsReport, Error> {
        let listed = self.0.list().await?;
        let loaded = |file: &ParsedFile<Arc<AgentSkills>>| LoadedAgent {
            agent: file.entry.agent.to_string(),
            ids: file
                .entry
                .skills
                .iter()
                .map(|agent_skill| agent_skill.skill.id.to_string())
                .collect(),
            path: file.path.clone(),
            pattern: Arc::clone(&file.pattern),
            warnings: file.entry.warnings.clone(),
        };
        Ok(AgentsReport {
            documents: listed.files.iter().map(loaded).collect(),
            patterns: listed.matches.clone(),
            skipped: listed.skipped.clone(),
        })
    }

    /// What is served now.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let listed = self.0.list().await?;
        let skill = |AgentSkill { skill, body }: &AgentSkill| {
            let fingerprint = fingerprint((body, &skill.registered_at));
            (skill.id.clone(), fingerprint)
        };
        Ok(Snapshot::new(
            skills(&listed).map(skill),
            std::iter::empty(),
            listed.folders.clone(),
            listed.skipped.len(),
        ))
    }

    /// How often a pattern was walked.
    pub(crate) fn walks(&self) -> usize {
        self.0.walks()
    }
}

fn skills(listed: &ParsedFiles<Arc<AgentSkills>>) -> impl Iterator<Item = &AgentSkill> {
    listed.files.iter().flat_map(|file| &file.entry.skills)
}

impl Source for Agents {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async {
            let listed = self.0.list().await?;
            Ok(Listing {
                entries: skills(&listed).map(|entry| entry.skill.clone()).collect(),
                skipped: listed.skipped.clone(),
            })
        })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(async {
            let listed = self.0.list().await?;
            let found = skills(&listed).find(|entry| entry.skill.id == *id);
            Ok(found.map(|entry| Arc::clone(&entry.body)))
        })
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(std::future::ready(Ok(Listing::default())))
    }

    fn prompt<'a>(&'a self, _: &'a PromptName) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl FileEntry for Arc<AgentSkills> {
    const SUFFIX: &'static str = ".3md";
    const LISTING: &'static str = "list the agents";
    type Name = SkillId;

    fn read(found: &FoundFile) -> Result<Option<Self>, Unserved> {
        let document = match file::read(&found.path) {
            Ok(document) => document,
            Err(ReadError::Unreadable { cause, .. }) if cause.is_not_found() => return Ok(None),
            Err(error) => return Err(unserved(&error)),
        };
        if document.replaced {
            return Err("is not UTF-8; save it as UTF-8".to_owned().into());
        }
        let modified_at = modified_at(&document.metadata)?;
        let skills = AgentSkills::parse(&document.text, &modified_at)?;
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

fn unserved(error: &ReadError) -> Unserved {
    match error {
        ReadError::Unreadable { cause, .. } => match cause {
            ReadFileError::Io(error) => Unserved::Unreadable(io_reason(error)),
            _ => Unserved::Invalid(NOT_A_FILE.to_owned()),
        },
        ReadError::TooLarge { bytes } => Unserved::Invalid(format!(
            "is too large: {bytes} bytes, at most {DOCUMENT_MAX}; split it"
        )),
        ReadError::Extension(_) => Unserved::Invalid(error.to_string()),
    }
}
