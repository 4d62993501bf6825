//! The functions `skills::*`: storing, listing and reading skills.

use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use skills_core::{
    Actor, ContentData, IndexPart, Mime, PageRequest, Precondition, Resource, SkillId,
    SkillRegistration, Skipped, TEMPLATES, check_body, page,
};

use super::Operation;
use super::decode::{decode, encode, id_prefix};
use super::leases::terms;
use super::lint::check_registration;
use super::schema::{AnyValue, text_or_null};
use super::skill_entry::SkillEntry;

/// `skills::register`.
pub const REGISTER: Operation = Operation::function::<RegisterSkillInput, RegisterSkillOutput>(
    "skills::register",
    "Store a markdown skill under an id; agents read it at iii://{id}.",
    |registry, payload| {
        Box::pin(async move {
            let RegisterSkillInput {
                id,
                skill,
                if_match,
                owner,
                ttl_ms,
                worker,
            } = decode(&payload)?;
            let checked: SkillId = id.parse()?;
            check_body(&skill)?;
            check_registration(&registry, &checked, &skill)?;
            let registration = SkillRegistration {
                expected: if_match,
                lease: terms(owner.as_deref(), ttl_ms, worker)?,
                ..SkillRegistration::new(checked, skill)
            };
            let registered_at = registry.register(registration).await?;
            encode(&RegisterSkillOutput { id, registered_at })
        })
    },
);

/// A skill to store.
#[derive(Deserialize, JsonSchema)]
struct RegisterSkillInput {
    /// Segments of `[a-z0-9_-]`, joined by `/`; at most 64 characters each.
    id: String,
    /// The markdown, at most 256 KiB.
    skill: String,
    /// The digest (`sha256:...`) of the body that must be registered now, or null if none must
    /// be. Another body is not replaced: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// Who keeps it registered, such as the name of a worker; at most 256 bytes.
    #[serde(default)]
    #[schemars(default, schema_with = "text_or_null")]
    owner: Option<String>,
    /// How long it is valid without being registered again or renewed, in milliseconds. By
    /// default it stays until it is unregistered.
    #[serde(default)]
    ttl_ms: Option<u64>,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}

/// The precondition of a field that is present: null is not the same as absent.
pub(crate) fn precondition<'de, D: Deserializer<'de>>(field: D) -> Result<Precondition, D::Error> {
    match Option::<String>::deserialize(field)? {
        None => Ok(Precondition::Absent),
        Some(digest) => digest
            .parse()
            .map(Precondition::Digest)
            .map_err(serde::de::Error::custom),
    }
}

#[derive(Serialize, JsonSchema)]
struct RegisterSkillOutput {
    id: String,
    registered_at: Arc<str>,
}

