//! Folders of markdown as a source of the registry: each file that a pattern matches is a
//! skill or a prompt.

mod content;
mod lookup;
mod prompt;
mod skill;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{
    Error, Listing, Pending, PromptName, PromptText, SkillId, Skipped, Source, SourcePrompt,
    SourceSkill,
};

use crate::blocking::run_blocking;
use crate::file_set::{FileSet, ParsedFile, ParsedFiles, Unserved};
use crate::pattern::PatternMatches;
use crate::scan::{Limits, display_path};
use crate::snapshot::Snapshot;
use lookup::read_body;
use prompt::PromptFile;
use skill::SkillFile;

pub(crate) use content::modified_at;

/// Markdown files, as skills and as prompts. A clone shares the caches.
#[derive(Clone, Debug)]
pub struct Folder {
    skills: Arc<FileSet<SkillFile>>,
    prompts: Arc<FileSet<PromptFile>>,
}

/// A file that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// The id of the skill or the name of the prompt.
    pub name: String,
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// What had to be repaired to serve it.
    pub warning: Option<String>,
}

/// What is served from where, and what is not.
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
    fn new<E>(file: &ParsedFile<E>, name: impl Fn(&E) -> &str) -> Self {
        Self {
            name: name(&file.entry).to_owned(),
            path: file.path.clone(),
            pattern: Arc::clone(&file.pattern),
            warning: None,
        }
    }
}

impl Folder {
    /// The files that patterns match; relative patterns start at `base`. A pattern that
    /// cannot be parsed is reported by every listing.
    pub fn new(base: &Path, skills: &[String], prompts: &[String]) -> Self {
        Self::with_limits(base, skills, prompts, Limits::DEFAULT)
    }

    fn with_limits(base: &Path, skills: &[String], prompts: &[String], limits: Limits) -> Self {
        Self {
            skills: Arc::new(FileSet::new(base, skills, limits)),
            prompts: Arc::new(FileSet::new(base, prompts, limits)),
        }
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<FolderReport, Error> {
        let (skills, prompts) = (self.skills.list().await?, self.prompts.list().await?);
        let skill = |file| LoadedFile::new(file, |entry: &SkillFile| entry.skill.id.as_str());
        let prompt = |file: &ParsedFile<PromptFile>| LoadedFile {
            warning: file.entry.warning.as_deref().map(str::to_owned),
            ..LoadedFile::new(file, |entry| entry.prompt.name.as_str())
        };
        Ok(FolderReport {
            skills: skills.files.iter().map(skill).collect(),
            prompts: prompts.files.iter().map(prompt).collect(),
            skill_patterns: skills.matches.clone(),
            prompt_patterns: prompts.matches.clone(),
            skipped: [&*skills.skipped, &*prompts.skipped].concat(),
        })
    }

    /// What is served now.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let (skills, prompts) = (self.skills.list().await?, self.prompts.list().await?);
        let skill = |file: &ParsedFile<SkillFile>| {
            let SkillFile { skill, fingerprint } = &file.entry;
            (skill.id.clone(), *fingerprint)
        };
        let prompt = |file: &ParsedFile<PromptFile>| {
            (file.entry.prompt.name.clone(), file.entry.fingerprint)
        };
        Ok(Snapshot::new(
            skills.files.iter().map(skill),
            prompts.files.iter().map(prompt),
            [&*skills.folders, &*prompts.folders].concat(),
            skills.skipped.len(),
        ))
    }

    /// How often a pattern was walked.
    pub(crate) fn walks(&self) -> usize {
        self.skills.walks() + self.prompts.walks()
    }

    async fn read_skill(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let doing = format!("read skill `{id}`");
        let wanted = id.clone();
        let lookup = run_blocking(&self.skills, &doing, move |skills| skills.lookup(&wanted));
        let body = if let Some(body) = lookup.await? {
            body
        } else {
            let listed = self.skills.list().await?;
            let mut files = listed.files.iter();
            let Some(file) = files.find(|file| file.entry.skill.id == *id) else {
                return Ok(None);
            };
            let path = file.path.clone();
            run_blocking(&self.skills, &doing, move |_| read_body(&path)).await?
        };
        body.map_err(|problem| Error::Source { doing, problem })
    }

    /// Always lists: the front matter of any file may have the name.
    async fn read_prompt(&self, name: &PromptName) -> Result<Option<PromptText>, Error> {
        let listed = self.prompts.list().await?;
        let mut files = listed.files.iter();
        let Some(file) = files.find(|file| file.entry.prompt.name == *name) else {
            return Ok(None);
        };
        let doing = format!("read prompt `{name}`");
        let path = file.path.clone();
        let read = run_blocking(&self.prompts, &doing, move |_| PromptFile::read_text(&path));
        match read.await? {
            Ok(Some((_, text))) if text.prompt.name == *name => Ok(Some(text)),
            // It changed since the walk and is not this prompt any more.
            Ok(_) | Err(Unserved::Invalid(_)) => Ok(None),
            Err(Unserved::Unreadable(reason)) => {
                let problem = format!("{}: {reason}", display_path(&file.path));
                Err(Error::Source { doing, problem })
            }
        }
    }
}

impl Source for Folder {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async { Ok(listing(self.skills.list().await?, |file| file.skill)) })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(self.read_skill(id))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(async { Ok(listing(self.prompts.list().await?, |file| file.prompt)) })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(self.read_prompt(name))
    }
}

/// The entries alone, cloned only if another caller shares the walk.
fn listing<E: Clone, T>(files: Arc<ParsedFiles<E>>, entry: impl Fn(E) -> T) -> Listing<T> {
    match Arc::try_unwrap(files) {
        Ok(own) => Listing {
            entries: own
                .files
                .into_iter()
                .map(|file| entry(file.entry))
                .collect(),
            skipped: own.skipped,
        },
        Err(shared) => Listing {
            entries: shared
                .files
                .iter()
                .map(|file| entry(file.entry.clone()))
                .collect(),
            skipped: shared.skipped.clone(),
        },
    }
}
