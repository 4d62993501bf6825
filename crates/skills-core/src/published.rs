//! Skills as clients of Agent Skills see them: folders with a `SKILL.md`, in one tree of files
//! whose addresses begin with `skill://`.
//!
//! A skill owns every file below its id, those of the skills below it included. Two skills may
//! have a file at the same address; the one with the longer id has it, as when it is read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::escape::quote;
use crate::file_path::encode;
use crate::folder_uri::{FolderUri, Position, below};
use crate::limits::{MAX_SKILL_FILES, MAX_SKILL_FILES_BYTES};
use crate::{
    Digest, Error, FILE_SCHEME, Manifest, SKILL_MD, SkillFolder, SkillId, agent_skill, media_type,
};

/// Every skill with the digests of its files at one moment.
#[derive(Clone, Debug, Default)]
pub struct PublishedSkills {
    /// In byte order of their ids.
    manifests: Vec<Manifest>,
}

/// A skill that lists leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// Its id.
    pub id: SkillId,
    /// Why, and the remedy.
    pub reason: String,
    /// Whether something is wrong with its folder; if not, its id or the skills below it are the
    /// reason.
    pub is_fault: bool,
}

/// A skill that is an Agent Skill.
#[derive(Clone, Copy, Debug)]
pub struct PublishedSkill<'a> {
    manifest: &'a Manifest,
    /// The skills below it.
    nested: &'a [Manifest],
}

/// A file of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedFile<'a> {
    /// The skill that has it.
    pub skill: &'a SkillId,
    /// Its path in the folder of that skill.
    pub path: &'a str,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub digest: Digest,
    /// Whether its owner may execute it.
    pub is_executable: bool,
}

/// What a folder contains.
#[derive(Clone, Copy, Debug)]
pub enum FolderEntry<'a> {
    /// Another folder.
    Folder,
    /// A file, and its skill if it is the `SKILL.md` of one.
    File(PublishedFile<'a>, Option<PublishedSkill<'a>>),
}

impl PublishedSkills {
    pub(crate) fn new(mut manifests: Vec<Manifest>) -> Self {
        manifests.sort_by(|a, b| a.skill.id.cmp(&b.skill.id));
        Self { manifests }
    }

