//! `.3md` files as a source of the registry: the identity of an agent is the skill `{agent}`, each
//! of its skills is `{agent}/{skill}`.
//!
//! The disk is the truth: every call walks and reads. What matches a pattern and cannot be served
//! is reported with its path and a reason. Knows no surface and no engine; how files are found is
//! [`crate::Folder`]'s business.

pub mod file;
mod library;
mod skills;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Error, Listing, Pending, PromptName, PromptText, SkillId, Skipped, Source, SourcePrompt,
    SourceSkill,
};

use library::Library;
pub use skills::{AgentSkill, AgentSkills};

use crate::blocking::run_blocking;
use crate::pattern::PatternMatches;
use crate::snapshot::Snapshot;

/// Documents, each the skills of one agent.
#[derive(Clone, Debug)]
pub struct Agents(Arc<Library>);

/// A document that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedAgent {
    /// The id of the agent.
    pub agent: String,
    /// The ids it serves, its own first.
    pub ids: Vec<String>,
    /// The file, from the root of the disk.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// What the validator says of it, short of errors.
    pub warnings: Vec<String>,
}

/// How the documents are doing.
#[derive(Clone, Debug, Default)]
pub struct AgentsReport {
    /// Documents that are served.
    pub documents: Vec<LoadedAgent>,
    /// How much each pattern matches.
    pub patterns: Vec<PatternMatches>,
    /// What matches a pattern and is not served, and patterns to look at.
    pub skipped: Vec<Skipped>,
}

impl Agents {
    /// The documents that patterns match; relative patterns start at `base`.
    pub fn new(base: &Path, patterns: &[String]) -> Self {
        Self(Arc::new(Library::new(base, patterns)))
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<AgentsReport, Error> {
        let books = run_blocking(&self.0, "look at the agents", Library::books).await?;
        let loaded = |entry: &library::Entry| LoadedAgent {
            agent: entry.book.agent.to_string(),
            ids: entry
                .book
                .pages
                .iter()
                .map(|p| p.skill.id.to_string())
                .collect(),
            path: entry.path.clone(),
            pattern: Arc::clone(&entry.pattern),
            warnings: entry.book.warnings.clone(),
        };
        Ok(AgentsReport {
            documents: books.entries.iter().map(loaded).collect(),
            patterns: books.matches,
            skipped: books.skipped,
        })
    }

    /// What is served now, to tell what changed by the next time.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let doing = "look for changes in the agents";
        run_blocking(&self.0, doing, Library::snapshot).await
    }
}

impl Source for Agents {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async {
            let books = run_blocking(&self.0, "list the agents", Library::books).await?;
            let pages = books.entries.iter().flat_map(|entry| &entry.book.pages);
            Ok(Listing {
                entries: pages.map(|page| page.skill.clone()).collect(),
                skipped: books.skipped,
            })
        })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        let (id, doing) = (id.clone(), "read a skill of an agent");
        Box::pin(run_blocking(&self.0, doing, move |library| {
            library.skill(&id)
        }))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(std::future::ready(Ok(Listing::default())))
    }

    fn prompt<'a>(&'a self, _: &'a PromptName) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
