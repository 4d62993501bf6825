//! The texts the four tools of an agent's MCP server answer with, and what it says of itself.
//!
//! Clients compare these byte for byte; `structured` forms are for those that prefer data.

use std::fmt::Write as _;

use serde::Serialize;

use crate::agent::{Agent, Skill, SkillSelector};
use crate::number::{self, js_number};
use crate::route::Match;

/// A skill without its body: what `list_skills` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkillHead<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its position.
    #[serde(serialize_with = "number::serialize")]
    pub z: f64,
    /// Its trigger phrases.
    pub triggers: &'a [String],
    /// What it costs, in the author's words.
    pub cost: Option<&'a str>,
    /// Its command template.
    pub tool: Option<&'a str>,
}

impl<'a> From<&'a Skill> for SkillHead<'a> {
    fn from(skill: &'a Skill) -> Self {
        Self {
            name: &skill.name,
            z: skill.z,
            triggers: &skill.triggers,
            cost: skill.cost.as_deref(),
            tool: skill.tool.as_deref(),
        }
    }
}

/// A match as data: what `route_skill` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchHead<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// Its position.
    #[serde(serialize_with = "number::serialize")]
    pub z: f64,
    /// How many phrases matched.
    pub score: usize,
    /// The phrases.
    pub matched: Vec<&'a str>,
}

impl<'a> From<Match<'a>> for MatchHead<'a> {
    fn from(found: Match<'a>) -> Self {
        let Match { skill, matched } = found;
        Self {
            name: &skill.name,
            z: skill.z,
            score: matched.len(),
            matched,
        }
    }
}

/// No skill goes by this name, or stands at this z.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown skill: {asked}")]
pub struct UnknownSkill {
    /// The name as asked for, or `z=N`.
    pub asked: String,
}

impl From<SkillSelector<'_>> for UnknownSkill {
    fn from(wanted: SkillSelector<'_>) -> Self {
        let asked = match wanted {
            SkillSelector::Name(name) => name.to_owned(),
            SkillSelector::Z(z) => format!("z={}", js_number(z)),
        };
        Self { asked }
    }
}

/// The answer of `list_skills`. It never changes for an agent: keep it.
pub fn list_skills(agent: &Agent) -> String {
    let heads: Vec<SkillHead<'_>> = agent.skills().map(SkillHead::from).collect();
    serde_json::to_string_pretty(&heads).unwrap_or_default()
}

/// The answer of `route_skill`.
pub fn route_skill(agent: &Agent, text: &str) -> String {
    let mut answer = String::new();
    for Match { skill, matched } in agent.route(text) {
        let line_end = if answer.is_empty() { "" } else { "\n" };
        let (name, score, matched) = (&skill.name, matched.len(), matched.join(", "));
        // Writing to a string cannot fail.
        let _ = write!(
            answer,
            "{line_end}{name}  (score {score}; matched: {matched})"
        );
    }
    if answer.is_empty() {
        "no skill matched".to_owned()
    } else {
        answer
    }
}

/// The answer of `get_skill`: the body, verbatim.
pub fn get_skill<'a, 'w>(
    agent: &'a Agent,
    wanted: impl Into<SkillSelector<'w>>,
) -> Result<&'a str, UnknownSkill> {
    let wanted = wanted.into();
    agent
        .get(wanted)
        .map(|skill| skill.body.as_str())
        .ok_or_else(|| wanted.into())
}

/// The answer of `resolve_skill`: the skill and its dependencies under their names.
pub fn resolve_skill<'w>(
    agent: &Agent,
    wanted: impl Into<SkillSelector<'w>>,
) -> Result<String, UnknownSkill> {
    let wanted = wanted.into();
    let chain = agent
        .resolve(wanted)
        .ok_or_else(|| UnknownSkill::from(wanted))?;
    let blocks: Vec<String> = chain
        .iter()
        .map(|skill| format!("### {}\n{}", skill.name, skill.body))
        .collect();
    Ok(blocks.join("\n\n"))
}

/// The name the server gives itself in `serverInfo`.
pub fn server_name(agent: &Agent) -> String {
    format!("agent-3md:{}", agent.name)
}

/// The line the server logs once a document is loaded.
pub fn loaded_line(agent: &Agent, path: &str) -> String {
    format!(
        "[agent-3md mcp] {}: {} skills from {path}",
        agent.name,
        agent.skills().len()
    )
}
