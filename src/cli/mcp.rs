//! `skills mcp`: the registry for one MCP client, on stdin and stdout.

use std::path::PathBuf;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::options;
use super::{Stop, block_on, document, log};
use crate::app;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    #[command(flatten)]
    pub document: document::DocumentArgs,

    /// The engine to go through; if none answers there, the data directory is used
    /// [default: `SKILLS_URL`, else `ws://127.0.0.1:49134`].
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// A bearer token for the engine.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SKILLS_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,

    /// Work on this data directory and, unless --url is given too, look for no engine
    /// [default: `SKILLS_DATA_DIR`, else this user's data directory].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// The configuration that names files and scopes [default: ./config.yaml].
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,

    /// How log lines on stderr look.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    log_format: log::Format,
}

const EXAMPLES: &str = "Examples:
  skills mcp                                  the registry, for an MCP client to start
  skills mcp --data-dir ./data                the registry in this directory
  skills mcp agent.3md                        the skills of one document
  skills mcp --selftest agent.3md             whether a client would be well served";

pub fn run(args: McpArgs) -> Result<(), Stop> {
    log::start(args.log_format);
    let loaded = options::configuration(args.config);
    app::warn_about(&loaded);
    let (place, _) = options::place(args.url, args.token, args.data_dir);
    block_on(async {
        let stop = CancellationToken::new();
        let (signal, signalled) = (app::stop_signal(), stop.clone());
        let signals = tokio::spawn(async move {
            signal.await;
            signalled.cancel();
        });
        let served = app::mcp(place, &loaded, stop).await;
        signals.abort();
        served.map_err(|error| Stop {
            kind: error.kind(),
            hint: error.hint(),
            message: error.to_string(),
        })
    })
}
