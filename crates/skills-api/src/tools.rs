//! Operations that are MCP tools only: the registry for clients that offer models nothing but
//! tools.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::limits::LIST_PAGE;
use skills_core::{
    FILE_SCHEME, Missing, PageRequest, ResolvedSkill, Resource, ResourceUri, SCHEME, SkillId, page,
    shown_title, written_id, written_uri,
};

use super::Operation;
use super::decode::{decode, encode, id_prefix};
use super::schema::Text;

pub const LIST: Operation = Operation::tool::<ListInput, ListOutput<'static>>(
    "skill::list",
    "List skills",
    "List skills by id: addresses, titles, descriptions.",
    |registry, payload| {
        Box::pin(async move {
            let ListInput {
                prefix,
                limit,
                cursor,
            } = decode(&payload)?;
            let request = PageRequest {
                limit: Some(limit.unwrap_or(LIST_PAGE)),
                cursor: cursor.as_deref(),
                prefix: id_prefix(prefix.as_deref()),
            };
            let resources = registry.resources().await?;
            let skills = resources.iter().filter_map(|resource| match &resource.uri {
                ResourceUri::Skill(id) => Some((id, resource)),
                _ => None,
            });
            let page = page(skills.collect(), request, |(id, _)| id)?;
            let skills = page.entries.into_iter();
            encode(&ListOutput {
                skills: skills.map(SkillSummary::of).collect(),
                total: page.total,
                cursor: page.cursor,
            })
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ListInput {
    /// The ids begin with this.
    #[serde(default)]
    prefix: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
    /// From the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListOutput<'a> {
    skills: Vec<SkillSummary<'a>>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SkillSummary<'a> {
    uri: String,
    id: &'a str,
    title: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<&'a str>,
}

impl<'a> SkillSummary<'a> {
    fn of((id, resource): (&'a SkillId, &'a Resource)) -> Self {
        Self {
            uri: resource.uri.to_string(),
            id: id.as_str(),
            title: shown_title(&resource.name),
            description: resource.description.as_deref(),
            bytes: resource.bytes,
            modified: resource.modified.as_deref(),
        }
    }
}

pub const READ: Operation = Operation::tool::<ReadInput, Text>(
    "skill::read",
    "Read a skill",
    "Read one iii:// address, exactly as stored.",
    |registry, payload| {
        Box::pin(async move {
            let ReadInput { uri } = decode(&payload)?;
            encode(registry.read(&written_uri(&uri)?).await?.text()?)
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    uri: String,
}

pub const RESOLVE: Operation = Operation::tool::<ResolveInput, Text>(
    "skill::resolve",
    "Read a skill and what it builds on",
    "Read a skill and all skills it links to.",
    |registry, payload| {
        Box::pin(async move {
            let ResolveInput { id } = decode(&payload)?;
            let resolved = registry.resolve(&written_id(&id)?).await?;
            let section = |skill: &ResolvedSkill| {
                let text = skill.text.trim_end();
                format!("# {}\n\n{text}", address(&skill.id))
            };
            let mut parts: Vec<String> = resolved.skills.iter().map(section).collect();
            if !resolved.missing.is_empty() {
                let line = |link: &Missing| {
                    let Missing { uri, from, reason } = link;
                    format!("- {uri}, linked from {}: {reason}", address(from))
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

/// The address of a skill, or of a file of a skill folder. A version has it already.
fn address(id: &str) -> String {
    if id.starts_with(SCHEME) {
        return id.to_owned();
    }
    let scheme = match id.parse::<SkillId>() {
        Ok(_) => SCHEME,
        Err(_) => FILE_SCHEME,
    };
    format!("{scheme}{id}")
}

#[derive(Deserialize, JsonSchema)]
struct ResolveInput {
    id: String,
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn what_is_resolved_has_an_address_that_can_be_read() {
        assert_eq!(address("pdf/forms"), "iii://pdf/forms");
        assert_eq!(address("iii://pdf/forms@3"), "iii://pdf/forms@3");
        assert_eq!(
            address("pdf/references/api.md"),
            "skill://pdf/references/api.md"
        );
    }
}
