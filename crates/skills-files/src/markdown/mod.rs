//! Folders of markdown as a source of the registry: every file that a pattern of the
//! configuration matches is a skill or a prompt.
//!
//! The disk is the truth: every call walks, and every body is read when it is asked
//! for. What matches and cannot be served is reported with its path and a reason,
//! never left out in silence. Knows no surface and no engine.

mod document;
mod library;
mod lookup;
mod prompt;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Error, Listing, Pending, PromptName, PromptText, SkillId, Skipped, Source, SourcePrompt,
    SourceSkill,
};

use crate::blocking::run_blocking;
use crate::pattern::PatternMatches;
use crate::scan::{Limits, shown};
use crate::snapshot::Snapshot;
use document::Unserved;
use library::{File, Files, Library, read_prompt};
use lookup::body;

pub(crate) use document::changed_at;

/// Markdown files, as skills and as prompts.
#[derive(Clone, Debug)]
pub struct Folder(Arc<Library>);

/// A file that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
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
pub struct FolderReport {
    /// Files that are skills.
    pub skills: Vec<LoadedFile>,
    /// Files that are prompts.
    pub prompts: Vec<LoadedFile>,
    /// How much each pattern for skills matches.
    pub skill_patterns: Vec<PatternMatches>,
    /// How much each pattern for prompts matches.
    pub prompt_patterns: Vec<PatternMatches>,
    /// What matches a pattern and cannot be served, and patterns to look at.
    pub skipped: Vec<Skipped>,
}

impl LoadedFile {
    fn of<T>(file: &File<T>, name: impl Fn(&T) -> &str) -> Self {
        Self {
            name: name(&file.part.entry).to_owned(),
            path: file.path.clone(),
            pattern: Arc::clone(&file.pattern),
            warning: file.part.warning.as_deref().map(str::to_owned),
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
    pub async fn report(&self) -> Result<FolderReport, Error> {
        let (skills, prompts) = (self.skill_files().await?, self.prompt_files().await?);
        let skill = |file| LoadedFile::of(file, |skill: &SourceSkill| skill.id.as_str());
        let prompt = |file| LoadedFile::of(file, |prompt: &SourcePrompt| prompt.name.as_str());
        Ok(FolderReport {
            skills: skills.entries.iter().map(skill).collect(),
            prompts: prompts.entries.iter().map(prompt).collect(),
            skill_patterns: skills.matches.clone(),
            prompt_patterns: prompts.matches.clone(),
            skipped: [&*skills.skipped, &*prompts.skipped].concat(),
        })
    }

    /// What is served now, to compare with what is served later.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let (skills, prompts) = (self.skill_files().await?, self.prompt_files().await?);
        let (skills, prompts) = (&*skills, &*prompts);
        Ok(Snapshot::new(
            skills.prints(|skill| &skill.id),
            prompts.prints(|prompt| &prompt.name),
            [&*skills.folders, &*prompts.folders].concat(),
        ))
    }

    /// The skills. Those who ask at once share a walk that begins after they asked.
    async fn skill_files(&self) -> Result<Arc<Files<SourceSkill>>, Error> {
        let walk = || run_blocking(&self.0, "list the skill files", Library::skills);
        self.0.skill_listings.share(walk).await
    }

    /// The prompts, in the same way.
    async fn prompt_files(&self) -> Result<Arc<Files<SourcePrompt>>, Error> {
        let walk = || run_blocking(&self.0, "list the prompt files", Library::prompts);
        self.0.prompt_listings.share(walk).await
    }

    async fn read_skill(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let doing = format!("read skill `{id}`");
        let asked = id.clone();
        let direct = run_blocking(&self.0, &doing, move |library| library.skill(&asked));
        let read = if let Some(read) = direct.await? {
            read
        } else {
            let files = self.skill_files().await?;
            let mut entries = files.entries.iter();
            let Some(file) = entries.find(|file| file.part.entry.id == *id) else {
                return Ok(None);
            };
            let path = file.path.clone();
            run_blocking(&self.0, &doing, move |_| body(&path)).await?
        };
        read.map_err(|problem| Error::Source { doing, problem })
    }

    /// Front matter may name a prompt, so only looking at all of them tells.
    async fn read_prompt(&self, name: &PromptName) -> Result<Option<PromptText>, Error> {
        let files = self.prompt_files().await?;
        let mut entries = files.entries.iter();
        let Some(file) = entries.find(|file| file.part.entry.name == *name) else {
            return Ok(None);
        };
        let doing = format!("read prompt `{name}`");
        let path = file.path.clone();
        let read = run_blocking(&self.0, &doing, move |_| read_prompt(&path));
        match read.await? {
            Ok(Some((_, text))) if text.prompt.name == *name => Ok(Some(text)),
            // Changed since the walk: it is no longer what was asked for.
            Ok(_) | Err(Unserved::Unfit(_)) => Ok(None),
            Err(Unserved::Unread(reason)) => {
                let problem = format!("{}: {reason}", shown(&file.path));
                Err(Error::Source { doing, problem })
            }
        }
    }
}

impl Source for Folder {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async { Ok(self.skill_files().await?.listing()) })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(self.read_skill(id))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(async { Ok(self.prompt_files().await?.listing()) })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(self.read_prompt(name))
    }
}

impl<T: Clone> Files<T> {
    /// The entries alone. Copied only where others share the walk.
    fn listing(self: Arc<Self>) -> Listing<T> {
        let entry = |file: File<T>| file.part.entry;
        let copy = |file: &File<T>| file.part.entry.clone();
        match Arc::try_unwrap(self) {
            Ok(mine) => Listing {
                entries: mine.entries.into_iter().map(entry).collect(),
                skipped: mine.skipped,
            },
            Err(shared) => Listing {
                entries: shared.entries.iter().map(copy).collect(),
                skipped: shared.skipped.clone(),
            },
        }
    }
}
