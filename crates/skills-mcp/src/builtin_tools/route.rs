//! Finding the skill for a request, and everything a skill builds on, as tools.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Value, json};
use skills_core::{Match, Missing, ResolvedSkill, SkillId};

use super::{BuiltinTool, decode, one_text};

pub const ROUTE: BuiltinTool = BuiltinTool {
    name: "skill__route",
    title: "Find the skill for a request",
    about: "Rank the skills whose declared triggers a request calls for, best first, with the \
        phrases that matched. Read the best one next.",
    input: || one_text("text", "The request, in the user's words."),
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
            let matches: Value = matches.iter().map(matching).collect();
            Ok(CallToolResult::structured(json!({ "matches": matches })))
        })
    },
};

fn matching(found: &Match) -> Value {
    let matched: Vec<&str> = found.matched.iter().map(|phrase| &**phrase).collect();
    json!({
        "uri": format!("iii://{}", found.id),
        "id": found.id.as_str(),
        "title": &*found.title,
        "score": matched.len(),
        "matched": matched,
    })
}

pub const RESOLVE: BuiltinTool = BuiltinTool {
    name: "skill__resolve",
    title: "Read a skill and what it builds on",
    about: "Read a skill and every skill it links to, in order, as one markdown text. Links that \
        lead nowhere are named at the end.",
    input: || one_text("id", "The skill's id, such as resend/email."),
    output: None,
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Resolve {
                id: String,
            }
            let Resolve { id } = decode(given)?;
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
                parts.push(format!("Links that lead nowhere:\n\n{}", lines.join("\n")));
            }
            if !resolved.complete {
                parts.push("There is more: the chain is longer than one answer.".into());
            }
            let text = parts.join("\n\n---\n\n");
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
        })
    },
};
