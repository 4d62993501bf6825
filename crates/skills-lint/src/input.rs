//! What is checked: documents and the lists of their files.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use skills_core::{FilePath, SkillId, media_type};

/// Everything that is checked together: links and routing are judged over all of it.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// The skills and prompts to check.
    pub skills: Vec<Skill>,
    /// Skills that exist and are not checked: links may lead to them.
    pub known: Vec<KnownSkill>,
    /// Whether there may be skills that are neither checked nor known: then a link to another
    /// skill is not judged.
    pub is_partial: bool,
    /// The ids of the functions that workers offer; `None` if that is not known.
    pub functions: Option<BTreeSet<String>>,
    /// What a source leaves out.
    pub unserved: Vec<Unserved>,
}

/// A skill that exists and is not checked.
#[derive(Clone, Debug)]
pub struct KnownSkill {
    /// Its id.
    pub id: SkillId,
    /// The paths of the files in its folder, if it is one.
    pub files: Vec<FilePath>,
}

/// A file that a source does not serve.
#[derive(Clone, Debug)]
pub struct Unserved {
    /// Where it is.
    pub shown: Arc<str>,
    /// Why it is not served, and how to correct it.
    pub reason: String,
}

/// One document with the files of its folder.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Its id, if it has one.
    pub id: Option<SkillId>,
    /// What kind of document it is.
    pub kind: Kind,
    /// The document.
    pub document: File,
    /// The other files of its folder.
    pub bundled: Vec<File>,
}

impl Skill {
    /// Whether it is registered, and not a file.
    pub(crate) fn is_registered(&self) -> bool {
        is_registered(&self.document.shown)
    }
}

/// Whether what is shown with this name is registered, and not a file.
pub fn is_registered(shown: &str) -> bool {
    shown.starts_with("iii://")
}

/// The kind of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The `SKILL.md` of a folder.
    Folder {
        /// The name of the folder.
        name: String,
    },
    /// A markdown skill: a file or registered.
    Markdown,
    /// A `.3md` document.
    Agent3md,
    /// A prompt file.
    Prompt,
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path in the folder of the skill.
    pub name: String,
    /// How a person finds it: a path, or an address.
    pub shown: Arc<str>,
    /// Its bytes; `None` if only its name is known.
    pub bytes: Option<Vec<u8>>,
}

impl File {
    /// A file with a text.
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.into(),
            shown: name.into(),
            bytes: Some(text.into()),
        }
    }

    /// Its text: of a file that is meant to be text every byte, else only if it looks like text.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        let bytes = self.bytes.as_deref()?;
        (self.has_text_name() || looks_like_text(bytes)).then(|| String::from_utf8_lossy(bytes))
    }

    /// Whether its bytes are not UTF-8 although its name says that it is text.
    pub(crate) fn is_damaged_text(&self) -> bool {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        self.has_text_name() && std::str::from_utf8(bytes).is_err()
    }

    fn has_text_name(&self) -> bool {
        let Some(media_type) = media_type::of_name(&self.name) else {
            return self.name.rsplit('.').next() == Some("3md");
        };
        media_type.starts_with("text/") || TEXT_TYPES.contains(&media_type)
    }

    /// Whether it is markdown, by its name.
    pub(crate) fn is_markdown(&self) -> bool {
        media_type::of_name(&self.name) == Some("text/markdown")
    }
}

/// Media types of text whose names do not say so.
const TEXT_TYPES: &[&str] = &[
    "application/json",
    "application/jsonl",
    "application/sql",
    "application/toml",
    "application/x-sh",
    "application/xml",
    "application/yaml",
    "image/svg+xml",
];

/// How much of a file without a known name is searched for signs of other content.
const PROBE_BYTES: usize = 8_192;

fn looks_like_text(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PROBE_BYTES)];
    let is_cut = |error: std::str::Utf8Error| {
        error.error_len().is_none() || probe.len() == PROBE_BYTES && error.valid_up_to() > 8_180
    };
    !probe.contains(&0) && std::str::from_utf8(probe).map_or_else(is_cut, |_| true)
}
