//! The port to read-only documents: folders of markdown, 3md files.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::{Map, Value};

use crate::markdown::Head;
use crate::skill_folder::{FileContent, Manifest, SKILL_MD, SkillFolder};
use crate::{Error, FilePath, GeneratedSkillMd, Pending, PromptName, SkillId, TemplateArgument};

/// Where an entry is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Registered by a worker, in the engine's state.
    State,
    /// A markdown file.
    Fs,
    /// A plane of a 3md document.
    Agent3md,
}

impl Origin {
    /// Its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Fs => "fs",
            Self::Agent3md => "3md",
        }
    }

    /// The first part of the addresses that name an origin: `@files` in `iii://@files/id`.
    pub const fn address(self) -> &'static str {
        match self {
            Self::State => "@state",
            Self::Fs => "@files",
            Self::Agent3md => "@agents",
        }
    }
}

/// The origins of documents.
pub const DOCUMENT_ORIGINS: [Origin; 2] = [Origin::Fs, Origin::Agent3md];

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something in a source or in state that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is: a path, or a scope and key.
    pub place: String,
    /// Why it is not served, and how to correct it.
    pub reason: String,
}

/// Entries, and what had to be skipped.
#[derive(Clone, Debug)]
pub struct Listing<T> {
    /// The entries that can be served.
    pub entries: Vec<T>,
    /// The entries that cannot.
    pub skipped: Vec<Skipped>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

/// A skill of a source, without its body.
#[derive(Clone, Debug)]
pub struct SourceSkill {
    /// Its id.
    pub id: SkillId,
    /// The length of its body.
    pub bytes: usize,
    /// When the document last changed, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it is stored.
    pub origin: Origin,
    /// Title, description and triggers.
    pub head: Head,
    /// Its folder, if it is a `SKILL.md`.
    pub folder: Option<Arc<SkillFolder>>,
    /// The [hash](body_hash) of its body, if it is known without reading the body.
    pub body_hash: Option<u64>,
}

/// A hash of a body. It does not leave the process, so it may change with the compiler.
pub fn body_hash(body: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

/// A document, although another one or a registered skill may hide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDocument {
    /// Where it is: a path.
    pub place: String,
    /// Its body.
    pub body: Arc<str>,
}

impl SourceSkill {
    /// The length of its `SKILL.md`, if it is a folder that every client of Agent Skills accepts.
    pub fn skill_md_bytes(&self) -> Option<u64> {
        let folder = self.folder.as_ref()?;
        let mut files = folder.files.iter().filter(|_| folder.rejections.is_empty());
        let file = files.find(|file| file.path.as_str() == SKILL_MD);
        file.map(|file| file.bytes.into())
    }
}

/// A prompt of a source: text that needs no handler.
#[derive(Clone, Debug)]
pub struct SourcePrompt {
    /// Its name.
    pub name: PromptName,
    /// Its description in a menu.
    pub description: Arc<str>,
    /// Its declared arguments.
    pub arguments: Arc<[TemplateArgument]>,
    /// When the document last changed, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it is stored.
    pub origin: Origin,
}

/// A prompt of a source with its text.
#[derive(Clone, Debug)]
pub struct PromptText {
    /// The prompt.
    pub prompt: SourcePrompt,
    /// Its text, with the values of its arguments.
    pub text: Arc<str>,
}

/// What is looked for; `None` if it does not exist.
pub type Lookup<'a, T> = Pending<'a, Result<Option<T>, Error>>;

/// A collection of documents that may change at any time.
pub trait Source: Send + Sync {
    /// Every skill, and what had to be skipped.
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>>;

    /// The skills that are off, and not in [`Self::skills`] therefore.
    fn skills_off(&self) -> Pending<'_, Result<Vec<SkillId>, Error>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The body of a skill.
    fn skill<'a>(&'a self, id: &'a SkillId) -> Lookup<'a, Arc<str>>;

    /// The whole text of the document behind a skill, with its front matter.
    fn original<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        self.skill(id)
    }

    /// The bodies of several skills, in the order of their ids.
    fn bodies<'a>(
        &'a self,
        ids: &'a [SkillId],
    ) -> Pending<'a, Result<Vec<Option<Arc<str>>>, Error>> {
        Box::pin(bodies_one_by_one(self, ids))
    }

    /// The document of one origin, although a document of another origin hides it.
    fn document<'a>(&'a self, id: &'a SkillId, origin: Origin) -> Lookup<'a, FoundDocument>;

    /// Where the prompt with this name is: a path.
    fn prompt_place<'a>(&'a self, name: &'a PromptName) -> Lookup<'a, String>;

    /// Every skill as [`Self::skills`] lists it, with the digests of its files, in one walk.
    fn manifests(&self) -> Pending<'_, Result<Listing<Manifest>, Error>> {
        Box::pin(manifests_of_bodies(self))
    }

    /// A file in the folder of a skill, read now: `SKILL.md` is the raw document, or generated
    /// for a skill that is not a folder. `None` if there is no such skill or no such file.
    fn file<'a>(&'a self, id: &'a SkillId, path: &'a FilePath) -> Lookup<'a, FileContent> {
        Box::pin(file_of_body(self, id, path))
    }

    /// Every prompt, and what had to be skipped.
    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>>;

    /// A prompt and its text with the given values, which must fit its declared arguments. A
    /// prompt that declares none ignores them.
    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
        given: &'a Map<String, Value>,
    ) -> Lookup<'a, PromptText>;
}

/// Bodies of a source that are read at the same time.
const CONCURRENT_READS: usize = 32;

/// The bodies of several skills of a source that reads each by itself.
async fn bodies_one_by_one<S: Source + ?Sized>(
    source: &S,
    ids: &[SkillId],
) -> Result<Vec<Option<Arc<str>>>, Error> {
    let mut bodies = Vec::with_capacity(ids.len());
    for some in ids.chunks(CONCURRENT_READS) {
        let reads = some.iter().map(|id| source.skill(id));
        bodies.extend(try_join_all(reads).await?);
    }
    Ok(bodies)
}

/// The manifests of a source that has only bodies: every `SKILL.md` is generated.
pub async fn manifests_of_bodies<S: Source + ?Sized>(
    source: &S,
) -> Result<Listing<Manifest>, Error> {
    let Listing { entries, skipped } = source.skills().await?;
    let mut manifests = Vec::with_capacity(entries.len());
    for mut skill in entries {
        // Removed since it was listed.
        let Some(body) = source.skill(&skill.id).await? else {
            continue;
        };
        // As [`file_of_body`] has it, which has only the body.
        skill.head = Head::of(&body);
        let generated = GeneratedSkillMd::of(&skill.id, &skill.head, &body, &body);
        manifests.push(Manifest::of_generated(skill, generated));
    }
    let entries = manifests;
    Ok(Listing { entries, skipped })
}

/// A file of a source that has only bodies.
pub async fn file_of_body<S: Source + ?Sized>(
    source: &S,
    id: &SkillId,
    path: &FilePath,
) -> Result<Option<FileContent>, Error> {
    if path.as_str() != SKILL_MD {
        return Ok(None);
    }
    let body = source.skill(id).await?;
    Ok(body.and_then(|body| FileContent::generated(id, &body)))
}
