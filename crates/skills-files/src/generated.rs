//! The `SKILL.md` that is generated for a markdown file, which clients of Agent Skills read.
//! Its digest is computed when it is asked for, and kept as long as what was parsed.

use std::path::Path;
use std::sync::OnceLock;

use skills_core::{FileContent, GeneratedSkillMd, Head, SkillId, generated_skill_md};

use crate::bundle::NoDigests;
use crate::markdown::read_text;
use crate::reason::display_path;
use crate::stamp::Stamp;
use crate::text_file::Unserved;

/// The generated `SKILL.md` of a file that was parsed.
#[derive(Debug)]
pub struct Generated {
    /// The file when it was parsed.
    stamp: Stamp,
    skill_md: OnceLock<Option<GeneratedSkillMd>>,
}

impl Generated {
    /// Of the file with this stamp.
    pub const fn new(stamp: Stamp) -> Self {
        let skill_md = OnceLock::new();
        Self { stamp, skill_md }
    }

    /// Length and digest; none if the id has no name. Fails if the file is not the one that
    /// was parsed any more.
    pub fn digest(&self, id: &SkillId, path: &Path) -> Result<Option<GeneratedSkillMd>, NoDigests> {
        if let Some(known) = self.skill_md.get() {
            return Ok(known.clone());
        }
        if generated_skill_md::name(id).is_none() {
            return Ok(None);
        }
        let found = read_text(path, |text, document, stamp| {
            let head = Head::of_document(document);
            (GeneratedSkillMd::of(id, &head, text, document.body), stamp)
        });
        match found {
            Ok(Some((generated, stamp))) if stamp == self.stamp => {
                Ok(self.skill_md.get_or_init(|| generated).clone())
            }
            Ok(_) | Err(Unserved::Invalid(_)) => Err(NoDigests::Changed),
            Err(Unserved::Unreadable(reason)) => Err(NoDigests::Unreadable(at(path, &reason))),
            Err(Unserved::Outage(reason)) => Err(NoDigests::Outage(at(path, &reason))),
        }
    }
}

/// Generates the `SKILL.md` of the file at a path without links; `None` if it cannot be
/// served. Fails with the path and the reason.
pub fn generate(id: &SkillId, path: &Path) -> Result<Option<FileContent>, String> {
    let found = read_text(path, |text, document, _| {
        let head = Head::of_document(document);
        let skill_md = generated_skill_md::generate(id, &head, text, document.body)?;
        Some(FileContent::new(skill_md.as_bytes()))
    });
    match found {
        Ok(content) => Ok(content.flatten()),
        Err(Unserved::Invalid(_)) => Ok(None),
        Err(Unserved::Unreadable(reason) | Unserved::Outage(reason)) => Err(at(path, &reason)),
    }
}

fn at(path: &Path, reason: &str) -> String {
    format!("{}: {reason}", display_path(path))
}
