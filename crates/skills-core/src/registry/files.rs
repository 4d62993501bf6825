//! The files of skill folders: listing them, and reading one.

use std::sync::Arc;

use super::Registry;
use crate::front_matter::Document;
use crate::nearest::nearest;
use crate::row_slot::{RowSlot, Snapshot};
use crate::{
    Content, ContentData, Error, FileContent, FilePath, Manifest, Mime, Origin, PublishedSkills,
    ResourceUri, SKILL_MD, Skill, SkillId, SourceSkill, media_type,
};

impl Registry {
    /// Every skill as clients of Agent Skills see it, with the digests of all files.
    pub async fn published(&self) -> Result<PublishedSkills, Error> {
        let state = self.stored_skills("list the files").await?;
        let mut manifests = self.source_manifests(&state).await?;
        manifests.extend(state.rows.iter().map(|skill| {
            let entry = SourceSkill {
                id: skill.id.clone(),
                bytes: skill.body.len(),
                registered_at: Arc::clone(&skill.registered_at),
                origin: Origin::State,
                head: skill.head().clone(),
                folder: None,
            };
            Manifest::of_generated(entry, skill.generated().cloned())
        }));
        Ok(PublishedSkills::new(manifests))
    }

    /// The skills of every source that state does not hide, for another process, with the
    /// visibility that they have here.
    pub async fn documents(&self) -> Result<Vec<SourceSkill>, Error> {
        let state = self.stored_skills("list the documents").await?;
        let mut skills = self.source_skills(&state).await?.entries;
        for skill in &mut skills {
            self.decide(skill);
        }
        Ok(skills)
    }

    /// The same with the digests of all files.
    pub async fn document_manifests(&self) -> Result<Vec<Manifest>, Error> {
        let state = self.stored_skills("list the documents").await?;
        let mut manifests = self.source_manifests(&state).await?;
        let skills = manifests.iter_mut().map(|manifest| &mut manifest.skill);
        skills.for_each(|skill| self.decide(skill));
        Ok(manifests)
    }

    fn decide(&self, skill: &mut SourceSkill) {
        skill.head.visibility = Some(self.visibility(&skill.id, &skill.head));
    }

    async fn source_manifests(&self, state: &Snapshot<Skill>) -> Result<Vec<Manifest>, Error> {
        let key = |entry: &Manifest| (entry.skill.id.shared(), entry.skill.origin);
        let listing = self.unshadowed(|source| source.manifests(), key, state.ids());
        let mut manifests = listing.await?.entries;
        manifests.retain(|entry| {
            let SourceSkill { id, head, .. } = &entry.skill;
            self.visibility(id, head).is_served()
        });
        Ok(manifests)
    }

    /// Reads a file of a skill folder: the id of the skill, then the path in its folder.
    pub async fn read_file(&self, path: &FilePath) -> Result<FileContent, Error> {
        if let Some(content) = self.find_file(path).await? {
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

    /// The file at a path.
    pub(super) async fn find_file(&self, path: &FilePath) -> Result<Option<FileContent>, Error> {
        for (id, rest) in path.splits() {
            if self.visibility.turns_off(&id) {
                continue;
            }
            match self.stored_skill(&id).await? {
                Some(RowSlot::Row(skill))
                    if self.is_served(&skill) && rest.as_str() == SKILL_MD =>
                {
                    return Ok(FileContent::generated(&id, &skill.body));
                }
                // A registered skill hides the folder.
                Some(_) => continue,
                None => {}
            }
            for source in &self.sources {
                if let Some(content) = source.file(&id, &rest).await? {
                    return Ok(Some(content));
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
        Ok(found.as_ref().and_then(markdown_body))
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
