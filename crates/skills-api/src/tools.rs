//! Operations that are MCP tools only: the registry for clients that offer models nothing but
//! tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Missing, ResolvedSkill, Resource, ResourceUri, SkillId};

use super::Operation;
use super::decode::{decode, encode};
use super::schema::Text;

pub const LIST: Operation = Operation::tool::<ListInput, ListOutput<'static>>(
    "skill::list",
    "List skills",
    "List skills with their addresses, titles and descriptions, all of them or those whose id \
     begins with `prefix`.",
    |registry, payload| {
        Box::pin(async move {
            let ListInput { prefix } = decode(&payload)?;
            let prefix = prefix.unwrap_or_default();
            let resources = registry.resources().await?;
            let skills = resources.iter().filter_map(SkillSummary::of);
            encode(&ListOutput {
                skills: skills
                    .filter(|skill| skill.id.starts_with(&prefix))
                    .collect(),
            })
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ListInput {
    /// The beginning of the ids, such as `resend/`.
    #[serde(default)]
    prefix: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListOutput<'a> {
    skills: Vec<SkillSummary<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct SkillSummary<'a> {
    uri: String,
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<&'a str>,
}

impl<'a> SkillSummary<'a> {
    fn of(resource: &'a Resource) -> Option<Self> {
        let ResourceUri::Skill(id) = &resource.uri else {
            return None;
        };
        Some(Self {
            uri: resource.uri.to_string(),
            id: id.as_str(),
            title: &resource.name,
            description: resource.description.as_deref(),
            bytes: resource.bytes,
            modified: resource.modified.as_deref(),
        })
    }
}

pub const READ: Operation = Operation::tool::<ReadInput, Text>(
    "skill::read",
    "Read a skill",
    "Read the text at one iii:// address, exactly as it is stored: a skill, the index \
     iii://skills, or the live output of a function at iii://fn/...",
    |registry, payload| {
        Box::pin(async move {
            let ReadInput { uri } = decode(&payload)?;
            encode(registry.read(&uri.parse()?).await?.text()?)
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// The address, such as `iii://skills`.
    uri: String,
}

pub const RESOLVE: Operation = Operation::tool::<ResolveInput, Text>(
    "skill::resolve",
    "Read a skill and what it builds on",
    "Read a skill and every skill it links to, in order, as one markdown text. Broken links are \
     listed at the end.",
    |registry, payload| {
        Box::pin(async move {
            let ResolveInput { id } = decode(&payload)?;
            let id = id.strip_prefix("iii://").unwrap_or(&id);
            let resolved = registry.resolve(&id.parse::<SkillId>()?).await?;
            let section = |skill: &ResolvedSkill| {
                let text = skill.text.trim_end();
                format!("# iii://{}\n\n{text}", skill.id)
            };
            let mut parts: Vec<String> = resolved.skills.iter().map(section).collect();
            if !resolved.missing.is_empty() {
                let line = |link: &Missing| {
                    let Missing { uri, from, reason } = link;
                    format!("- {uri}, linked from iii://{from}: {reason}")
                };
                let lines: Vec<String> = resolved.missing.iter().map(line).collect();
                parts.push(format!("Broken links:\n\n{}", lines.join("\n")));
            }
            if !resolved.complete {
                parts.push("The chain of links is longer than one result; there is more.".into());
            }
            encode(&parts.join("\n\n---\n\n"))
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ResolveInput {
    /// The id of the skill, such as `resend/email`.
    id: String,
}
