//! Resolving a skill with all the skills and markdown files it links to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Registry;
use super::files::markdown_body;
use crate::limits::{CHAIN_BYTES_MAX, CHAIN_MAX, MISSING_MAX};
use crate::links::{Target, links};
use crate::{
    Error, FilePath, Head, Kind, Origin, ReadFrom, ResourceUri, SKILL_MD, SkillFolder, SkillId,
    VersionRef,
};

/// A skill and its dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The skill, then the documents it links to, depth first, each once.
    pub skills: Vec<ResolvedSkill>,
    /// Links whose target does not exist or cannot be read.
    pub missing: Vec<Missing>,
    /// Whether the chain is complete; false if a limit was reached.
    pub complete: bool,
}

/// One document of a chain: a skill, or a markdown file of a skill folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSkill {
    /// Its id, or the id of the skill and the path in its folder. The address of a version, or of
    /// the text of one origin: the id stands for what is served.
    pub id: Arc<str>,
    /// Its title, or its id.
    pub title: Arc<str>,
    /// Its markdown.
    pub text: Arc<str>,
}

/// A link whose target does not exist or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The link: the address of the target, or the path as written.
    pub uri: String,
    /// The document that contains the link.
    pub from: Arc<str>,
    /// Why the target is missing.
    pub reason: String,
}

impl Registry {
    /// A skill and all skills and markdown files it links to, directly or indirectly. A missing
    /// target is reported in the result; only a failure of the engine or a source is an error.
    pub async fn resolve(&self, id: &SkillId) -> Result<Resolved, Error> {
        let count = |from, id: Option<&SkillId>| {
            self.reads.add(from);
            if let Some(id) = id {
                self.usage.fetched(&id.shared());
            }
        };
        self.follow_links(id, count).await
    }

    /// The same as [`Self::resolve`] for a person, which is not a use.
    pub async fn resolve_uncounted(&self, id: &SkillId) -> Result<Resolved, Error> {
        self.follow_links(id, |_, _| {}).await
    }

    async fn follow_links(
        &self,
        id: &SkillId,
        fetched: impl Fn(ReadFrom, Option<&SkillId>),
    ) -> Result<Resolved, Error> {
        let known = self.known_skills().await?;
        let (from, text) = self.body(id).await?;
        fetched(from, Some(id));
        let mut chain = Chain::new(known);
        let first = chain.document_of(id);
        chain.seen.insert(first.clone());
        chain.add(&first, text);
        while let Some(Visit { to, from, uri }) = chain.next() {
            let missing = match self.read_document(&to, &chain).await {
                Ok(Some((from, text))) => {
                    fetched(from, to.skill());
                    chain.add(&to, text);
                    continue;
                }
                Ok(None) => match &to {
                    Document::File(path) => format!("file not found: {path}"),
                    other => format!("skill not found: {}", other.name()),
                },
                Err(error @ Error::Damaged { .. }) => error.to_text(),
                // A version or an origin that is not there says what there is instead.
                Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Invalid) => {
                    error.to_text()
                }
                Err(error) => return Err(error),
            };
            chain.add_missing(uri, from, missing);
        }
        Ok(chain.resolved)
    }

    async fn read_document(
        &self,
        document: &Document,
        chain: &Chain,
    ) -> Result<Option<(ReadFrom, Arc<str>)>, Error> {
        match document {
            Document::Skill(id) if chain.known.contains_key(id) => self.find_body(id).await,
            // No source has it, and the row may be damaged. The disk is not searched for every
            // dead link.
            Document::Skill(id) => {
                let body = self.registered_body(id).await?;
                Ok(body.map(|body| (ReadFrom::Registered, body)))
            }
            Document::Version(id, version) => {
                let body = self.version_body(id, version).await?;
                Ok(Some((ReadFrom::Registered, body)))
            }
            Document::SkillFrom(origin, id) => {
                let body = self.body_from(*origin, id).await?;
                Ok(Some((ReadFrom::of_origin(*origin), body)))
            }
            Document::File(path) => {
                let found = self.find_file(path).await?;
                Ok(found.and_then(|(from, file)| Some((from, markdown_body(&file)?))))
            }
        }
    }

    /// Every skill with its title and its folder.
    async fn known_skills(&self) -> Result<KnownSkills, Error> {
        let state = self.stored_skills("resolve a skill").await?;
        let custom = self.unshadowed_skills(state.ids()).await?;
        let documents = custom.listing.entries.iter().chain(&custom.hidden);
        let documents = documents.filter(|skill| skill.folder.is_some());
        let folders = documents.map(|skill| (skill.origin, skill.id.clone()));
        let folders = folders.collect();
        let stored = state.rows.iter().map(|skill| {
            let (title, folder) = (skill.head().title_or(&skill.id), None);
            (skill.id.clone(), KnownSkill { title, folder })
        });
        let custom = custom.listing.entries.into_iter().map(|skill| {
            let (title, folder) = (skill.head.title_or(&skill.id), skill.folder);
            (skill.id, KnownSkill { title, folder })
        });
        Ok(KnownSkills {
            served: stored.chain(custom).collect(),
            folders,
        })
    }
}

