//! The file sources of one configuration, built once per process and shared by the
//! registry, the start-up report, the watcher and the doctor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use skills_core::{
    Error, FileContent, FilePath, FoundDocument, Listing, Lookup, Manifest, Origin, Pending,
    PromptName, PromptText, SkillId, Skipped, Source, SourcePrompt, SourceSkill, VisibilityRules,
};

use crate::agents::{AgentFile, AgentSkill, AgentsReport};
use crate::blocking::run_blocking;
use crate::changes::SourceChanges;
use crate::file_set::{FileEntry, FileSet, ParsedFile, ParsedFiles};
use crate::folders::Folders;
use crate::markdown::{FolderReport, PromptFile, SkillFile, read_body};
use crate::pattern::Patterns;
use crate::reason::display_path;
use crate::snapshot::{ServedName, Snapshot, fingerprint};
use crate::text_file::Unserved;

/// Markdown files as skills and prompts, and the skills of `.3md` documents. A clone
/// shares the caches.
#[derive(Clone, Debug)]
pub struct Sources {
    pub(crate) skills: Arc<FileSet<SkillFile>>,
    prompts: Arc<FileSet<PromptFile>>,
    pub(crate) agents: Arc<FileSet<AgentFile>>,
    pub(crate) visibility: Arc<VisibilityRules>,
}

/// What is served from where, and what is not. A part without patterns is `None`.
#[derive(Clone, Debug, Default)]
pub struct SourcesReport {
    /// Markdown files.
    pub folder: Option<FolderReport>,
    /// `.3md` documents.
    pub agents: Option<AgentsReport>,
}

impl Sources {
    /// The files that the patterns match; relative patterns start at `base`. A pattern
    /// that cannot be parsed is reported by every listing.
    pub fn new(base: &Path, skills: &[String], prompts: &[String], agents: &[String]) -> Self {
        Self::with_folders(base, [skills, prompts, agents], &Folders::default())
    }

    /// The same with folders that are served whole. `patterns`: skills, prompts, agents.
    pub fn with_folders(base: &Path, patterns: [&[String]; 3], folders: &Folders) -> Self {
        let [skills, prompts, agents] = patterns;
        let mut skills = Patterns::new(base, skills, SkillFile::SUFFIX);
        folders.add_skills(&mut skills);
        let mut agents = Patterns::new(base, agents, AgentFile::SUFFIX);
        folders.add_agents(&mut agents);
        let prompts = Patterns::new(base, prompts, PromptFile::SUFFIX);
        Self {
            skills: Arc::new(FileSet::new(skills)),
            prompts: Arc::new(FileSet::new(prompts)),
            agents: Arc::new(FileSet::new(agents)),
            visibility: Arc::default(),
        }
    }

    /// The same, with the visibility that the operator gives to skills.
    #[must_use]
    pub fn with_visibility(self, rules: VisibilityRules) -> Self {
        Self {
            visibility: Arc::new(rules),
            ..self
        }
    }

    /// The skill files. Those that are off are skipped.
    pub(crate) async fn skill_files(&self) -> Result<Arc<ParsedFiles<SkillFile>>, Error> {
        let mut listed = self.skills.list().await?;
        let off_reason = |file: &ParsedFile<SkillFile>| self.off_reason(file);
        if listed.files.iter().any(|file| off_reason(file).is_some()) {
            let files = Arc::make_mut(&mut listed);
            let off = files.files.iter();
            let off = off.filter_map(|file| Some((display_path(&file.path), off_reason(file)?)));
            let off: Vec<_> = off
                .map(|(place, reason)| Skipped { place, reason })
                .collect();
            files.skipped.extend(off);
            files.files.retain(|file| off_reason(file).is_none());
        }
        Ok(listed)
    }

    fn off_reason(&self, file: &ParsedFile<SkillFile>) -> Option<String> {
        let skill = &file.entry.skill;
        self.visibility.off_reason(&skill.id, skill.head.visibility)
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        !self.has_folder() && self.agents.patterns.is_empty()
    }

    fn has_folder(&self) -> bool {
        !self.skills.patterns.is_empty() || !self.prompts.patterns.is_empty()
    }

