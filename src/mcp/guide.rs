//! Tools that find a way: the skill for a request, and what a skill builds on.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Value, json};
use skills_core::ResourceUri;

use super::own::{Own, decode};

pub const ROUTE: Own = Own {
    name: "skill__route",
    title: "Route a request",
    about: "Find the skills whose trigger phrases a request calls for, best first, with the phrases \
        that matched. Skills without triggers are not found this way: see the index iii://skills.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The request, in the user's words." },
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    },
    output: Some(|| {
        json!({
            "type": "object",
            "properties": {
                "matches": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "uri": { "type": "string" },
                            "id": { "type": "string" },
                            "title": { "type": "string" },
                            "score": { "type": "integer", "minimum": 1 },
                            "matched": { "type": "array", "items": { "type": "string" } },
                        },
                        "required": ["uri", "id", "title", "score", "matched"],
                    },
                },
            },
            "required": ["matches"],
        })
    }),
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Route {
                text: String,
            }
            let Route { text } = decode(given)?;
            let matches = registry.route(&text).await?;
            let matches = matches.iter().map(|found| {
                json!({
                    "uri": ResourceUri::Skill(found.id.clone()).to_string(),
                    "id": found.id.as_str(),
                    "title": &*found.title,
                    "score": found.matched.len(),
                    "matched": found.matched,
                })
            });
            Ok(CallToolResult::structured(
                json!({ "matches": matches.collect::<Value>() }),
            ))
        })
    },
};

pub const RESOLVE: Own = Own {
    name: "skill__resolve",
    title: "Resolve a skill",
    about: "Read a skill and every skill it links to, in order, as one markdown text.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "The skill's id, such as resend/email." },
            },
            "required": ["id"],
            "additionalProperties": false,
        })
    },
    output: None,
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Resolve {
                id: String,
            }
            let Resolve { id } = decode(given)?;
            let resolved = registry.resolve(&id.parse()?).await?;
            let mut parts: Vec<String> = Vec::new();
            for skill in &resolved.skills {
                let uri = ResourceUri::Skill(skill.id.clone());
                parts.push(format!("<!-- {uri} -->\n\n{}", skill.text.trim_end()));
            }
            for missing in &resolved.missing {
                let (uri, from) = (&missing.uri, &missing.from);
                let reason = &missing.reason;
                parts.push(format!("<!-- {uri}, linked from {from}: {reason} -->"));
            }
            if !resolved.complete {
                parts.push("<!-- there is more: read on at the links above -->".into());
            }
            let text = parts.join("\n\n");
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
        })
    },
};
