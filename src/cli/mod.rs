//! The command line.

mod doctor;
mod exit;
mod log;
mod manifest;
mod serve;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

pub use exit::{Stop, exit_code};

/// A content registry for AI agents.
///
/// Without a command: connects to an iii engine as a worker and serves skills and
/// prompts there. `skills serve` needs no engine: it brings its own.
#[derive(Parser)]
#[command(name = "skills", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    worker: worker::WorkerArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  skills serve                              everything on this machine, nothing else needed
  skills doctor                             whether all is well; which files are not served and why
  skills --url ws://127.0.0.1:49134         a worker on an iii engine
  skills --manifest                         what an engine needs to know to install it

Logs go to stderr; RUST_LOG=debug says more.";

#[derive(Subcommand)]
enum Command {
    /// Run the registry with an engine of its own that workers connect to.
    Serve(serve::ServeArgs),
    /// Look at files, engine and store: what is served, what is not and why. Changes nothing.
    Doctor(doctor::DoctorArgs),
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
struct Common {
    /// The configuration file; without it the defaults apply.
    #[arg(long, value_name = "PATH", default_value = "./config.yaml")]
    config: PathBuf,

    /// Where workers meet: the engine's WebSocket address.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:49134")]
    url: String,

    /// A bearer token for the engine.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SKILLS_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,

    /// How log lines on stderr look.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    log_format: log::Format,
}

/// Runs the command line and reports how it went.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Doctor(args)) => doctor::run(args),
        None => worker::run(cli.worker),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.report(),
    }
}

/// A runtime for commands that need one.
fn block_on<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Stop::broken(format!("cannot start: {error}")))?;
    runtime.block_on(work)
}