    /// The skills that every client accepts, in byte order of their ids. One that has more
    /// files than clients allow is left out.
    pub fn listed(&self) -> impl Iterator<Item = PublishedSkill<'_>> {
        let all = self
            .manifests
            .iter()
            .filter_map(|manifest| self.publish(manifest).ok());
        all.filter(|skill| skill.excess().is_none())
    }

    /// The skills that are not [listed](Self::listed), with the reasons.
    pub fn unlisted(&self) -> impl Iterator<Item = Unlisted> {
        self.manifests.iter().filter_map(|manifest| {
            let reason = match self.publish(manifest) {
                Ok(skill) => skill.excess()?,
                Err(reason) => reason.into_owned(),
            };
            let folder = manifest.skill.folder.as_ref();
            let is_fault = |folder: &Arc<SkillFolder>| {
                folder.files_problem.is_some() || !folder.rejections.is_empty()
            };
            Some(Unlisted {
                id: manifest.skill.id.clone(),
                reason,
                is_fault: folder.is_some_and(is_fault),
            })
        })
    }

    /// The [listed](Self::listed) skills for clients that install skills by name: each with the
    /// id of an earlier one if that has its name.
    pub fn by_name(&self) -> impl Iterator<Item = (PublishedSkill<'_>, Option<&SkillId>)> {
        let mut first = HashMap::new();
        self.listed().map(move |skill| {
            let id = *first.entry(skill.name()).or_insert(skill.id());
            (skill, (id != skill.id()).then_some(id))
        })
    }

    /// Adds documents, the first of each id, unless a skill of that id is there already.
    #[must_use]
    pub fn with_documents(self, documents: Vec<Manifest>) -> Self {
        let manifests = self.manifests.into_iter().chain(documents);
        let mut all = Self::new(manifests.collect());
        // The order of equal ids was kept.
        all.manifests.dedup_by(|b, a| a.skill.id == b.skill.id);
        all
    }

    /// The skill with this id; an error with the reason why it is not an Agent Skill.
    pub fn get(&self, id: &SkillId) -> Result<PublishedSkill<'_>, Error> {
        let found = self
            .manifests
            .binary_search_by(|entry| entry.skill.id.cmp(id));
        let Ok(at) = found else {
            let known = self.manifests.iter().map(|entry| entry.skill.id.as_str());
            return Err(Error::NoSuchSkill {
                id: id.clone(),
                nearest: crate::nearest(id.as_str(), known).map(str::to_owned),
            });
        };
        self.publish(&self.manifests[at])
            .map_err(|reason| Error::NotPublished {
                id: id.clone(),
                reason: reason.into_owned(),
            })
    }

    /// What is directly in a folder, by name; an error if it is not a folder.
    pub fn folder(&self, uri: &FolderUri) -> Result<BTreeMap<&str, FolderEntry<'_>>, Error> {
        let mut entries = BTreeMap::new();
        for manifest in &self.manifests {
            let id = manifest.skill.id.as_str();
            match uri.position_of(id) {
                Position::Apart => {}
                // The folder is above the skill.
                Position::Above(rest) => {
                    if own_files(manifest).next().is_some() {
                        let name = rest.split('/').next().unwrap_or_default();
                        entries.insert(name, FolderEntry::Folder);
                    }
                }
                Position::Inside(folder) => {
                    for file in own_files(manifest) {
                        let Some(rest) = below(file.path, folder) else {
                            continue;
                        };
                        let (name, entry) = match rest.split_once('/') {
                            Some((name, _)) => (name, FolderEntry::Folder),
                            None => (rest, self.file_entry(file, uri)),
                        };
                        // A file that another skill has as a folder stays a folder.
                        if !matches!(entries.get(name), Some(FolderEntry::Folder)) {
                            entries.insert(name, entry);
                        }
                    }
                }
            }
        }
        if entries.is_empty() && uri.path().is_some() {
            return Err(Error::invalid_hint(
                format!("address {}", quote(&uri.to_string())),
                "is not a folder of a skill",
                "a folder has the address of its files without the last part",
            ));
        }
        Ok(entries)
    }

    fn file_entry<'a>(&'a self, file: PublishedFile<'a>, uri: &FolderUri) -> FolderEntry<'a> {
        let skill = uri.path().filter(|_| file.name() == SKILL_MD);
        let skill = skill.and_then(|path| path.as_str().parse().ok());
        let skill = skill.and_then(|id: SkillId| self.get(&id).ok());
        FolderEntry::File(file, skill)
    }

    /// A skill, or the reason why it is not an Agent Skill.
    fn publish<'a>(&'a self, manifest: &'a Manifest) -> Result<PublishedSkill<'a>, Cow<'a, str>> {
        if let Some(folder) = &manifest.skill.folder {
            if let Some(reason) = folder.rejections.first() {
                return Err(format!("its {SKILL_MD} {reason}").into());
            }
            if let Some(problem) = &folder.files_problem {
                return Err(Cow::Borrowed(problem));
            }
        } else if manifest.generated.is_none() {
            return Err(agent_skill::no_name_reason(last_segment(&manifest.skill.id)).into());
        }
        let nested = self.below(&manifest.skill.id);
        Ok(PublishedSkill { manifest, nested })
    }

    /// The skills below an id.
    fn below(&self, id: &SkillId) -> &[Manifest] {
        let is_below = |entry: &Manifest| below(entry.skill.id.as_str(), id.as_str()).is_some();
        let is_before = |entry: &Manifest| {
            let other = entry.skill.id.as_str().as_bytes();
            // `a-b` comes before `a/b`, and both after `a`.
            other.iter().lt(id.as_str().as_bytes().iter().chain(b"/"))
        };
        let rest = &self.manifests[self.manifests.partition_point(is_before)..];
        &rest[..rest.partition_point(is_below)]
    }
}

