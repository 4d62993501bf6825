//! Log lines on stderr.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// What is said unless `RUST_LOG` chooses. The MCP library reports every mistake of a
/// client, who is told anyway; the one that watches folders, every folder that was removed.
const USUAL: &str = "info,rmcp=error,notify=error";

/// Starts logging; `RUST_LOG` chooses what.
pub fn start(format: Format) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(USUAL));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let started = match format {
        Format::Human => subscriber.with_ansi(colour).with_target(false).try_init(),
        Format::Json => subscriber.json().flatten_event(true).try_init(),
    };
    // Started before, by a test perhaps; that one goes on.
    let _ = started;
}

/// Logging for a command that ends soon: what is wrong, and no times. `RUST_LOG`
/// chooses more.
pub fn start_for_a_verb(quiet: bool) {
    let usual = if quiet { "error" } else { "warn,notify=error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .try_init();
    // Started before, by a test perhaps; that one goes on.
    let _ = started;
}
