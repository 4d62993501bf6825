//! `skills mcp`: the registry for one MCP client, on stdin and stdout.

use std::path::PathBuf;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{Common, Stop, block_on, log};
use crate::app::{self, Reaching};
use crate::config::Config;

#[derive(Args)]
pub struct McpArgs {
    #[command(flatten)]
    common: Common,

    /// Where state is kept, should no engine answer [default: this user's data directory].
    #[arg(long, value_name = "DIR", env = "SKILLS_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

pub fn run(args: McpArgs) -> Result<(), Stop> {
    let Common {
        config,
        url,
        token,
        log_format,
    } = args.common;
    log::start(log_format);
    let loaded = Config::load(&config);
    app::warn_about(&loaded);
    block_on(async {
        let reaching = Reaching {
            url,
            token,
            data_dir: args.data_dir,
        };
        let stop = CancellationToken::new();
        let signalled = stop.clone();
        let signals = tokio::spawn(async move {
            app::stop_signal().await;
            signalled.cancel();
        });
        let served = app::mcp(reaching, &loaded, stop).await;
        signals.abort();
        served.map_err(|error| Stop {
            kind: error.kind(),
            hint: error.hint(),
            message: error.to_string(),
        })
    })
}