/// `skills::unregister`.
pub const UNREGISTER: Operation = Operation::function::<UnregisterSkillInput, UnregisterSkillOutput>(
    "skills::unregister",
    "Remove a skill by id. Removing an unknown id is not an error.",
    |registry, payload| {
        Box::pin(async move {
            let UnregisterSkillInput {
                id,
                if_match,
                worker,
            } = decode(&payload)?;
            let actor = Actor::worker(worker);
            let removed = registry.unregister(&id.parse()?, if_match, actor).await?;
            encode(&UnregisterSkillOutput { id, removed })
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct UnregisterSkillInput {
    id: String,
    /// The digest (`sha256:...`) of the body that must be registered now. Another body is not
    /// removed: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}

#[derive(Serialize, JsonSchema)]
struct UnregisterSkillOutput {
    id: String,
    removed: bool,
}

/// `skills::list`.
pub const LIST: Operation = Operation::function::<ListSkillsInput, ListSkillsOutput<'static>>(
    "skills::list",
    "List every skill without its body, by id.",
    |registry, payload| {
        Box::pin(async move {
            let ListSkillsInput { limit, cursor } = decode(&payload)?;
            let is_paged = limit.is_some() || cursor.is_some();
            let list = async {
                let mut listing = registry.skills().await?;
                let damaged = match &listing.skipped[..] {
                    [] => Vec::new(),
                    _ => registry.damaged_skills().await?,
                };
                let request = PageRequest {
                    limit,
                    cursor: cursor.as_deref(),
                    prefix: "",
                };
                let entries = std::mem::take(&mut listing.entries);
                let page = page(entries, request, |skill| &skill.id)?;
                let skills = page.entries.iter();
                let skills = skills.map(SkillEntry::of).collect();
                let damaged = damaged.into_iter().map(DamagedEntry::from).collect();
                encode(&ListSkillsOutput {
                    skills,
                    damaged,
                    total: is_paged.then_some(page.total),
                    cursor: page.cursor,
                })
            };
            if is_paged {
                return list.await;
            }
            registry.cached_list("skills::list", list).await
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct ListSkillsInput {
    /// At most this many skills.
    #[serde(default)]
    limit: Option<usize>,
    /// The cursor of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListSkillsOutput<'a> {
    skills: Vec<SkillEntry<'a>>,
    /// Registered skills that cannot be served. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedEntry>,
    /// How many skills there are, if a page was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct DamagedEntry {
    /// The scope and the key of its row.
    place: String,
    /// Why it cannot be served.
    reason: String,
}

impl From<Skipped> for DamagedEntry {
    fn from(Skipped { place, reason }: Skipped) -> Self {
        Self { place, reason }
    }
}

/// `skills::index`.
pub const INDEX: Operation = Operation::function::<IndexInput, IndexOutput>(
    "skills::index",
    "The index of all skills, or of those at and below a prefix, within a budget of tokens.",
    |registry, payload| {
        Box::pin(async move {
            let IndexInput {
                budget_tokens,
                prefix,
            } = decode(&payload)?;
            let below = id_prefix(prefix.as_deref());
            let below = below.strip_suffix('/').unwrap_or(below);
            let below = Some(below).filter(|prefix| !prefix.is_empty());
            let part = IndexPart {
                below: below.map(str::parse).transpose()?,
                ..IndexPart::default()
            };
            let index = registry.index_text(&part, budget_tokens).await?;
            encode(&IndexOutput {
                text: index.text,
                included: index.included,
                folded: index.folded,
                omitted: 0,
            })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct IndexInput {
    /// The longest text, in tokens of 4 bytes. By default that of the configuration.
    #[serde(default)]
    budget_tokens: Option<usize>,
    /// The id of the skill at the top, such as `resend` or `resend/`.
    #[serde(default)]
    prefix: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct IndexOutput {
    text: Arc<str>,
    /// Skills with a line of their own.
    included: usize,
    /// Skills behind the lines of subtrees and pages, whose addresses list them.
    folded: usize,
    /// Skills that no line stands for: none.
    omitted: usize,
}

/// `skills::resources-list`.
pub const RESOURCES_LIST: Operation = Operation::function::<EmptyInput, AnyValue>(
    "skills::resources-list",
    "Internal: the index and every skill as protocol resources.",
    |registry, payload| {
        Box::pin(async move {
            let EmptyInput {} = decode(&payload)?;
            let list = async {
                let resources = registry.resources().await?;
                let resources = resources.iter().map(ResourceEntry::of).collect();
                encode(&Resources { resources })
            };
            registry.cached_list("skills::resources-list", list).await
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
pub(crate) struct EmptyInput {}

#[derive(Serialize)]
struct Resources<'a> {
    resources: Vec<ResourceEntry<'a>>,
}

#[derive(Serialize)]
struct ResourceEntry<'a> {
    uri: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(rename = "mimeType")]
    mime_type: &'static str,
}

impl<'a> ResourceEntry<'a> {
    fn of(resource: &'a Resource) -> Self {
        Self {
            uri: resource.uri.to_string(),
            name: &resource.name,
            description: resource.description.as_deref(),
            mime_type: Mime::Markdown.as_str(),
        }
    }
}

/// `skills::resources-read`.
pub const RESOURCES_READ: Operation = Operation::function::<ReadResourceInput, AnyValue>(
    "skills::resources-read",
    "Internal: the content of an iii:// or skill:// address, as protocol contents.",
    |registry, payload| {
        Box::pin(async move {
            let ReadResourceInput {
                uri,
                uncounted,
                original,
            } = decode(&payload)?;
            let address = uri.parse()?;
            let content = if original {
                registry.original(&address).await?
            } else if uncounted {
                registry.read_uncounted(&address).await?
            } else {
                registry.read(&address).await?
            };
            encode(&Contents {
                contents: [ContentEntry {
                    uri,
                    mime_type: content.mime.as_str(),
                    data: content.data.into(),
                }],
            })
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ReadResourceInput {
    uri: String,
    /// Whether this is maintenance, which is not counted as a use.
    #[serde(default)]
    #[schemars(skip)]
    uncounted: bool,
    /// Whether the text of a skill has its front matter, for a copy. Also not counted.
    #[serde(default)]
    #[schemars(skip)]
    original: bool,
}

#[derive(Serialize)]
struct Contents {
    contents: [ContentEntry; 1],
}

#[derive(Serialize)]
struct ContentEntry {
    uri: String,
    #[serde(rename = "mimeType")]
    mime_type: &'static str,
    #[serde(flatten)]
    data: DataEntry,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum DataEntry {
    Text(Arc<str>),
    /// Base64.
    Blob(String),
}

impl From<ContentData> for DataEntry {
    fn from(data: ContentData) -> Self {
        match data {
            ContentData::Text(text) => Self::Text(text),
            ContentData::Bytes(bytes) => Self::Blob(BASE64_STANDARD.encode(bytes)),
        }
    }
}

/// `skills::resources-templates`.
pub const RESOURCES_TEMPLATES: Operation = Operation::function::<EmptyInput, AnyValue>(
    "skills::resources-templates",
    "Internal: the two families of iii:// addresses.",
    |_, payload| {
        Box::pin(async move {
            let EmptyInput {} = decode(&payload)?;
            let entry = |template: &skills_core::ResourceTemplate| {
                json!({
                    "uriTemplate": template.uri_template,
                    "name": template.name,
                    "description": template.description,
                    "mimeType": Mime::Markdown.as_str(),
                })
            };
            let templates: Value = TEMPLATES.iter().map(entry).collect();
            encode(&json!({ "resourceTemplates": templates }))
        })
    },
)
.idempotent();
