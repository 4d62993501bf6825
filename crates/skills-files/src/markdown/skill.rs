//! A markdown file as a skill: its path below the root of a pattern is the id.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

use skills_core::{Head, Origin, SkillId, SourceSkill, triggers};

use super::content::MarkdownContent;
use crate::file_set::FileEntry;
use crate::scan::FoundFile;
use crate::snapshot::fingerprint;
use crate::text_file::Unserved;

/// A skill without its body.
#[derive(Clone, Debug)]
pub struct SkillFile {
    /// The entry of a listing.
    pub skill: SourceSkill,
    /// Changes with everything that is served of the file.
    pub fingerprint: u64,
}

impl FileEntry for SkillFile {
    const SUFFIX: &'static str = ".md";
    const LISTING: &'static str = "list the skill files";
    type Name = SkillId;

    fn read(found: &FoundFile) -> Result<Option<Self>, Unserved> {
        // Before reading: a path that is not an id decides.
        let id = id_text(&found.relative)
            .parse::<SkillId>()
            .map_err(|error| format!("cannot be a skill: {error}; rename it"))?;
        let Some(content) = MarkdownContent::read(found.real_path())? else {
            return Ok(None);
        };
        let head = Head {
            triggers: content.front_matter.as_deref().and_then(triggers),
            ..Head::of(&content.body)
        };
        let fingerprint = fingerprint((&content.body, &content.modified_at, &head.triggers));
        let skill = SourceSkill {
            id,
            bytes: content.body.len(),
            registered_at: content.modified_at,
            origin: Origin::Fs,
            head,
        };
        Ok(Some(Self { skill, fingerprint }))
    }

    fn name(&self) -> &SkillId {
        &self.skill.id
    }

    fn duplicate_reason(&self, first: &str) -> String {
        let id = &self.skill.id;
        format!("has the id `{id}` that {first} has already; rename one")
    }
}

/// The text of the id, valid or not.
fn id_text(relative: &Path) -> Cow<'_, str> {
    let text = relative.to_str().unwrap_or_default();
    let text = text.strip_suffix(SkillFile::SUFFIX).unwrap_or(text);
    if MAIN_SEPARATOR == '/' {
        text.into()
    } else {
        text.replace(MAIN_SEPARATOR, "/").into()
    }
}
