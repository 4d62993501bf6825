//! `skills agent`: one agent.3md document on the command line.

mod command;
mod export;
mod new;
mod show;
mod validate;

use std::io;
use std::path::{Path, PathBuf};

use agent3md::answer::UnknownSkill;
use agent3md::{Agent, Skill, Wanted};
use clap::{Args, Subcommand};
use skills_core::{Kind, nearest};

use super::CliError;
use super::output::{Output, line};
use skills_files::agents::file::{self, ReadError};

const EXAMPLES: &str = "Examples:
  skills agent new team.3md                          a document to start from
  skills agent validate *.3md                        what is wrong with them, and where
  skills agent route team.3md find the failing test  which skill a request calls for
  skills agent command team.3md search --set pattern='it is'
  skills agent export team.3md docs                  its skills as markdown files

Exit codes: 0 fine, 1 broken or with errors, 2 wrong use, 3 not found.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AgentArgs {
    #[command(subcommand)]
    verb: Verb,

    /// Say it as JSON: one document on stdout, of the result or of the error.
    #[arg(long, global = true)]
    json: bool,

    /// Say nothing on stderr but errors.
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Who the agent is: name, model, tools, persona, identity and skills.
    #[command(after_help = "Examples:
  skills agent manifest team.3md
  skills agent manifest team.3md --json")]
    Manifest(show::FileArgs),
    /// The skills, without their instructions.
    #[command(after_help = "Examples:
  skills agent skills team.3md
  skills agent skills team.3md --json")]
    Skills(show::FileArgs),
    /// The skills a request calls for, best first.
    #[command(after_help = "Examples:
  skills agent route team.3md find the failing test")]
    Route(show::RouteArgs),
    /// The instructions of one skill.
    #[command(after_help = "Examples:
  skills agent get team.3md search
  skills agent get team.3md --z 2")]
    Get(show::SkillArgs),
    /// The instructions of a skill and of every skill it depends on.
    #[command(after_help = "Examples:
  skills agent resolve team.3md search")]
    Resolve(show::SkillArgs),
    /// The command a skill is bound to, filled with values. Nothing is run.
    #[command(after_help = "Examples:
  skills agent command team.3md search --set pattern='it is'
  skills agent command team.3md search --set pattern=todo --argv")]
    Command(command::CommandArgs),
    /// Check documents and say what is wrong with them, and where.
    #[command(after_help = "Examples:
  skills agent validate team.3md
  skills agent validate --strict agents/*.3md")]
    Validate(validate::ValidateArgs),
    /// Write the skills as markdown files, or everything as one JSON document.
    #[command(after_help = "Examples:
  skills agent export team.3md docs
  skills agent export team.3md --manifest > team.json")]
    Export(export::ExportArgs),
    /// Write a document to start from. Never overwrites.
    #[command(after_help = "Examples:
  skills agent new team.3md
  skills agent new team.3md --name Team")]
    New(new::NewArgs),
}

pub fn run(args: &AgentArgs) -> Result<(), CliError> {
    let output = &Output::new(args.json, args.quiet);
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

/// Reads a file.
fn text_of(path: &Path) -> Result<String, CliError> {
    file::read(path).map(|read| read.text).map_err(|error| {
        let (kind, hint) = match &error {
            ReadError::Extension(_) => (Kind::Invalid, "a document's name ends in `.3md`"),
            ReadError::TooLarge { .. } => (Kind::Invalid, "split the agent in two"),
            ReadError::Unreadable { cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
                let hint = "check the path; `skills agent new` makes a document";
                (Kind::NotFound, hint)
            }
            ReadError::Unreadable { .. } => (Kind::Broken, "it must be a file this user may read"),
        };
        let hint = Some(hint.into());
        let message = error.to_string();
        CliError {
            kind,
            message,
            hint,
        }
    })
}

/// Reads a document and loads it.
fn open(path: &Path) -> Result<Agent, CliError> {
    Agent::parse(&text_of(path)?).map_err(|error| CliError {
        kind: Kind::Broken,
        message: format!("{}: {error}", path.display()),
        hint: Some(error.hint().into()),
    })
}

/// One skill of a document.
#[derive(Args)]
struct WhichArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The skill's name.
    #[arg(value_name = "NAME", required_unless_present = "z")]
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

impl WhichArgs {
    fn wanted(&self) -> Wanted<'_> {
        match (&self.name, self.z) {
            (None, Some(z)) => Wanted::Z(z),
            (name, _) => Wanted::Name(name.as_deref().unwrap_or_default()),
        }
    }

    /// The skill, or what may have been meant.
    fn find<'a>(&self, agent: &'a Agent) -> Result<&'a Skill, CliError> {
        let wanted = self.wanted();
        agent.get(wanted).ok_or_else(|| {
            let names = agent.skills().map(|skill| skill.name.as_str());
            let near = match wanted {
                Wanted::Name(name) => nearest(name, names),
                Wanted::Z(_) => None,
            };
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`skills agent skills {}` lists them", self.file.display()),
            };
            CliError {
                kind: Kind::NotFound,
                message: UnknownSkill::from(wanted).to_string(),
                hint: Some(hint),
            }
        })
    }
}