    /// These sources for a registry; none without patterns.
    pub fn for_registry(&self) -> Vec<Arc<dyn Source>> {
        if self.is_empty() {
            return Vec::new();
        }
        vec![Arc::new(self.clone())]
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<SourcesReport, Error> {
        let mut report = SourcesReport::default();
        if self.has_folder() {
            let (skills, prompts) = (self.skill_files().await?, self.prompts.list().await?);
            report.folder = Some(FolderReport::new(&skills, &prompts));
        }
        if !self.agents.patterns.is_empty() {
            report.agents = Some(AgentsReport::new(&*self.agents.list().await?));
        }
        Ok(report)
    }

    /// What is served now.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let (skills, prompts) = (self.skill_files().await?, self.prompts.list().await?);
        let agents = self.agents.list().await?;
        let mut served = BTreeMap::new();
        for AgentSkill { skill, body, .. } in agent_skills(&agents) {
            let fingerprint = fingerprint((body, &skill.registered_at));
            served.insert(ServedName::Skill(skill.id.clone()), fingerprint);
        }
        // After the agents: markdown hides them.
        for file in skills.entries() {
            let name = ServedName::Skill(file.skill.id.clone());
            served.insert(name, file.fingerprint());
        }
        for file in prompts.entries() {
            let name = ServedName::Prompt(file.prompt.name.clone());
            served.insert(name, file.fingerprint);
        }
        Ok(Snapshot {
            served,
            folders: [&*skills.folders, &*prompts.folders, &*agents.folders].concat(),
            skipped_skills: skills.skipped.len() + agents.skipped.len(),
            skipped: [&skills.skipped, &prompts.skipped, &agents.skipped]
                .into_iter()
                .flatten()
                // A pattern without files is not news: what it served is reported as removed.
                .filter(|skipped| !skipped.place.starts_with("pattern `"))
                .map(|skipped| (skipped.place.clone(), skipped.reason.clone()))
                .collect(),
        })
    }

    /// How often a pattern was walked, for tests.
    pub fn walks(&self) -> usize {
        self.skills.walks() + self.prompts.walks() + self.agents.walks()
    }

    /// Follows the files from now on.
    pub fn changes(&self) -> SourceChanges {
        SourceChanges::new(self.clone())
    }

    /// The file of a skill and its body.
    pub(crate) async fn read_skill_file(
        &self,
        id: &SkillId,
    ) -> Result<Option<(PathBuf, Arc<str>)>, Error> {
        if self.skills.patterns.is_empty() {
            return Ok(None);
        }
        let doing = format!("read skill `{id}`");
        let (wanted, rules) = (id.clone(), Arc::clone(&self.visibility));
        let lookup = run_blocking(&self.skills, &doing, move |skills| {
            skills.lookup(&wanted, &rules)
        });
        let found = if let Some(found) = lookup.await? {
            found
        } else {
            let listed = self.skill_files().await?;
            let mut files = listed.files.iter();
            let Some(file) = files.find(|file| file.entry.skill.id == *id) else {
                return Ok(None);
            };
            let (path, is_folder) = (file.real_path().to_owned(), file.entry.folder.is_some());
            let read = move |_: &_| read_body(&path, is_folder);
            let body = run_blocking(&self.skills, &doing, read).await?;
            body.map(|body| body.map(|body| (file.path.clone(), body)))
        };
        found.map_err(|problem| Error::Source { doing, problem })
    }

    /// Markdown hides documents.
    async fn read_skill(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        if let Some((_, body)) = self.read_skill_file(id).await? {
            return Ok(Some(body));
        }
        let agents = self.agents.list().await?;
        let found = agent_skills(&agents).find(|entry| entry.skill.id == *id);
        Ok(found.map(|entry| Arc::clone(&entry.body)))
    }

    async fn find_document(
        &self,
        id: &SkillId,
        origin: Origin,
    ) -> Result<Option<FoundDocument>, Error> {
        let found = match origin {
            Origin::State => None,
            Origin::Fs => self.read_skill_file(id).await?,
            Origin::Agent3md => {
                let agents = self.agents.list().await?;
                agents.files.iter().find_map(|file| {
                    let mut skills = file.entry.skills.iter();
                    let found = skills.find(|entry| entry.skill.id == *id)?;
                    Some((file.path.clone(), Arc::clone(&found.body)))
                })
            }
        };
        Ok(found.map(|(path, body)| FoundDocument {
            place: display_path(&path),
            body,
        }))
    }

    async fn find_prompt_place(&self, name: &PromptName) -> Result<Option<String>, Error> {
        let listed = self.prompts.list().await?;
        let mut files = listed.files.iter();
        let file = files.find(|file| file.entry.prompt.name == *name);
        Ok(file.map(|file| display_path(&file.path)))
    }

    /// Always lists: the front matter of any file may have the name.
    async fn read_prompt(
        &self,
        name: &PromptName,
        given: &Map<String, Value>,
    ) -> Result<Option<PromptText>, Error> {
        let listed = self.prompts.list().await?;
        let mut files = listed.files.iter();
        let Some(file) = files.find(|file| file.entry.prompt.name == *name) else {
            return Ok(None);
        };
        let doing = format!("read prompt `{name}`");
        let (path, real_path) = (file.path.clone(), file.real_path().to_owned());
        let read = move |_: &_| PromptFile::read_with_text(&path, &real_path);
        match run_blocking(&self.prompts, &doing, read).await? {
            Ok(Some((PromptFile { prompt, .. }, text))) if prompt.name == *name => {
                let text = prompt.render(text, given)?;
                Ok(Some(PromptText { prompt, text }))
            }
            // It changed since the walk and is not this prompt any more.
            Ok(_) | Err(Unserved::Invalid(_)) => Ok(None),
            Err(Unserved::Unreadable(reason) | Unserved::Outage(reason)) => {
                let problem = format!("{}: {reason}", display_path(&file.path));
                Err(Error::Source { doing, problem })
            }
        }
    }
}