struct KnownSkills {
    /// The skills that are served.
    served: HashMap<SkillId, KnownSkill>,
    /// The skills that are folders, hidden ones included.
    folders: HashSet<(Origin, SkillId)>,
}

struct KnownSkill {
    title: Arc<str>,
    folder: Option<Arc<SkillFolder>>,
}

/// A document of a chain.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Document {
    Skill(SkillId),
    Version(SkillId, VersionRef),
    /// The text of one origin.
    SkillFrom(Origin, SkillId),
    /// A markdown file of a skill folder.
    File(FilePath),
}

impl Document {
    fn name(&self) -> Arc<str> {
        match self {
            Self::Skill(id) => id.shared(),
            Self::Version(id, version) => {
                let uri = ResourceUri::Version(id.clone(), version.clone());
                uri.to_string().into()
            }
            Self::SkillFrom(origin, id) => {
                let uri = ResourceUri::SkillFrom(*origin, id.clone());
                uri.to_string().into()
            }
            Self::File(path) => path.as_str().into(),
        }
    }

    /// The skill whose text it is.
    fn skill(&self) -> Option<&SkillId> {
        match self {
            Self::Skill(id) | Self::Version(id, _) | Self::SkillFrom(_, id) => Some(id),
            Self::File(_) => None,
        }
    }
}

/// A link to follow.
struct Visit {
    to: Document,
    from: Arc<str>,
    uri: String,
}

/// A walk over links in progress. It has a stack of its own, because a chain may be too long
/// for recursion.
struct Chain {
    known: HashMap<SkillId, KnownSkill>,
    folders: HashSet<(Origin, SkillId)>,
    resolved: Resolved,
    bytes: usize,
    seen: HashSet<Document>,
    /// The links to follow; the next one is last.
    stack: Vec<Visit>,
}

impl Chain {
    fn new(known: KnownSkills) -> Self {
        Self {
            known: known.served,
            folders: known.folders,
            resolved: Resolved {
                skills: Vec::new(),
                missing: Vec::new(),
                complete: true,
            },
            bytes: 0,
            seen: HashSet::new(),
            stack: Vec::new(),
        }
    }

    fn add(&mut self, document: &Document, text: Arc<str>) {
        if self.bytes + text.len() > CHAIN_BYTES_MAX && !self.resolved.skills.is_empty() {
            self.resolved.complete = false;
            return;
        }
        self.bytes += text.len();
        let (links, all) = links(&text, self.path_of(document).as_ref());
        self.resolved.complete &= all;
        let (first, from) = (self.stack.len(), document.name());
        for link in links {
            let to = link.to.and_then(|target| self.document_at(target));
            match to {
                Ok(Some(to)) if !self.seen.contains(&to) => {
                    let uri = link.uri;
                    let from = Arc::clone(&from);
                    self.stack.push(Visit { to, from, uri });
                }
                Ok(_) => {}
                Err(reason) => self.add_missing(link.uri, Arc::clone(&from), reason),
            }
        }
        self.stack[first..].reverse();
        let title = self.title_of(document, &text);
        let id = document.name();
        self.resolved.skills.push(ResolvedSkill { id, title, text });
    }

    fn title_of(&self, document: &Document, text: &str) -> Arc<str> {
        let title = match document {
            Document::Skill(id) => self.known.get(id).map(|skill| Arc::clone(&skill.title)),
            Document::Version(..) | Document::SkillFrom(..) | Document::File(_) => {
                Head::of(text).title
            }
        };
        title.unwrap_or_else(|| document.name())
    }

