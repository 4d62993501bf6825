//! The texts that the four tools of an agent's MCP server return, and the texts about the server.
//!
//! Clients compare these texts byte for byte. The structs are the same results as data.

use std::fmt::Write as _;

use serde::Serialize;

use crate::agent::{Agent, Skill, SkillSelector};
use crate::number::{self, js_number};
use crate::route::Match;

/// A skill without its body: an entry of `list_skills`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkillHead<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its position.
    #[serde(serialize_with = "number::serialize")]
    pub z: f64,
    /// Its trigger phrases.
    pub triggers: &'a [String],
    /// Its cost, verbatim.
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

/// A match as data: an entry of `route_skill`.
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

/// No skill has this name or position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown skill: {asked}")]
pub struct UnknownSkill {
    /// The requested name, or `z=N`.
    pub asked: String,
}

impl From<SkillSelector<'_>> for UnknownSkill {
    fn from(selector: SkillSelector<'_>) -> Self {
        let asked = match selector {
            SkillSelector::Name(name) => name.to_owned(),
            SkillSelector::Z(z) => format!("z={}", js_number(z)),
        };
        Self { asked }
    }
}

/// The result of `list_skills`. It is constant for an agent, so it can be cached.
pub fn list_skills(agent: &Agent) -> String {
    let heads: Vec<SkillHead<'_>> = agent.skills().map(SkillHead::from).collect();
    serde_json::to_string_pretty(&heads).unwrap_or_default()
}

/// The result of `route_skill`.
pub fn route_skill(agent: &Agent, text: &str) -> String {
    let mut lines = String::new();
    for Match { skill, matched } in agent.route(text) {
        let line_end = if lines.is_empty() { "" } else { "\n" };
        let (name, score, matched) = (&skill.name, matched.len(), matched.join(", "));
        // Writing to a string cannot fail.
        let _ = write!(
            lines,
            "{line_end}{name}  (score {score}; matched: {matched})"
        );
    }
    if lines.is_empty() {
        lines.push_str("no skill matched");
    }
    lines
}

/// The result of `get_skill`: the body, verbatim.
pub fn get_skill<'a, 's>(
    agent: &'a Agent,
    selector: impl Into<SkillSelector<'s>>,
) -> Result<&'a str, UnknownSkill> {
    let selector = selector.into();
    let skill = agent.get(selector).ok_or(selector)?;
    Ok(&skill.body)
}

/// The result of `resolve_skill`: the skill and its dependencies, each under its name.
pub fn resolve_skill<'s>(
    agent: &Agent,
    selector: impl Into<SkillSelector<'s>>,
) -> Result<String, UnknownSkill> {
    let selector = selector.into();
    let chain = agent.resolve(selector).ok_or(selector)?;
    let block = |skill: &&Skill| format!("### {}\n{}", skill.name, skill.body);
    let blocks: Vec<String> = chain.iter().map(block).collect();
    Ok(blocks.join("\n\n"))
}

/// The name of the server in `serverInfo`.
pub fn server_name(agent: &Agent) -> String {
    format!("agent-3md:{}", agent.name)
}

/// The line that the server logs when a document is loaded.
pub fn loaded_line(agent: &Agent, path: &str) -> String {
    let (name, skills) = (&agent.name, agent.skills().len());
    format!("[agent-3md mcp] {name}: {skills} skills from {path}")
}
