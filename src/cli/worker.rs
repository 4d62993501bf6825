//! `skills` without a command: a worker on an engine that is already running.

use clap::Args;

use super::log::{self, LogArgs};
use super::options::EngineArgs;
use super::output::print;
use super::{CliError, block_on, manifest};
use crate::app;
use crate::engine::remote;

#[derive(Args)]
pub struct WorkerArgs {
    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    log: LogArgs,

    /// Print the module manifest as JSON and exit.
    #[arg(long)]
    manifest: bool,
}

pub fn run(args: WorkerArgs) -> Result<(), CliError> {
    if args.manifest {
        return print(&format!("{:#}\n", manifest::manifest()));
    }
    log::start(args.log);
    let loaded = args.engine.load_config();
    app::log_warnings(&loaded);
    let url = args.engine.url();
    let max_message_bytes = loaded.config.limits.engine_message_bytes;
    block_on(async {
        let client = remote::connect_worker(&url, args.engine.token, max_message_bytes).map_err(
            |error| {
                CliError::invalid(
                    error.to_string(),
                    "an engine's address looks like ws://127.0.0.1:49134",
                )
            },
        )?;
        tracing::info!(url, "connecting");
        app::work(client, &loaded, app::stop_signal()).await;
        Ok(())
    })
}
