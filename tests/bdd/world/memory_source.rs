//! Documents beside the rows, as a folder of markdown files would give them.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skills_core::{
    Error, Head, Listing, Origin, Pending, PromptName, PromptText, SkillId, Source, SourcePrompt,
    SourceSkill,
};

use super::backend::Document;

/// When every file was last changed.
const MODIFIED: &str = "2026-01-01T00:00:00Z";

/// The files of a scenario.
#[derive(Default)]
pub struct MemorySource(Mutex<Files>);

#[derive(Default)]
struct Files {
    skills: BTreeMap<SkillId, Arc<str>>,
    prompts: BTreeMap<PromptName, (Arc<str>, Arc<str>)>,
}

impl MemorySource {
    /// Puts a document on the source.
    pub fn place(&self, document: Document) {
        match document {
            Document::Skill { id, body } => {
                let id = id.parse().expect("a scenario's file has a good id");
                self.files().skills.insert(id, body.into());
            }
            Document::Prompt {
                name,
                description,
                body,
            } => {
                let name = name.parse().expect("a scenario's file has a good name");
                self.files()
                    .prompts
                    .insert(name, (description.into(), body.into()));
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prompt(name: &PromptName, description: &Arc<str>) -> SourcePrompt {
    SourcePrompt {
        name: name.clone(),
        description: Arc::clone(description),
        registered_at: MODIFIED.into(),
        origin: Origin::Fs,
    }
}

impl Source for MemorySource {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        let files = self.files();
        let skill = |(id, body): (&SkillId, &Arc<str>)| SourceSkill {
            id: id.clone(),
            bytes: body.len(),
            registered_at: MODIFIED.into(),
            origin: Origin::Fs,
            head: Head::of(body),
        };
        let entries = files.skills.iter().map(skill).collect();
        Box::pin(ready(Ok(Listing {
            entries,
            skipped: Vec::new(),
        })))
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(ready(Ok(self.files().skills.get(id).cloned())))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        let files = self.files();
        let entries = files
            .prompts
            .iter()
            .map(|(name, (about, _))| prompt(name, about))
            .collect();
        Box::pin(ready(Ok(Listing {
            entries,
            skipped: Vec::new(),
        })))
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        let files = self.files();
        let found = files.prompts.get(name);
        let found = found.map(|(about, body)| PromptText {
            prompt: prompt(name, about),
            text: Arc::clone(body),
        });
        Box::pin(ready(Ok(found)))
    }
}
