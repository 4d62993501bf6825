//! A skill that is a folder with a `SKILL.md`: its files, and whether other agents accept it.

use std::sync::Arc;

use crate::source::SourceSkill;
use crate::{Digest, FilePath, GeneratedSkillMd, Head, SkillId, generated_skill_md, media_type};

/// The file that makes a folder a skill.
pub const SKILL_MD: &str = "SKILL.md";

/// The folder of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFolder {
    /// The front matter of `SKILL.md` as a JSON object with the keys in their order; `{}` if
    /// there is none that can be read.
    pub front_matter: Arc<str>,
    /// Its files in byte order of their paths, `SKILL.md` and the files of nested skills
    /// included. Empty if they are not served.
    pub files: Arc<[FolderFile]>,
    /// Why its files are not served, and how to correct it.
    pub files_problem: Option<Arc<str>>,
    /// Why the Agent Skills specification rejects it, one reason with its remedy each. Without
    /// any, it is a valid Agent Skill.
    pub rejections: Arc<[String]>,
}

/// A file of a skill folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// Its path in the folder.
    pub path: FilePath,
    /// Its length. The files of a folder have at most
    /// [`MAX_SKILL_FILES_BYTES`](crate::limits::MAX_SKILL_FILES_BYTES) together.
    pub bytes: u32,
    /// Whether its owner may execute it. This program never does.
    pub is_executable: bool,
}

impl FolderFile {
    /// Its media type, by its extension.
    pub fn media_type(&self) -> &'static str {
        media_type::of_name(self.path.name()).unwrap_or(media_type::PLAIN)
    }
}

impl SkillFolder {
    /// The file at a path.
    pub fn file(&self, path: &FilePath) -> Option<&FolderFile> {
        let found = self.files.binary_search_by(|file| file.path.cmp(path));
        found.ok().map(|at| &self.files[at])
    }

    /// Whether a path is a folder in this one.
    pub fn has_folder(&self, path: &FilePath) -> bool {
        let is_below = |file: &FolderFile| {
            let rest = file.path.as_str().strip_prefix(path.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.iter().any(is_below)
    }
}

/// A skill with the digest of each of its files, all of one version: the front matter is that
/// of the `SKILL.md` with the digest given here.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The skill.
    pub skill: SourceSkill,
    /// The digests of the files of its folder, in their order; none without a folder.
    pub digests: Arc<[Digest]>,
    /// The `SKILL.md` that is generated for a skill without a folder, if its id has a name.
    pub generated: Option<GeneratedSkillMd>,
}

impl Manifest {
    /// The manifest of a skill without a folder, whose `SKILL.md` is generated.
    pub fn of_generated(skill: SourceSkill, generated: Option<GeneratedSkillMd>) -> Self {
        let digests = Arc::default();
        Self {
            skill,
            digests,
            generated,
        }
    }

    /// The manifest of a folder, with the digests of its files in their order.
    pub const fn of_folder(skill: SourceSkill, digests: Arc<[Digest]>) -> Self {
        let generated = None;
        Self {
            skill,
            digests,
            generated,
        }
    }

    /// The files of the folder with their digests.
    pub fn files(&self) -> impl Iterator<Item = (&FolderFile, Digest)> {
        let files = self.skill.folder.iter().flat_map(|folder| &*folder.files);
        files.zip(self.digests.iter().copied())
    }
}

/// The content of a file of a skill folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The digest of these bytes.
    pub digest: Digest,
}

impl FileContent {
    /// The content with its digest.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        Self { bytes, digest }
    }

    /// The `SKILL.md` that is generated for the skill whose `iii://` address returns this document.
    pub(crate) fn generated(id: &SkillId, document: &str) -> Option<Self> {
        let head = Head::of(document);
        let text = generated_skill_md::generate(id, &head, document, document)?;
        Some(Self::new(text.as_bytes()))
    }
}
