//! `skills mcp`: the Model Context Protocol on stdin and stdout.

use clap::Args;

use super::{Stop, document};

#[derive(Args)]
pub struct McpArgs {
    #[command(flatten)]
    pub document: document::DocumentArgs,
}

pub fn run(_: &McpArgs) -> Result<(), Stop> {
    Err(Stop::invalid(
        "no document was named",
        "say which: `skills mcp path/to/agent.3md`",
    ))
}