impl<'a> PublishedSkill<'a> {
    /// Its id.
    pub const fn id(&self) -> &'a SkillId {
        &self.manifest.skill.id
    }

    /// Its name: the last segment of its id.
    pub fn name(&self) -> &'a str {
        last_segment(&self.manifest.skill.id)
    }

    /// The address of its `SKILL.md`.
    pub fn uri(&self) -> String {
        format!("{FILE_SCHEME}{}/{SKILL_MD}", self.id())
    }

    /// What it is about.
    pub fn description(&self) -> Option<&'a Arc<str>> {
        self.manifest.skill.head.description.as_ref()
    }

    /// When it last changed, RFC 3339 in UTC.
    pub const fn modified(&self) -> &'a Arc<str> {
        &self.manifest.skill.registered_at
    }

    /// The front matter of its `SKILL.md` as a JSON object.
    pub fn front_matter(&self) -> &'a str {
        let folder = self.manifest.skill.folder.as_ref();
        let own = folder.map(|folder| &*folder.front_matter);
        let generated = self.manifest.generated.as_ref();
        let generated = || generated.map(|generated| &*generated.front_matter);
        own.or_else(generated).unwrap_or("{}")
    }

    /// Its `SKILL.md`.
    pub fn skill_md(&self) -> Option<PublishedFile<'a>> {
        own_files(self.manifest).find(|file| file.path == SKILL_MD)
    }

    /// Every file below its id, in byte order of their addresses.
    pub fn files(&self) -> Vec<PublishedFile<'a>> {
        let mut files: Vec<_> = own_files(self.manifest).collect();
        if !self.nested.is_empty() {
            files.extend(self.nested.iter().flat_map(own_files));
            // Of two files at one address, that of the longer id comes first and is kept.
            files.sort_by(|a, b| a.address().cmp(b.address()).then(b.skill.cmp(a.skill)));
            files.dedup_by(|a, b| a.address().eq(b.address()));
        }
        files
    }

    /// Why it has more files than clients allow, and the remedy. Its own folder is within the
    /// limits, so the skills below it are too many.
    fn excess(&self) -> Option<String> {
        if self.nested.is_empty() {
            return None;
        }
        let files = self.files();
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let (files, skills) = (files.len(), self.nested.len());
        if files <= MAX_SKILL_FILES && bytes <= MAX_SKILL_FILES_BYTES as u64 {
            return None;
        }
        Some(format!(
            "has {files} files of {bytes} bytes with the {skills} skills below it, and clients of \
             Agent Skills allow {MAX_SKILL_FILES} files of {MAX_SKILL_FILES_BYTES} bytes; give it \
             an id that is not above them, or them other ids"
        ))
    }
}

fn last_segment(id: &SkillId) -> &str {
    id.as_str().rsplit('/').next().unwrap_or_default()
}

fn own_files(manifest: &Manifest) -> impl Iterator<Item = PublishedFile<'_>> {
    let skill = &manifest.skill.id;
    let files = manifest.files().map(move |(file, digest)| PublishedFile {
        skill,
        path: file.path.as_str(),
        bytes: file.bytes.into(),
        digest,
        is_executable: file.is_executable,
    });
    let generated = manifest.generated.as_ref().map(|generated| PublishedFile {
        skill,
        path: SKILL_MD,
        bytes: generated.bytes,
        digest: generated.digest,
        is_executable: false,
    });
    files.chain(generated)
}

impl<'a> PublishedFile<'a> {
    /// Its address.
    pub fn uri(&self) -> String {
        format!("{FILE_SCHEME}{}/{}", self.skill, encode(self.path))
    }

    /// The last part of its path.
    pub fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Its media type, by its extension.
    pub fn media_type(&self) -> &'static str {
        media_type::of_name(self.name()).unwrap_or(media_type::PLAIN)
    }

    fn address(&self) -> impl Iterator<Item = &'a u8> + use<'a> {
        let id = self.skill.as_str().as_bytes();
        id.iter().chain(b"/").chain(self.path.as_bytes())
    }
}
