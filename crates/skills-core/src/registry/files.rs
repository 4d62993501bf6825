//! The files of skill folders: listing them, and reading one.

use std::sync::Arc;

use super::Registry;
use crate::front_matter::Document;
use crate::nearest::nearest;
use crate::row_slot::RowSlot;
use crate::{
    Content, ContentData, Error, FileContent, FilePath, Manifest, Mime, Origin, PublishedSkills,
    ResourceUri, SKILL_MD, SkillId, SourceSkill, media_type,
};

impl Registry {
    /// Every skill as clients of Agent Skills see it, with the digests of all files.
    pub async fn published(&self) -> Result<PublishedSkills, Error> {
        let state = self.stored_skills("list the files").await?;
        let stored = state.ids();
        let key = |entry: &Manifest| (entry.skill.id.shared(), entry.skill.origin);
        let listing = self.unshadowed(|source| source.manifests(), key, stored);
        let mut manifests = listing.await?.entries;
        manifests.retain(|entry| {
            let SourceSkill { id, head, .. } = &entry.skill;
            self.visibility(id, head).is_served()
        });
        manifests.extend(state.rows.iter().map(|skill| {
            let entry = SourceSkill {
                id: skill.id.clone(),
                bytes: skill.body.len(),
                registered_at: Arc::clone(&skill.registered_at),
                origin: Origin::State,
                head: skill.head().clone(),
                folder: None,
            };
            Manifest::of_generated(entry, skill.generated())
        }));
        Ok(PublishedSkills::new(manifests))
    }

    /// The files of a skill with their digests; none if the skill is not a folder.
    pub async fn manifest(&self, id: &SkillId) -> Result<Option<Manifest>, Error> {
        if self.visibility.turns_off(id) || self.is_skill_registered(id).await? {
            return Ok(None);
        }
        for source in &self.sources {
            if let Some(manifest) = source.manifest(id).await? {
                return Ok(Some(manifest));
            }
            if source.skill(id).await?.is_some() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Reads a file of a skill folder: the id of the skill, then the path in its folder.
    pub async fn read_file(&self, path: &FilePath) -> Result<FileContent, Error> {
        if let Some((_, content)) = self.find_file(path).await? {
            return Ok(content);
        }
        let state = self.stored_skills("find a file").await?;
        let skills = self.source_skills(&state).await?.entries;
        let folder_of = |id: &SkillId| skills.iter().find(|skill| skill.id == *id)?.folder.as_ref();
        let nearest = path.splits().find_map(|(id, rest)| {
            let files = folder_of(&id)?.files.iter().map(|file| file.path.as_str());
            nearest(rest.as_str(), files).map(|file| format!("{id}/{file}"))
        });
        let path = path.clone();
        Err(Error::NoSuchFile { path, nearest })
    }

    /// The file at a path, and the skill whose folder it is in.
    pub(super) async fn find_file(
        &self,
        path: &FilePath,
    ) -> Result<Option<(SkillId, FileContent)>, Error> {
        for (id, rest) in path.splits() {
            if self.visibility.turns_off(&id) {
                continue;
            }
            match self.stored_skill(&id).await? {
                Some(RowSlot::Row(skill))
                    if self.is_served(&skill) && rest.as_str() == SKILL_MD =>
                {
                    let generated = FileContent::generated(&id, &skill.body);
                    return Ok(generated.map(|content| (id, content)));
                }
                // A registered skill hides the folder.
                Some(_) => continue,
                None => {}
            }
            for source in &self.sources {
                if let Some(content) = source.file(&id, &rest).await? {
                    return Ok(Some((id, content)));
                }
            }
        }
        Ok(None)
    }

    /// The body of the markdown file `{rest}.md` in the folder of a skill, for the id
    /// `{skill}/{rest}`.
    pub(super) async fn find_bundled_markdown(
        &self,
        id: &SkillId,
    ) -> Result<Option<Arc<str>>, Error> {
        let Ok(path) = format!("{id}.md").parse::<FilePath>() else {
            return Ok(None);
        };
        let found = self.find_file(&path).await?;
        Ok(found.and_then(|(_, content)| markdown_body(&content)))
    }

    pub(super) async fn file_content(&self, path: &FilePath) -> Result<Content, Error> {
        let content = self.read_file(path).await?;
        let known = media_type::of_name(path.name());
        let data = ContentData::from(content.bytes);
        let unknown = match data {
            ContentData::Text(_) => media_type::PLAIN,
            ContentData::Bytes(_) => media_type::BINARY,
        };
        Ok(Content {
            uri: ResourceUri::File(path.clone()),
            mime: Mime::File(known.unwrap_or(unknown)),
            data,
        })
    }
}

/// The text of a markdown file without its front matter; `None` if it is not text.
pub(super) fn markdown_body(content: &FileContent) -> Option<Arc<str>> {
    let text = str::from_utf8(&content.bytes).ok()?;
    Some(Document::parse(text).body.into())
}
