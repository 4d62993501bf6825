//! Reading verbs: `manifest`, `skills`, `route`, `get`, `resolve`.

use std::fmt::Write;
use std::path::PathBuf;

use agent3md::answer::{self, MatchHead, SkillHead};
use agent3md::{Skill, js_number};
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;
use skills_core::escape_control;

use super::{CliError, Output, WhichArgs, line, open};

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

#[derive(Args)]
pub struct SkillArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// A skill with its body.
#[derive(Serialize)]
pub struct Full<'a> {
    name: &'a str,
    z: Box<RawValue>,
    body: &'a str,
}

impl<'a> From<&'a Skill> for Full<'a> {
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
    let agent = open(&args.file)?;
    output.data("agent manifest", &agent.manifest(), |output| {
        let mut text = String::new();
        let rows = [
            ("agent", agent.name.as_str()),
            ("model", &agent.model),
            ("tools", &agent.tools.join(", ")),
            ("persona", &agent.persona),
            ("skills", &agent.skills().len().to_string()),
        ];
        for (what, value) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{}",
                format!("{what:<8} {}", escape_control(value)).trim_end()
            );
        }
        format!("{text}\n{}", body(output, &agent.identity.body))
    })
}

pub fn skills(args: &FileArgs, output: &Output) -> Result<(), CliError> {
    let agent = open(&args.file)?;
    let skills: Vec<_> = agent.skills().map(SkillHead::from).collect();
    output.data("agent skills", &Skills { skills }, |_| {
        let widest = |width: fn(&Skill) -> usize| agent.skills().map(width).max().unwrap_or(0);
        let (z, name) = (
            widest(|skill| js_number(skill.z).len()),
            widest(|skill| escape_control(&skill.name).chars().count()),
        );
        let mut text = String::new();
        for skill in agent.skills() {
            let (at, named) = (js_number(skill.z), escape_control(&skill.name));
            let triggers = escape_control(&skill.triggers.join(", "));
            let row = format!("{at:>z$}  {named:<name$}  {triggers}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
        text
    })
}

pub fn route(args: &RouteArgs, output: &Output) -> Result<(), CliError> {
    let agent = open(&args.file)?;
    let text = args.text.join(" ");
    let matches = agent.route(&text).into_iter().map(MatchHead::from);
    let matches = matches.collect();
    output.data("agent route", &Matches { matches }, |_| {
        let answer = answer::route_skill(&agent, &text);
        answer
            .lines()
            .fold(String::new(), |all, hit| all + &escape_control(hit) + "\n")
    })
}

pub fn get(args: &SkillArgs, output: &Output) -> Result<(), CliError> {
    let agent = open(&args.which.file)?;
    let skill = args.which.find(&agent)?;
    let words = |output: &Output| body(output, &skill.body);
    output.data("agent get", &Full::from(skill), words)
}

pub fn resolve(args: &SkillArgs, output: &Output) -> Result<(), CliError> {
    let agent = open(&args.which.file)?;
    args.which.find(&agent)?;
    let chain = agent.resolve(args.which.wanted()).unwrap_or_default();
    let skills = chain.into_iter().map(Full::from).collect();
    output.data("agent resolve", &Skills { skills }, |output| {
        let text = answer::resolve_skill(&agent, args.which.wanted());
        body(output, &text.unwrap_or_default())
    })
}

/// Instructions for whoever reads: somebody else wrote them, so a terminal gets them tamed.
fn body(output: &Output, text: &str) -> String {
    line(&output.document(text, true, false))
}
