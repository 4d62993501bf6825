//! Skills as resources: listing, templates, and reading an address.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Registry;
use crate::content::from_section;
use crate::nearest::nearest;
use crate::row_slot::RowSlot;
use crate::skill_folder::SKILL_MD;
use crate::text_part::text_part;
use crate::{
    Content, ContentData, Error, FunctionId, Mime, ReadFrom, ResourceUri, SCHEME, Skill, SkillId,
    Visibility,
};

/// One entry of the resource list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: ResourceUri,
    /// Its title, or its id.
    pub name: Arc<str>,
    /// What it is about.
    pub description: Option<Arc<str>>,
    /// The length of its text, if it is known without rendering the text.
    pub bytes: Option<usize>,
    /// When it was registered or last changed, RFC 3339 in UTC, if known.
    pub modified: Option<Arc<str>>,
    /// The length of its `SKILL.md`, if it is a folder that every client of Agent Skills accepts.
    pub skill_md_bytes: Option<u64>,
    /// How visible it is.
    pub visibility: Visibility,
}

/// A pattern of addresses.
#[derive(Clone, Copy, Debug)]
pub struct ResourceTemplate {
    /// The address with its variable.
    pub uri_template: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What such an address returns.
    pub description: &'static str,
}

/// Every pattern of addresses.
pub const TEMPLATES: &[ResourceTemplate] = &[
    ResourceTemplate {
        uri_template: "iii://{skill_id}",
        name: "Skill",
        description: "The markdown of a skill. Ids may be nested, as in `resend/email/send`.",
    },
    ResourceTemplate {
        uri_template: "iii://fn/{function_path}",
        name: "Section",
        description: "The live output of a function; each `/` stands for `::`.",
    },
];

impl Registry {
    /// The index and every skill, in byte order of their ids.
    pub async fn resources(&self) -> Result<Vec<Resource>, Error> {
        let state = self.stored_skills("list the resources").await?;
        let custom = self.source_skills(&state).await?.entries;
        let stored = state.rows.iter();
        let stored = stored.map(|s| (&s.id, s.head(), s.body.len(), &s.registered_at, None));
        let custom = custom.iter();
        let custom = custom.map(|s| {
            (
                &s.id,
                &s.head,
                s.bytes,
                &s.registered_at,
                s.skill_md_bytes(),
            )
        });
        let mut skills: Vec<_> = stored.chain(custom).collect();
        skills.sort_by(|a, b| a.0.cmp(b.0));
        let index = Resource {
            uri: ResourceUri::Index,
            name: "Skills".into(),
            description: Some("Every skill with its title and a line about it. Start here.".into()),
            bytes: None,
            modified: None,
            skill_md_bytes: None,
            visibility: Visibility::Pinned,
        };
        let skills = skills
            .into_iter()
            .map(|(id, head, bytes, modified, skill_md_bytes)| Resource {
                uri: ResourceUri::Skill(id.clone()),
                name: head.title_or(id),
                description: head.description.clone(),
                bytes: Some(bytes),
                modified: Some(Arc::clone(modified)),
                skill_md_bytes,
                visibility: self.visibility(id, head),
            });
        Ok(std::iter::once(index).chain(skills).collect())
    }

    /// Reads an address, which is a use of its skill.
    pub async fn read(&self, uri: &ResourceUri) -> Result<Content, Error> {
        let (from, content) = self.read_from(uri).await?;
        self.reads.add(from);
        self.count_fetched(uri);
        Ok(content)
    }

    /// The text of an address was delivered.
    pub(super) fn count_fetched(&self, uri: &ResourceUri) {
        if let Some(id) = skill_of(uri) {
            self.usage.fetched(&id.shared());
        }
    }

    /// How many reads were answered from there, since this registry was made.
    pub fn reads(&self, from: ReadFrom) -> u64 {
        self.reads.get(from)
    }

    /// The same as [`Self::read`] for maintenance, such as checks and copies, which is not a use.
    pub async fn read_uncounted(&self, uri: &ResourceUri) -> Result<Content, Error> {
        Ok(self.read_from(uri).await?.1)
    }

