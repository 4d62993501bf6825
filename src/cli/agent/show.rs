//! The verbs that print parts of a document: `manifest`, `skills`, `route`, `get`, `resolve`.

use std::path::PathBuf;

use agent3md::tool_text::{self, MatchHead, SkillHead};
use agent3md::{Skill, js_number};
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;
use skills_core::escape_control;

use super::{CliError, Output, SkillArgs, line, load};
use crate::cli::output::lines;
use crate::cli::table::lay_out;

#[derive(Args)]
pub struct FileArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Args)]
pub struct RouteArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The request, in the user's words.
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
}

/// A skill with its body, as `--json` prints it.
#[derive(Serialize)]
pub struct SkillBody<'a> {
    name: &'a str,
    z: Box<RawValue>,
    body: &'a str,
}

impl<'a> From<&'a Skill> for SkillBody<'a> {
    fn from(skill: &'a Skill) -> Self {
        Self {
            name: &skill.name,
            z: RawValue::from_string(js_number(skill.z)).unwrap_or_default(),
            body: &skill.body,
        }
    }
}

#[derive(Serialize)]
struct Skills<T> {
    skills: Vec<T>,
}

#[derive(Serialize)]
struct Matches<'a> {
    matches: Vec<MatchHead<'a>>,
}

pub fn manifest(args: &FileArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.file)?;
    output.data("agent manifest", &agent.manifest(), |output| {
        let rows = [
            ("agent", agent.name.as_str()),
            ("model", &agent.model),
            ("tools", &agent.tools.join(", ")),
            ("persona", &agent.persona),
            ("skills", &agent.skills().len().to_string()),
        ];
        let rows = rows.map(|(label, value)| format!("{label:<8} {}", escape_control(value)));
        let head = lines(rows.iter().map(|row| row.trim_end()));
        let body = output.document(&agent.identity.body, true, false);
        body.line().below(&format!("{head}\n"))
    })
}

pub fn skills(args: &FileArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.file)?;
    let skills: Vec<_> = agent.skills().map(SkillHead::from).collect();
    output.data("agent skills", &Skills { skills }, |_| {
        let row = |skill: &Skill| {
            let triggers = skill.triggers.join(", ");
            [js_number(skill.z), skill.name.clone(), triggers]
        };
        let rows: Vec<_> = agent.skills().map(row).collect();
        lay_out(&rows, [true, false, false], None)
    })
}

pub fn route(args: &RouteArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.file)?;
    let text = args.text.join(" ");
    let matches = agent.route(&text).into_iter().map(MatchHead::from);
    let matches = matches.collect();
    output.data("agent route", &Matches { matches }, |_| {
        line(&tool_text::route_skill(&agent, &text))
    })
}

pub fn get(args: &SkillArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.file)?;
    let skill = args.find(&agent)?;
    output.data("agent get", &SkillBody::from(skill), |output| {
        output.document(&skill.body, true, false).line()
    })
}

pub fn resolve(args: &SkillArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.file)?;
    args.find(&agent)?;
    let chain = agent.resolve(args.wanted()).unwrap_or_default();
    let skills = chain.into_iter().map(SkillBody::from).collect();
    output.data("agent resolve", &Skills { skills }, |output| {
        let text = tool_text::resolve_skill(&agent, args.wanted());
        let text = text.unwrap_or_default();
        output.document(&text, true, false).line()
    })
}
