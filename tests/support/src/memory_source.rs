//! Skills and prompts in memory, as a folder of markdown files has them.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use skills_core::{
    Error, FileContent, FilePath, FolderFile, FoundDocument, Head, Listing, Origin, Pending,
    PromptName, PromptText, SKILL_MD, SkillFolder, SkillId, Source, SourcePrompt, SourceSkill,
    file_of_body,
};

/// When every entry was last changed.
const MODIFIED: &str = "2026-01-01T00:00:00Z";

/// A source without a disk; entries can be added while it is in use.
#[derive(Default)]
pub struct MemorySource(Mutex<Files>);

#[derive(Default)]
struct Files {
    skills: BTreeMap<SkillId, Arc<str>>,
    agents: BTreeMap<SkillId, Arc<str>>,
    prompts: BTreeMap<PromptName, (Arc<str>, Arc<str>)>,
    /// The files beside the `SKILL.md` of a skill.
    bundled: BTreeMap<SkillId, BTreeMap<FilePath, Arc<str>>>,
}

impl MemorySource {
    /// Adds a skill.
    pub fn add_skill(&self, id: &str, body: &str) {
        let id = id.parse().unwrap();
        self.files().skills.insert(id, body.into());
    }

    /// Adds a file to the folder of a skill.
    pub fn add_bundled_file(&self, id: &str, path: &str, text: &str) {
        let (id, path) = (id.parse().unwrap(), path.parse().unwrap());
        let mut files = self.files();
        let folder = files.bundled.entry(id).or_default();
        folder.insert(path, text.into());
    }

    /// Adds a skill of a 3md document.
    pub fn add_agent_skill(&self, id: &str, body: &str) {
        let id = id.parse().unwrap();
        self.files().agents.insert(id, body.into());
    }

    /// Adds a prompt.
    pub fn add_prompt(&self, name: &str, description: &str, body: &str) {
        let name = name.parse().unwrap();
        let prompt = (description.into(), body.into());
        self.files().prompts.insert(name, prompt);
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prompt(name: &PromptName, description: &Arc<str>) -> SourcePrompt {
    SourcePrompt {
        name: name.clone(),
        description: Arc::clone(description),
        arguments: Arc::default(),
        registered_at: MODIFIED.into(),
        origin: Origin::Fs,
    }
}

fn folder(files: &BTreeMap<FilePath, Arc<str>>) -> Arc<SkillFolder> {
    let file = |(path, text): (&FilePath, &Arc<str>)| FolderFile {
        path: path.clone(),
        bytes: u32::try_from(text.len()).expect("a short file"),
        is_executable: false,
    };
    Arc::new(SkillFolder {
        files: files.iter().map(file).collect(),
        ..SkillFolder::default()
    })
}

impl Source for MemorySource {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        let files = self.files();
        let skill = |origin, (id, body): (&SkillId, &Arc<str>)| SourceSkill {
            id: id.clone(),
            bytes: body.len(),
            registered_at: MODIFIED.into(),
            origin,
            head: Head::of(body),
            folder: match origin {
                Origin::Fs => files.bundled.get(id).map(folder),
                Origin::State | Origin::Agent3md => None,
            },
            body_hash: None,
        };
        let markdown = files.skills.iter().map(|entry| skill(Origin::Fs, entry));
        let agents = files.agents.iter();
        let agents = agents.map(|entry| skill(Origin::Agent3md, entry));
        let entries = markdown.chain(agents).collect();
        Box::pin(ready(Ok(Listing {
            entries,
            skipped: Vec::new(),
        })))
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        let files = self.files();
        let found = files.skills.get(id).or_else(|| files.agents.get(id));
        Box::pin(ready(Ok(found.cloned())))
    }

    fn document<'a>(
        &'a self,
        id: &'a SkillId,
        origin: Origin,
    ) -> Pending<'a, Result<Option<FoundDocument>, Error>> {
        let files = self.files();
        let (skills, ending) = match origin {
            Origin::State => return Box::pin(ready(Ok(None))),
            Origin::Fs => (&files.skills, "md"),
            Origin::Agent3md => (&files.agents, "3md"),
        };
        let is_folder = origin == Origin::Fs && files.bundled.contains_key(id);
        let found = skills.get(id).map(|body| FoundDocument {
            place: if is_folder {
                format!("{id}/{SKILL_MD}")
            } else {
                format!("{id}.{ending}")
            },
            body: Arc::clone(body),
        });
        Box::pin(ready(Ok(found)))
    }

    fn file<'a>(
        &'a self,
        id: &'a SkillId,
        path: &'a FilePath,
    ) -> Pending<'a, Result<Option<FileContent>, Error>> {
        let files = self.files();
        let found = files.bundled.get(id).and_then(|files| files.get(path));
        match found.map(|text| FileContent::new(text.as_bytes())) {
            None => Box::pin(file_of_body(self, id, path)),
            found => Box::pin(ready(Ok(found))),
        }
    }

    fn prompt_place<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<String>, Error>> {
        let found = self.files().prompts.contains_key(name);
        Box::pin(ready(Ok(found.then(|| format!("{name}.md")))))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        let files = self.files();
        let entries = files
            .prompts
            .iter()
            .map(|(name, (description, _))| prompt(name, description))
            .collect();
        Box::pin(ready(Ok(Listing {
            entries,
            skipped: Vec::new(),
        })))
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
        _: &'a Map<String, Value>,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        let files = self.files();
        let found = files.prompts.get(name);
        let found = found.map(|(description, body)| PromptText {
            prompt: prompt(name, description),
            text: Arc::clone(body),
        });
        Box::pin(ready(Ok(found)))
    }
}
