//! Skills as resources: listing, templates, and reading an address.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Registry;
use crate::content::from_section;
use crate::nearest::nearest;
use crate::slot::Slot;
use crate::{Content, Error, FunctionId, Json, Mime, ResourceUri, SkillId, index};

/// One entry of the resource list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: ResourceUri,
    /// Its title, or its id.
    pub name: Arc<str>,
    /// What it is about.
    pub description: Option<Arc<str>>,
    /// The length of its text, where that is known without making it.
    pub bytes: Option<usize>,
    /// When it was registered or last changed, RFC 3339 in UTC, where that is known.
    pub modified: Option<Arc<str>>,
}

/// A family of addresses.
#[derive(Clone, Copy, Debug)]
pub struct ResourceTemplate {
    /// The address with its variable.
    pub uri_template: &'static str,
    /// What the family is called.
    pub name: &'static str,
    /// What such an address serves.
    pub description: &'static str,
}

/// Both families.
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
    /// What `encode` makes of [`resources`](Self::resources), kept under `name`.
    pub async fn resources_as(
        &self,
        name: &'static str,
        encode: impl FnOnce(Vec<Resource>) -> Result<Json, Error>,
    ) -> Result<Json, Error> {
        let make = async { encode(self.resources().await?) };
        self.keep_answer("list the resources", name, make).await
    }

    /// The index and every skill, in byte order of their ids.
    pub async fn resources(&self) -> Result<Vec<Resource>, Error> {
        let (state, mut skipped) = self.stored_skills("list the resources").await?;
        let resource = |id: &SkillId, head: &crate::Head, bytes, modified: &Arc<str>| Resource {
            uri: ResourceUri::Skill(id.clone()),
            name: head.title.clone().unwrap_or_else(|| id.shared()),
            description: head.description.clone(),
            bytes: Some(bytes),
            modified: Some(Arc::clone(modified)),
        };
        let mut all: Vec<Resource> = state
            .rows
            .iter()
            .map(|s| resource(&s.id, s.head(), s.body.len(), &s.registered_at))
            .collect();
        let custom = self.source_skills(state.ids(), &mut skipped).await?;
        let custom = custom.iter();
        all.extend(custom.map(|s| resource(&s.id, &s.head, s.bytes, &s.registered_at)));
        let id = |resource: &Resource| match &resource.uri {
            ResourceUri::Skill(id) => Some(id.clone()),
            ResourceUri::Index | ResourceUri::Section(_) => None,
        };
        all.sort_by_cached_key(id);
        let index = Resource {
            uri: ResourceUri::Index,
            name: "Skills".into(),
            description: Some("Every skill with its title and a line about it. Start here.".into()),
            bytes: None,
            modified: None,
        };
        all.insert(0, index);
        Ok(all)
    }

    /// What an address serves.
    pub async fn read(&self, uri: &ResourceUri) -> Result<Content, Error> {
        let (mime, text) = match uri {
            ResourceUri::Index => (Mime::Markdown, self.index().await?),
            ResourceUri::Skill(id) => (Mime::Markdown, self.body(id).await?),
            ResourceUri::Section(function) => self.section(function).await?,
        };
        Ok(Content {
            uri: uri.clone(),
            mime,
            text,
        })
    }

    /// What an address serves, where that is known without asking anybody: a registered
    /// skill. None says nothing about what [`read`](Self::read) would answer.
    pub fn get_cached(&self, uri: &ResourceUri) -> Option<Content> {
        let ResourceUri::Skill(id) = uri else {
            return None;
        };
        let Slot::Row(skill) = self.skills.get_cached(id.as_str())? else {
            return None;
        };
        Some(Content {
            uri: uri.clone(),
            mime: Mime::Markdown,
            text: Arc::clone(&skill.body),
        })
    }

    /// The index. Its registered part is rendered once per change.
    async fn index(&self) -> Result<Arc<str>, Error> {
        let (state, mut skipped) = self.stored_skills("read the index").await?;
        let custom = self.source_skills(state.ids(), &mut skipped).await?;
        let registered = state.index.get_or_init(|| {
            index::render(state.rows.iter().map(|skill| (&skill.id, skill.head()))).into()
        });
        let custom = custom.iter().map(|skill| (&skill.id, &skill.head));
        Ok(index::add_custom(registered, custom))
    }

    /// The body of a skill that must be there.
    pub(super) async fn body(&self, id: &SkillId) -> Result<Arc<str>, Error> {
        if let Some(body) = self.find_body(id).await? {
            return Ok(body);
        }
        let known = self.skills().await?.entries;
        let nearest = nearest(id.as_str(), known.iter().map(|skill| skill.id.as_str()));
        Err(Error::NoSuchSkill {
            id: id.clone(),
            nearest: nearest.map(str::to_owned),
        })
    }

    /// A registered body, or the document of the same id. Registered wins.
    pub(super) async fn find_body(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let found = self.skills.get(id.as_str()).await;
        let found = found.map_err(|cause| Error::State {
            doing: format!("read skill `{id}`"),
            cause,
        })?;
        match found {
            Some(Slot::Row(skill)) => return Ok(Some(Arc::clone(&skill.body))),
            Some(Slot::Damaged(problem)) => {
                let what = format!("skill `{id}`");
                return Err(Error::Damaged {
                    what,
                    problem: problem.to_string(),
                });
            }
            None => {}
        }
        for source in &self.sources {
            if let Some(body) = source.skill(id).await? {
                return Ok(Some(body));
            }
        }
        Ok(None)
    }

    async fn section(&self, function: &FunctionId) -> Result<(Mime, Arc<str>), Error> {
        let empty = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let answer = self
            .engine
            .call(function.as_str(), empty, self.timeout)
            .await;
        let answer = answer.map_err(|cause| Error::Section {
            path: function.path(),
            function: function.clone(),
            cause,
        })?;
        let (mime, text) = from_section(answer.as_deref());
        Ok((mime, text.into()))
    }
}
