//! `skills restore`: brings a backup into an empty data directory.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skills_core::ScopeNames;

use super::backup::counts_text;
use super::options::{OutputArgs, TargetArgs};
use super::{CliError, block_on, log};
use crate::app::Archive;

/// Bring a backup into an empty data directory.
#[derive(Args)]
#[command(
    after_help = EXAMPLES,
    // It works on the directory itself.
    mut_arg("url", |arg| arg.hide(true)),
    mut_arg("token", |arg| arg.hide(true)),
    mut_arg("discover", |arg| arg.hide(true))
)]
pub struct RestoreArgs {
    /// The file that `skills backup` wrote.
    file: PathBuf,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "Examples:
  skills restore skills.backup         into the data directory of this user
  skills restore skills.backup --data-dir new
  skills serve --data-dir new

All of the file is checked before anything is written. A directory with rows is left as it is,
and the exit code is 6. It works on the directory itself, not through an engine.";

pub fn run(args: &RestoreArgs) -> Result<(), CliError> {
    let output = args.output.output();
    log::start_for_a_verb(args.output.quiet);
    let shown = args.file.display().to_string();
    let file = fs::read(&args.file).map_err(|error| {
        let message = format!("cannot read {shown}: {error}");
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                CliError::not_found(message, "`skills backup FILE` writes one")
            }
            _ => CliError::broken(message),
        }
    })?;
    let archive = Archive::read(&file).map_err(|error| {
        let hint = error.hint();
        CliError::invalid(format!("cannot restore {shown}: {error}"), hint)
    })?;
    let loaded = args.target.engine.usable_config()?;
    let names = ScopeNames {
        skills: loaded.config.scopes.skills,
        prompts: loaded.config.scopes.prompts,
    };
    let dir = args.target.required_data_dir()?;
    let data = json!({
        "data_dir": dir,
        "created": archive.created,
        "rows": archive.counts(),
    });
    let (text, created, rows) = (
        counts_text(&archive),
        archive.created.clone(),
        archive.rows.len(),
    );
    block_on(async {
        archive
            .restore(&dir, &names)
            .await
            .map_err(|error| CliError {
                kind: error.kind(),
                message: format!("cannot restore {shown}: {error}"),
                hint: error.hint(),
            })
    })?;
    output.data("restore", &data, |_| text)?;
    let dir = dir.display();
    output.remark(&format!("restored {rows} rows of {created} into {dir}"));
    Ok(())
}
