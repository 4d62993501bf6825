//! Log lines on stderr.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// Options of the commands that log.
#[derive(Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// The format of log lines on stderr.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    log_format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for people.
    Human,
    /// One JSON object per line.
    Json,
}

/// The filter without `RUST_LOG`. rmcp logs every invalid request, which the client learns from
/// the response; notify logs every folder that was removed.
const DEFAULT_FILTER: &str = "info,rmcp=error,notify=error";

/// The filter of a short command without `RUST_LOG`. The command itself reports damaged rows and
/// writes that fail.
const VERB_FILTER: &str =
    "warn,notify=error,skills_core::catalogue=error,skills_iii::state::write_health=off";

/// Starts logging for a server.
pub fn start(args: LogArgs) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter(DEFAULT_FILTER))
        .with_writer(std::io::stderr);
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let started = match args.log_format {
        Format::Human => subscriber.with_ansi(colour).with_target(false).try_init(),
        Format::Json => subscriber.json().flatten_event(true).try_init(),
    };
    // A test may have started logging before.
    let _ = started;
}

/// Starts logging for a short command: warnings, without times.
pub fn start_for_a_verb(quiet: bool) {
    let default = if quiet {
        "error,skills_iii::state::write_health=off"
    } else {
        VERB_FILTER
    };
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter(default))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .try_init();
    // A test may have started logging before.
    let _ = started;
}

/// What `RUST_LOG` selects, else the default.
fn filter(default: &str) -> EnvFilter {
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default))
}
