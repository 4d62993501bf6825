//! `skills`: a worker on an engine that runs elsewhere.

use std::io::Write;

use clap::Args;

use super::{CliError, Common, block_on, log, manifest};
use crate::app;
use crate::config::Config;
use crate::engine::remote;

#[derive(Args)]
pub struct WorkerArgs {
    #[command(flatten)]
    common: Common,

    /// Print the module manifest as JSON and exit.
    #[arg(long)]
    manifest: bool,
}

pub fn run(args: WorkerArgs) -> Result<(), CliError> {
    if args.manifest {
        let text = serde_json::to_string_pretty(&manifest::manifest());
        let text = text.map_err(|error| CliError::broken(error.to_string()))?;
        // A reader that has seen enough is no failure.
        let _ = writeln!(std::io::stdout(), "{text}");
        return Ok(());
    }
    log::start(args.common.log_format);
    let loaded = Config::load(&args.common.config);
    app::warn_about(&loaded);
    block_on(async {
        let client = remote::connect(&args.common.url, args.common.token).map_err(|error| {
            CliError::invalid(
                error.to_string(),
                "an engine's address looks like ws://127.0.0.1:49134",
            )
        })?;
        tracing::info!(url = args.common.url, "connecting");
        app::work(client, &loaded, app::stop_signal()).await;
        Ok(())
    })
}
