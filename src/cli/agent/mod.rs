//! `skills agent`: one agent.3md document on the command line.

mod command;
mod export;
mod new;
mod show;
mod validate;

use std::path::{Path, PathBuf};

use agent3md::tool_text::UnknownSkill;
use agent3md::{Agent, Skill, SkillSelector};
use clap::{Args, Subcommand};
use skills_core::{Kind, nearest};
use skills_files::agents::file::{self, ReadError};

use super::options::OutputArgs;
use super::output::{Output, line};
use super::{CliError, completions};

const EXAMPLES: &str = "Examples:
  skills agent new team.3md                          create a document
  skills agent validate *.3md                        list the problems of documents
  skills agent route team.3md find the failing test  list the skills that match a request
  skills agent command team.3md search --set pattern='it is'
  skills agent export team.3md docs                  write the skills as markdown files

Exit codes: 0 success, 1 broken or with errors, 2 invalid use, 3 not found.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AgentArgs {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the agent's name, model, tools, persona, identity and number of skills.
    #[command(after_help = "Examples:
  skills agent manifest team.3md
  skills agent manifest team.3md --json")]
    Manifest(show::FileArgs),
    /// List the skills, without their instructions.
    #[command(after_help = "Examples:
  skills agent skills team.3md
  skills agent skills team.3md --json")]
    Skills(show::FileArgs),
    /// List the skills that match a request, best first.
    #[command(after_help = "Examples:
  skills agent route team.3md find the failing test")]
    Route(show::RouteArgs),
    /// Print the instructions of one skill.
    #[command(after_help = "Examples:
  skills agent get team.3md search
  skills agent get team.3md --z 2")]
    Get(SkillArgs),
    /// Print the instructions of a skill and of every skill it depends on.
    #[command(after_help = "Examples:
  skills agent resolve team.3md search")]
    Resolve(SkillArgs),
    /// Print the command of a skill, filled with values. Nothing is run.
    #[command(after_help = "Examples:
  skills agent command team.3md search --set pattern='it is'
  skills agent command team.3md search --set pattern=todo --argv")]
    Command(command::CommandArgs),
    /// Check documents and list their problems with file and line.
    #[command(after_help = "Examples:
  skills agent validate team.3md
  skills agent validate --strict agents/*.3md")]
    Validate(validate::ValidateArgs),
    /// Write the skills as markdown files, or everything as one JSON document.
    #[command(after_help = "Examples:
  skills agent export team.3md docs
  skills agent export team.3md --manifest > team.json")]
    Export(export::ExportArgs),
    /// Create a document to start from. Never overwrites.
    #[command(after_help = "Examples:
  skills agent new team.3md
  skills agent new team.3md --name Team")]
    New(new::NewArgs),
}

pub fn run(args: &AgentArgs) -> Result<(), CliError> {
    let output = &args.output.output();
    match &args.verb {
        Verb::Manifest(args) => show::manifest(args, output),
        Verb::Skills(args) => show::skills(args, output),
        Verb::Route(args) => show::route(args, output),
        Verb::Get(args) => show::get(args, output),
        Verb::Resolve(args) => show::resolve(args, output),
        Verb::Command(args) => command::run(args, output),
        Verb::Validate(args) => validate::run(args, output),
        Verb::Export(args) => export::run(args, output),
        Verb::New(args) => new::run(args, output),
    }
}

/// Reads the text of a document.
fn read_text(path: &Path) -> Result<String, CliError> {
    file::read(path).map_err(|error| {
        let (kind, hint) = match &error {
            ReadError::Extension(_) => (Kind::Invalid, "a document's name ends in `.3md`"),
            ReadError::TooLarge { .. } => (Kind::Invalid, "split the agent in two"),
            ReadError::Unreadable { cause, .. } if cause.is_not_found() => {
                let hint = "check the path; `skills agent new` creates a document";
                (Kind::NotFound, hint)
            }
            ReadError::Unreadable { .. } => {
                (Kind::Broken, "it must be a file that this user may read")
            }
        };
        CliError::new(kind, error.to_string()).with_hint(hint)
    })
}

/// Reads and parses a document.
fn load(path: &Path) -> Result<Agent, CliError> {
    Agent::parse(&read_text(path)?).map_err(|error| {
        CliError::broken(format!("{}: {error}", path.display())).with_hint(error.hint())
    })
}

/// One skill of a document.
#[derive(Args)]
struct SkillArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The skill's name.
    #[arg(
        value_name = "NAME",
        required_unless_present = "z",
        add = completions::document_skills()
    )]
    name: Option<String>,

    /// The skill's position, instead of its name.
    #[arg(
        long,
        value_name = "Z",
        conflicts_with = "name",
        allow_hyphen_values = true
    )]
    z: Option<f64>,
}

impl SkillArgs {
    fn wanted(&self) -> SkillSelector<'_> {
        match (&self.name, self.z) {
            (None, Some(z)) => SkillSelector::Z(z),
            (name, _) => SkillSelector::Name(name.as_deref().unwrap_or_default()),
        }
    }

    /// The skill, or an error that suggests a similar name.
    fn find<'a>(&self, agent: &'a Agent) -> Result<&'a Skill, CliError> {
        let wanted = self.wanted();
        agent.get(wanted).ok_or_else(|| {
            let names = agent.skills().map(|skill| skill.name.as_str());
            let near = match wanted {
                SkillSelector::Name(name) => nearest(name, names),
                SkillSelector::Z(_) => None,
            };
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`skills agent skills {}` lists them", self.file.display()),
            };
            CliError::not_found(UnknownSkill::from(wanted).to_string(), hint)
        })
    }
}
