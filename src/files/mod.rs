//! Folders of markdown as a source of the registry: every file that a pattern of the
//! configuration matches is a skill or a prompt.
//!
//! The disk is the truth: every call walks, and every body is read when it is asked
//! for. What matches and cannot be served is reported with its path and a reason,
//! never left out in silence. Knows no surface and no engine.

mod cache;
mod document;
mod library;
mod pattern;
mod prompt;
mod scan;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Error, Listing, Origin, Pending, PromptName, PromptText, SkillId, Skipped, Source,
    SourcePrompt, SourceSkill,
};

use library::{File, Files, Library};

pub(crate) use document::changed_at;
pub(crate) use pattern::Pattern;
pub(crate) use scan::{Found, Limits, said_by, scan, shown};

/// Markdown files, as skills and as prompts.
#[derive(Clone, Debug)]
pub struct Folder(Arc<Library>);

/// A file that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The id of the skill or the name of the prompt.
    pub name: String,
    /// The file, from the root of the disk.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// What had to be put right to serve it.
    pub warning: Option<String>,
}

/// How the files are doing.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Files that are skills.
    pub skills: Vec<Loaded>,
    /// Files that are prompts.
    pub prompts: Vec<Loaded>,
    /// What matches a pattern and cannot be served, and patterns to look at.
    pub skipped: Vec<Skipped>,
}

impl Loaded {
    fn of<T>(file: File<T>, name: impl Fn(&T) -> &str) -> Self {
        Self {
            name: name(&file.entry).to_owned(),
            path: file.path,
            pattern: file.pattern,
            warning: file.warning,
        }
    }
}

impl Folder {
    /// The files that patterns match; relative patterns start at `base`. A pattern
    /// that cannot be understood is reported by every listing.
    pub fn new(base: &Path, skills: &[String], prompts: &[String]) -> Self {
        Self::with_limits(base, skills, prompts, Limits::USUAL)
    }

    fn with_limits(base: &Path, skills: &[String], prompts: &[String], limits: Limits) -> Self {
        Self(Arc::new(Library::new(base, skills, prompts, limits)))
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<Report, Error> {
        let both = |library: &Library| (library.skills(), library.prompts());
        let (skills, prompts) = self.on_a_thread("look at the files", both).await?;
        let mut skipped = skills.skipped;
        skipped.extend(prompts.skipped);
        let skill = |file: File<SourceSkill>| Loaded::of(file, |skill| skill.id.as_str());
        let prompt = |file: File<SourcePrompt>| Loaded::of(file, |prompt| prompt.name.as_str());
        Ok(Report {
            skills: skills.entries.into_iter().map(skill).collect(),
            prompts: prompts.entries.into_iter().map(prompt).collect(),
            skipped,
        })
    }

    /// Disks may be slow; nobody else shall wait for them.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        doing: &str,
        work: impl FnOnce(&Library) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let library = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || work(&library)).await;
        done.map_err(|error| Error::Source {
            doing: doing.into(),
            problem: error.to_string(),
        })
    }
}

impl Source for Folder {
    fn origin(&self) -> Origin {
        Origin::Fs
    }

    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async {
            let files = self.on_a_thread("list the skill files", Library::skills);
            Ok(files.await?.listing())
        })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        let id = id.clone();
        Box::pin(self.on_a_thread("read a skill file", move |library| library.skill(&id)))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(async {
            let files = self.on_a_thread("list the prompt files", Library::prompts);
            Ok(files.await?.listing())
        })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        let name = name.clone();
        Box::pin(self.on_a_thread("read a prompt file", move |library| library.prompt(&name)))
    }
}

impl<T> Files<T> {
    fn listing(self) -> Listing<T> {
        Listing {
            entries: self.entries.into_iter().map(|file| file.entry).collect(),
            skipped: self.skipped,
        }
    }
}