    pub(super) async fn read_from(&self, uri: &ResourceUri) -> Result<(ReadFrom, Content), Error> {
        let markdown = |from, text| (from, Mime::Markdown, text);
        let (from, mime, text) = match uri {
            ResourceUri::Index => markdown(ReadFrom::Index, self.index().await?),
            ResourceUri::IndexPart(part) => {
                let index = self.index_text(part, None).await?;
                markdown(ReadFrom::Index, index.text)
            }
            ResourceUri::Skill(id) => {
                let (from, body) = self.body(id).await?;
                markdown(from, body)
            }
            ResourceUri::SkillFrom(origin, id) => {
                let from = ReadFrom::of_origin(*origin);
                markdown(from, self.body_from(*origin, id).await?)
            }
            ResourceUri::Version(id, version) => {
                let body = self.version_body(id, version).await?;
                markdown(ReadFrom::Registered, body)
            }
            ResourceUri::File(path) => return self.file_content(path).await,
            ResourceUri::Section(function) => {
                let (mime, text) = self.section(function).await?;
                (ReadFrom::Function, mime, text)
            }
            ResourceUri::Part { of, part } => {
                // `of` is not a part again, so this ends.
                let (from, whole) = Box::pin(self.read_from(of)).await?;
                let text = text_part(of, part, whole.text()?)?;
                markdown(from, text.into())
            }
        };
        let content = Content {
            uri: uri.clone(),
            mime,
            data: ContentData::Text(text),
        };
        Ok((from, content))
    }

    /// The same, with the whole text of the document behind a skill: what brings it back if it is
    /// registered or saved again. This is not a use.
    pub async fn original(&self, uri: &ResourceUri) -> Result<Content, Error> {
        let (from, mut content) = self.read_from(uri).await?;
        if let (ReadFrom::Files, ResourceUri::Skill(id)) = (from, uri) {
            for source in &self.sources {
                if let Some(text) = source.original(id).await? {
                    content.data = ContentData::Text(text);
                    break;
                }
            }
        }
        Ok(content)
    }

    /// The body of a skill; an error with the nearest id if there is none.
    pub(super) async fn body(&self, id: &SkillId) -> Result<(ReadFrom, Arc<str>), Error> {
        if let Some(found) = self.find_body(id).await? {
            return Ok(found);
        }
        let known = self.skills().await?.entries;
        let ids = || known.iter().map(|skill| skill.id.as_str());
        let below = format!("{id}/");
        let nearest = if ids().any(|known| known.starts_with(&below)) {
            Some(format!("{SCHEME}{below}"))
        } else {
            nearest(id.as_str(), ids()).map(str::to_owned)
        };
        Err(Error::NoSuchSkill {
            id: id.clone(),
            nearest,
        })
    }

    /// The registered body, or else the document of the same id, or else the markdown file of
    /// a skill folder.
    pub(super) async fn find_body(
        &self,
        id: &SkillId,
    ) -> Result<Option<(ReadFrom, Arc<str>)>, Error> {
        if self.visibility.turns_off(id) {
            return Ok(None);
        }
        // What is off hides the document of the same id too.
        if let Some(skill) = self.registered_skill(id).await? {
            let body = self.served_body(&skill);
            return Ok(body.map(|body| (ReadFrom::Registered, body)));
        }
        for source in &self.sources {
            if let Some(body) = source.skill(id).await? {
                return Ok(Some((ReadFrom::Files, body)));
            }
        }
        let bundled = self.find_bundled_markdown(id).await?;
        Ok(bundled.map(|body| (ReadFrom::Files, body)))
    }

    pub(super) async fn registered_body(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let found = self.registered_skill(id).await?;
        Ok(found.and_then(|skill| self.served_body(&skill)))
    }

    /// The registered skill, served or not; none if nothing is registered.
    pub async fn registered_skill(&self, id: &SkillId) -> Result<Option<Arc<Skill>>, Error> {
        let found = self.skills.get(id.as_str()).await;
        match found.map_err(Error::state(|| format!("read skill `{id}`")))? {
            Some(RowSlot::Row(skill)) => Ok(Some(skill)),
            Some(RowSlot::Damaged(problem)) => {
                Err(Error::damaged(format!("skill `{id}`"), &problem))
            }
            None => Ok(None),
        }
    }

    fn served_body(&self, skill: &Skill) -> Option<Arc<str>> {
        self.is_served(skill).then(|| Arc::clone(&skill.body))
    }

    async fn section(&self, function: &FunctionId) -> Result<(Mime, Arc<str>), Error> {
        let empty = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let result = self.engine.call(function.as_str(), empty, self.timeout);
        let result = result.await.map_err(|cause| Error::Section {
            path: function.path(),
            function: function.clone(),
            cause,
        })?;
        let (mime, text) = from_section(result.as_deref());
        Ok((mime, text.into()))
    }
}

/// The skill that an address reads; none for indexes, functions and files beside `SKILL.md`.
pub(super) fn skill_of(uri: &ResourceUri) -> Option<SkillId> {
    match uri {
        ResourceUri::Skill(id) | ResourceUri::SkillFrom(_, id) | ResourceUri::Version(id, _) => {
            Some(id.clone())
        }
        ResourceUri::File(path) => {
            let (id, file) = path.splits().next()?;
            (file.as_str() == SKILL_MD).then_some(id)
        }
        ResourceUri::Part { of, .. } => skill_of(of),
        ResourceUri::Index | ResourceUri::IndexPart(_) | ResourceUri::Section(_) => None,
    }
}
