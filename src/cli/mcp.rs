//! `skills mcp`: the registry for one MCP client, on stdin and stdout.

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::log::{self, LogArgs};
use super::options::TargetArgs;
use super::paths::check_paths;
use super::{CliError, block_on, document};
use crate::app;
use crate::config::LoadedConfig;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    #[command(flatten)]
    pub document: document::DocumentArgs,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "Examples:
  skills mcp                                  the registry, for an MCP client to start
  skills mcp skills                           every skill below the folder skills
  skills mcp --discover                       the skills of every agent on this machine
  skills mcp --data-dir ./data                the registry in this directory
  skills mcp agent.3md                        the skills of one document
  skills mcp --selftest agent.3md             check the server by calling each tool";

pub fn run(args: &McpArgs) -> Result<(), CliError> {
    if let Some(option) = args.document.document_option() {
        let message = format!("{option} is for one document");
        return Err(CliError::invalid(message, "name one `.3md` file"));
    }
    log::start(args.log);
    let paths = check_paths(&args.document.paths)?;
    let loaded = LoadedConfig {
        paths,
        ..args.target.engine.usable_config()?
    };
    app::log_warnings(&loaded);
    let (target, _) = args.target.target();
    block_on(async {
        let stop = CancellationToken::new();
        let (signal, signalled) = (app::stop_signal(), stop.clone());
        let signals = tokio::spawn(async move {
            signal.await;
            signalled.cancel();
        });
        let served = app::mcp(target, &loaded, stop).await;
        signals.abort();
        Ok(served?)
    })
}
