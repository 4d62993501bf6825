//! Registered skills that hide a markdown file in the folder of a skill.
//!
//! Such a file is not listed as a skill, but is read at an address like that of one:
//! `references/api.md` in the folder of `pdf` at `iii://pdf/references/api`.

use std::collections::HashSet;
use std::sync::Arc;

use super::Registry;
use super::collisions::{Hides, Unshadowed, stored_bytes};
use super::files::markdown_body;
use crate::row_slot::RowSlot;
use crate::{
    Error, FilePath, FoundDocument, OnConflict, Origin, SKILL_MD, Skill, SkillId, SourceSkill,
};

/// A markdown file in the folder of a skill.
pub(super) struct BundledMarkdown {
    folder: SkillId,
    /// Its path in the folder.
    rest: FilePath,
    pub(super) body: Arc<str>,
}

impl Registry {
    /// The registered skills that hide a markdown file in the folder of a skill. Reads nothing if
    /// there is none.
    pub(super) async fn hides_bundled(
        &self,
        skills: &Unshadowed<SourceSkill>,
        stored: &[(&SkillId, usize)],
    ) -> Result<Hides, Error> {
        let mut hides = Hides::new();
        // `iii://@files/id` is such a skill, and not the file.
        let files = skills.hidden.iter();
        let files = files.filter(|hidden| hidden.origin == Origin::Fs);
        let mut seen: HashSet<SkillId> = files.map(|hidden| hidden.id.clone()).collect();
        for skill in skills.listing.entries.iter().chain(&skills.hidden) {
            let Some(folder) = &skill.folder else {
                continue;
            };
            if !has_below(stored, &skill.id) || !self.visibility(&skill.id, &skill.head).is_served()
            {
                continue;
            }
            for file in &*folder.files {
                let Some(rest) = file.path.as_str().strip_suffix(".md") else {
                    continue;
                };
                let Ok(id) = format!("{}/{rest}", skill.id).parse::<SkillId>() else {
                    continue;
                };
                let Some(bytes) = stored_bytes(stored, &id) else {
                    continue;
                };
                if !seen.insert(id.clone()) {
                    continue;
                }
                // The file has the body, and front matter perhaps.
                let is_longer = usize::try_from(file.bytes).is_ok_and(|file| bytes > file);
                if is_longer || !self.is_equal_file(&id, &skill.id, &file.path).await? {
                    hides.insert(id, vec![Origin::Fs]);
                }
            }
        }
        Ok(hides)
    }

    /// Whether a registered skill has the body of a markdown file in a folder.
    async fn is_equal_file(
        &self,
        id: &SkillId,
        folder: &SkillId,
        path: &FilePath,
    ) -> Result<bool, Error> {
        let Some(RowSlot::Row(skill)) = self.stored_skill(id).await? else {
            return Ok(false);
        };
        for source in &self.sources {
            match source.file(folder, path).await {
                Ok(Some(content)) => {
                    let body = markdown_body(&content);
                    return Ok(body.is_some_and(|body| body == skill.body));
                }
                Ok(None) => {}
                // A file that cannot be read must not fail the list.
                Err(_) => return Ok(false),
            }
        }
        // Replaced or removed since the walk.
        Ok(true)
    }

    /// The markdown file in the folder of a skill, although a registered skill may hide the folder.
    pub(super) async fn hidden_markdown(
        &self,
        id: &SkillId,
    ) -> Result<Option<BundledMarkdown>, Error> {
        let Ok(path) = format!("{id}.md").parse::<FilePath>() else {
            return Ok(None);
        };
        for (folder, rest) in path.splits() {
            if self.visibility.turns_off(&folder) {
                continue;
            }
            for source in &self.sources {
                if let Some(content) = source.file(&folder, &rest).await? {
                    let body = markdown_body(&content);
                    return Ok(body.map(|body| BundledMarkdown { folder, rest, body }));
                }
            }
        }
        Ok(None)
    }

    /// The same with its path, if the id has no other document of this origin.
    pub(super) async fn hidden_bundled(
        &self,
        id: &SkillId,
    ) -> Result<Option<FoundDocument>, Error> {
        let Some(BundledMarkdown { folder, rest, body }) = self.hidden_markdown(id).await? else {
            return Ok(None);
        };
        let skill_md = self.find_document(&folder, Origin::Fs).await?;
        let skill_md = skill_md.map_or_else(String::new, |found| found.place);
        let place = match skill_md.strip_suffix(SKILL_MD) {
            Some(folder) => format!("{folder}{rest}"),
            None => format!("{folder}/{rest}"),
        };
        Ok(Some(FoundDocument { place, body }))
    }

    /// A skill folder appeared or changed: reports each of its markdown files that a registered skill
    /// hides, unless the configuration says to hide them in silence.
    pub async fn report_hidden_bundled(&self, folder: &SkillId) -> Result<(), Error> {
        if self.on_conflict == OnConflict::Hide {
            return Ok(());
        }
        let state = self.stored_skills("look for skills").await?;
        let prefix = format!("{folder}/");
        let rows = &state.rows;
        let first = rows.partition_point(|skill| *skill.id.as_str() < *prefix);
        let below = |skill: &&Arc<Skill>| skill.id.as_str().starts_with(&prefix);
        for skill in rows[first..].iter().take_while(below) {
            // Another file with the id is reported when it changes itself.
            if self.find_document(&skill.id, Origin::Fs).await?.is_none() {
                self.report_hidden_document(&skill.id).await?;
            }
        }
        Ok(())
    }
}

/// Whether a skill below `id` is registered. Most folders have none, and their files need no look.
fn has_below(stored: &[(&SkillId, usize)], id: &SkillId) -> bool {
    let below = format!("{id}/");
    let at = stored.partition_point(|(stored, _)| stored.as_str() < &*below);
    stored
        .get(at)
        .is_some_and(|(stored, _)| stored.as_str().starts_with(&below))
}
