//! `skills serve`: everything on one machine.

use std::path::PathBuf;

use clap::Args;
use skills_core::Kind;

use super::{CliError, Common, block_on, log};
use crate::app::{self, ServeOptions};
use crate::config::Config;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    #[command(flatten)]
    common: Common,

    /// Where state is kept [default: this user's data directory].
    #[arg(long, value_name = "DIR", env = "SKILLS_DATA_DIR")]
    data_dir: Option<PathBuf>,

    /// Where HTTP is served.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:49135")]
    http: String,
}

const EXAMPLES: &str = "Examples:
  skills serve                                everything on this machine
  skills serve --data-dir ./data              state in this directory
  skills serve --url ws://127.0.0.1:0         workers meet at a free port, which the log tells
  skills serve --token T                      workers and HTTP clients must send this token";

pub fn run(args: ServeArgs) -> Result<(), CliError> {
    let Common {
        config,
        url,
        token,
        log_format,
    } = args.common;
    log::start(log_format);
    let loaded = Config::load(&config);
    app::warn_about(&loaded);
    let data_dir = args.data_dir.or_else(app::data_dir).ok_or_else(|| {
        CliError::invalid(
            "this user has no data directory",
            "say where state is kept with --data-dir",
        )
    })?;
    block_on(async {
        let serving = ServeOptions {
            url,
            http: args.http,
            data_dir,
            token,
        };
        app::serve(serving, &loaded, app::stop_signal())
            .await
            .map_err(|error| CliError {
                kind: error.kind().unwrap_or(Kind::Broken),
                hint: error.hint(),
                message: error.to_string(),
            })
    })
}