    /// The path that relative links of a document begin at: its place in a skill folder, or else
    /// that of a file with its id.
    fn path_of(&self, document: &Document) -> Option<FilePath> {
        let (id, is_folder) = match document {
            Document::File(path) => return Some(path.clone()),
            Document::Skill(id) => {
                let known = self.known.get(id);
                (id, known.is_some_and(|skill| skill.folder.is_some()))
            }
            Document::Version(id, _) => (id, false),
            Document::SkillFrom(origin, id) => (id, self.folders.contains(&(*origin, id.clone()))),
        };
        if is_folder {
            return FilePath::in_skill(id, SKILL_MD).ok();
        }
        format!("{id}.md").parse().ok()
    }

    /// The document with an id: a skill, or else a markdown file of a skill folder.
    fn document_of(&self, id: &SkillId) -> Document {
        let as_file = || {
            let path: FilePath = format!("{id}.md").parse().ok()?;
            matches!(self.find(&path), Found::Markdown).then_some(Document::File(path))
        };
        if self.known.contains_key(id) {
            return Document::Skill(id.clone());
        }
        as_file().unwrap_or_else(|| Document::Skill(id.clone()))
    }

    /// The document that a link leads to; `None` if it leads to something that exists and is
    /// no markdown. Fails with the reason why the target is missing.
    fn document_at(&self, target: Target) -> Result<Option<Document>, String> {
        let path = match target {
            Target::Skill(id) => return Ok(Some(self.document_of(&id))),
            Target::Version(id, version) => return Ok(Some(Document::Version(id, version))),
            Target::SkillFrom(origin, id) => return Ok(Some(Document::SkillFrom(origin, id))),
            Target::File(path) => path,
            // Its output is not a document.
            Target::Section(_) => return Ok(None),
        };
        match self.find(&path) {
            Found::Skill(id) => Ok(Some(Document::Skill(id))),
            Found::Markdown => Ok(Some(Document::File(path))),
            Found::Other => Ok(None),
            Found::Unserved(reason) => Err(reason.to_string()),
            Found::Nothing => Err(format!("file not found: {path}")),
        }
    }

    fn find(&self, path: &FilePath) -> Found {
        let skill_at = |path: &str| {
            let id = path.parse::<SkillId>().ok();
            id.filter(|id| self.known.contains_key(id))
        };
        if let Some(id) = skill_at(path.as_str()) {
            return Found::Skill(id);
        }
        let of_skill = |id: &SkillId| self.known.get(id)?.folder.as_deref();
        let mut unserved = None;
        for (id, rest) in path.splits() {
            let Some(folder) = of_skill(&id) else {
                continue;
            };
            if rest.as_str() == SKILL_MD {
                return Found::Skill(id);
            }
            if folder.file(&rest).is_some() {
                return if rest.is_markdown() {
                    Found::Markdown
                } else {
                    Found::Other
                };
            }
            if folder.has_folder(&rest) {
                return Found::Other;
            }
            unserved = unserved.or_else(|| folder.files_problem.clone());
        }
        // A file of a folder comes first: a registered skill may have the same path.
        match path.as_str().strip_suffix(".md").and_then(skill_at) {
            Some(id) => Found::Skill(id),
            None => unserved.map_or(Found::Nothing, Found::Unserved),
        }
    }

    /// The next link to follow.
    fn next(&mut self) -> Option<Visit> {
        loop {
            let visit = self.stack.pop()?;
            if self.seen.contains(&visit.to) {
                continue;
            }
            if self.resolved.skills.len() >= CHAIN_MAX {
                self.resolved.complete = false;
                return None;
            }
            // Marked here, so that a missing document is looked up only once as well.
            self.seen.insert(visit.to.clone());
            return Some(visit);
        }
    }

    fn add_missing(&mut self, uri: String, from: Arc<str>, reason: String) {
        if self.resolved.missing.len() >= MISSING_MAX {
            self.resolved.complete = false;
            return;
        }
        self.resolved.missing.push(Missing { uri, from, reason });
    }
}

/// What is at a path.
enum Found {
    Skill(SkillId),
    Markdown,
    /// Another file, or a folder.
    Other,
    /// The files of the skill are not served.
    Unserved(Arc<str>),
    Nothing,
}
