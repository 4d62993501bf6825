//! The files of skill folders: listing them, and reading one.

use std::sync::Arc;

use super::Registry;
use crate::front_matter::Document;
use crate::nearest::nearest;
use crate::row_slot::{RowSlot, Snapshot};
use crate::{
    Content, ContentData, Error, FileContent, FilePath, Manifest, Mime, Origin, PublishedSkills,
    ReadFrom, ResourceUri, SKILL_MD, Skill, SkillId, SourceSkill, media_type,
};

/// The skills of all sources.
#[derive(Clone, Debug)]
pub struct DocumentList {
    /// Those that are served.
    pub skills: Vec<SourceSkill>,
    /// Those that a registered skill or another document hides, if its body is not equal.
    pub hidden: Vec<SourceSkill>,
}

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
                body_hash: None,
            };
            Manifest::of_generated(entry, skill.generated().cloned())
        }));
        Ok(PublishedSkills::new(manifests))
    }

    /// The skills of every source, for another process, with the visibility that they have
    /// here.
    pub async fn documents(&self) -> Result<DocumentList, Error> {
        let state = self.stored_skills("list the documents").await?;
        let (skills, hides) = self.source_skills_with_hidden(&state).await?;
        let mut list = DocumentList {
            skills: skills.listing.entries,
            hidden: skills.hidden,
        };
        let is_marked = |skill: &SourceSkill| {
            let origins = hides.get(&skill.id);
            origins.is_some_and(|origins| origins.contains(&skill.origin))
        };
        list.hidden.retain(is_marked);
        for skill in list.skills.iter_mut().chain(&mut list.hidden) {
            self.decide(skill);
        }
        Ok(list)
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
        let mut manifests = listing.await?.listing.entries;
        manifests.retain(|entry| {
            let SourceSkill { id, head, .. } = &entry.skill;
            self.visibility(id, head).is_served()
        });
        Ok(manifests)
    }

    /// Reads a file of a skill folder: the id of the skill, then the path in its folder.
    pub async fn read_file(&self, path: &FilePath) -> Result<FileContent, Error> {
        Ok(self.read_file_from(path).await?.1)
    }

    async fn read_file_from(&self, path: &FilePath) -> Result<(ReadFrom, FileContent), Error> {
        if let Some(found) = self.find_file(path).await? {
            return Ok(found);
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
    pub(super) async fn find_file(
        &self,
        path: &FilePath,
    ) -> Result<Option<(ReadFrom, FileContent)>, Error> {
        for (id, rest) in path.splits() {
            if self.visibility.turns_off(&id) {
                continue;
            }
            match self.stored_skill(&id).await? {
                Some(RowSlot::Row(skill))
                    if self.is_served(&skill) && rest.as_str() == SKILL_MD =>
                {
                    let content = FileContent::generated(&id, &skill.body);
                    return Ok(content.map(|content| (ReadFrom::Registered, content)));
                }
                // A registered skill hides the folder.
                Some(_) => continue,
                None => {}
            }
            for source in &self.sources {
                if let Some(content) = source.file(&id, &rest).await? {
                    return Ok(Some((ReadFrom::Files, content)));
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
        Ok(found.and_then(|(_, file)| markdown_body(&file)))
    }

    pub(super) async fn file_content(&self, path: &FilePath) -> Result<(ReadFrom, Content), Error> {
        let (from, content) = self.read_file_from(path).await?;
        let known = media_type::of_name(path.name());
        let data = ContentData::from(content.bytes);
        let unknown = match data {
            ContentData::Text(_) => media_type::PLAIN,
            ContentData::Bytes(_) => media_type::BINARY,
        };
        let content = Content {
            uri: ResourceUri::File(path.clone()),
            mime: Mime::File(known.unwrap_or(unknown)),
            data,
        };
        Ok((from, content))
    }
}

/// The text of a markdown file without its front matter; `None` if it is not text.
pub(super) fn markdown_body(content: &FileContent) -> Option<Arc<str>> {
    let text = str::from_utf8(&content.bytes).ok()?;
    Some(Document::parse(text).body.into())
}