impl Source for Sources {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(async {
            let mut listing = listing(self.skill_files().await?, |file| file.skill);
            let agents = self.agents.list().await?;
            let skills = agent_skills(&agents).map(|entry| entry.skill.clone());
            listing.entries.extend(skills);
            listing.skipped.extend_from_slice(&agents.skipped);
            Ok(listing)
        })
    }

    fn skills_off(&self) -> Pending<'_, Result<Vec<SkillId>, Error>> {
        Box::pin(async {
            let listed = self.skills.list().await?;
            let off = listed.files.iter();
            let off = off.filter(|file| self.off_reason(file).is_some());
            Ok(off.map(|file| file.entry.skill.id.clone()).collect())
        })
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Lookup<'a, Arc<str>> {
        Box::pin(self.read_skill(id))
    }

    fn original<'a>(&'a self, id: &'a SkillId) -> Lookup<'a, Arc<str>> {
        Box::pin(self.read_original(id))
    }

    fn bodies<'a>(
        &'a self,
        ids: &'a [SkillId],
    ) -> Pending<'a, Result<Vec<Option<Arc<str>>>, Error>> {
        Box::pin(self.read_bodies(ids))
    }

    fn document<'a>(&'a self, id: &'a SkillId, origin: Origin) -> Lookup<'a, FoundDocument> {
        Box::pin(self.find_document(id, origin))
    }

    fn prompt_place<'a>(&'a self, name: &'a PromptName) -> Lookup<'a, String> {
        Box::pin(self.find_prompt_place(name))
    }

    fn manifests(&self) -> Pending<'_, Result<Listing<Manifest>, Error>> {
        Box::pin(self.list_manifests())
    }

    fn file<'a>(&'a self, id: &'a SkillId, path: &'a FilePath) -> Lookup<'a, FileContent> {
        Box::pin(self.read_bundled_file(id, path))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(async { Ok(listing(self.prompts.list().await?, |file| file.prompt)) })
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
        given: &'a Map<String, Value>,
    ) -> Lookup<'a, PromptText> {
        Box::pin(self.read_prompt(name, given))
    }
}

pub(crate) fn agent_skills(agents: &ParsedFiles<AgentFile>) -> impl Iterator<Item = &AgentSkill> {
    agents.entries().flat_map(|agent| &agent.skills)
}

/// The entries of a walk, cloned only if another caller shares it.
fn listing<E: Clone, T>(files: Arc<ParsedFiles<E>>, entry: impl Fn(E) -> T) -> Listing<T> {
    let ParsedFiles { files, skipped, .. } = Arc::unwrap_or_clone(files);
    let entries = files.into_iter().map(|file| entry(file.entry)).collect();
    Listing { entries, skipped }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use skills_core::Change;

    use super::*;

    const AGENT: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";

    #[tokio::test]
    async fn markdown_hides_documents_in_listings_and_changes() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("dev.md", "# Dev");
        write("dev.3md", AGENT);
        let patterns = |text: &str| vec![text.to_owned()];
        let sources = Sources::new(dir.path(), &patterns("*.md"), &[], &patterns("*.3md"));
        assert_eq!(sources.for_registry().len(), 1);
        let listed = sources.skills().await.unwrap();
        let origins: Vec<_> = listed.entries.iter().map(|s| s.origin).collect();
        // The registry serves the first of two with the same id.
        assert_eq!(origins, [Origin::Fs, Origin::Agent3md]);
        let body = sources.skill(&"dev".parse().unwrap()).await.unwrap();
        assert_eq!(body.as_deref(), Some("# Dev"));
        let report = sources.report().await.unwrap();
        assert_eq!(report.folder.unwrap().skills.len(), 1);
        assert_eq!(report.agents.unwrap().documents.len(), 1);
        let first = sources.snapshot().await.unwrap();
        write("dev.3md", &AGENT.replace("I am", "We are"));
        let second = sources.snapshot().await.unwrap();
        assert_eq!(second.changes_since(&first), []);
        fs::remove_file(dir.path().join("dev.md")).unwrap();
        let third = sources.snapshot().await.unwrap();
        let id = "dev".parse().unwrap();
        assert_eq!(third.changes_since(&second), [Change::SkillRegistered(id)]);
    }
}
