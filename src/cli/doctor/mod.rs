//! `skills doctor`: every problem of the registry that runs, or of files and store here.

mod text;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::humanize::count;
use super::options::{OutputArgs, TargetArgs};
use super::paths::check_paths;
use super::{CliError, block_on};
use crate::app::{self, Checkup, Subject};
use crate::config::LoadedConfig;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Folders to check as `skills serve` and `skills mcp` would serve them. With a folder or
    /// --discover the files here are checked, although a registry may run.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Show what is in order too: engine, store, and which file is served under which id.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "Examples:
  skills doctor                               exit code 0 without findings, 1 with findings
  skills doctor --all                         what is in order too
  skills doctor skills                        the skills in the folder skills
  skills doctor --discover                    the skills of every agent on this machine
  skills doctor --config team.yaml --json     for programs";

pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let config = LoadedConfig {
        paths: check_paths(&args.paths)?,
        ..args.target.engine.usable_config()?
    };
    let files_here = !args.paths.is_empty() || args.target.engine.discover;
    let (target, _) = args.target.target();
    let checkup =
        block_on(async { Ok(app::checkup(target, &config, files_here, args.all).await) })?;
    let Checkup { subject, output } = &checkup;
    let data = json!({
        "healthy": output.healthy,
        "problems": output.problems,
        "checked": checked(subject),
        "version": output.version,
        "findings": output.findings,
        "well": output.well,
        "skills": output.skills,
        "prompts": output.prompts,
    });
    args.output
        .output()
        .data("doctor", &data, |_| text::report(&checkup))?;
    match output.problems {
        0 => Ok(()),
        problems => Err(CliError::broken(count(problems, "finding"))),
    }
}

/// What was examined, for programs.
fn checked(subject: &Subject) -> serde_json::Value {
    match subject {
        Subject::Registry(url) => json!({ "what": "registry", "url": url }),
        Subject::Engine(url) => json!({ "what": "engine", "url": url }),
        Subject::Directory { url, dir } => {
            json!({ "what": "directory", "url": url, "data_dir": dir })
        }
    }
}
