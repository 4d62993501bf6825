//! `skills serve`: the registry with an engine of its own, on one machine.

use std::path::PathBuf;

use clap::Args;

use super::log::{self, LogArgs};
use super::options::TargetArgs;
use super::paths::check_paths;
use super::{CliError, block_on};
use crate::app::{self, ServeOptions};
use crate::config::LoadedConfig;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Folders to serve: skill folders (`SKILL.md`), markdown files and `.3md` documents.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,

    /// The HTTP listen address.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:49135")]
    http: String,

    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "Examples:
  skills serve                                engine, registry and HTTP on this machine
  skills serve skills                         every skill below the folder skills
  skills serve --discover                     the skills of every agent on this machine
  skills serve --data-dir ./data              state in this directory
  skills serve --url ws://127.0.0.1:0         a free port for workers, shown in the log
  skills serve --token T                      require this token of workers and HTTP clients";

pub fn run(args: ServeArgs) -> Result<(), CliError> {
    log::start(args.log);
    let loaded = LoadedConfig {
        paths: check_paths(&args.paths)?,
        ..args.target.engine.load_config()
    };
    app::log_warnings(&loaded);
    let data_dir = args.target.data_dir().or_else(app::data_dir);
    let data_dir = data_dir.ok_or_else(|| {
        CliError::invalid(
            "this user has no data directory",
            "name one with --data-dir",
        )
    })?;
    let options = ServeOptions {
        url: args.target.engine.url(),
        http: args.http,
        data_dir,
        token: args.target.engine.token,
    };
    block_on(async {
        let served = app::serve(options, &loaded, app::stop_signal()).await;
        served.map_err(|error| CliError {
            kind: error.kind(),
            hint: error.hint(),
            message: error.to_string(),
        })
    })
}
