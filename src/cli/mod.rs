//! The command line.

mod agent;
mod doctor;
mod document;
mod exit;
mod log;
mod manifest;
mod mcp;
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
  skills mcp agent.3md                      the skills of one document as MCP tools
  skills agent validate *.3md               what is wrong with documents, and where
  skills doctor                             which files are served, which are not and why
  skills --url ws://127.0.0.1:49134         a worker on an iii engine
  skills --manifest                         what an engine needs to know to install it

Logs go to stderr; RUST_LOG=debug says more.";

#[derive(Subcommand)]
enum Command {
    /// Run the registry with an engine of its own that workers connect to.
    Serve(serve::ServeArgs),
    /// Speak MCP on stdin and stdout: the skills of one agent.3md document.
    Mcp(mcp::McpArgs),
    /// Work with one agent.3md document: read, route, fill commands, validate, export.
    Agent(agent::AgentArgs),
    /// Look at the configuration and its files: what is served, what is not and why.
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
        Some(Command::Mcp(args)) => match &args.document.file {
            Some(file) => return document::run(file, &args.document),
            None => mcp::run(&args),
        },
        Some(Command::Agent(args)) => match agent::run(&args) {
            Err(stop) => return agent::report(&args, stop),
            Ok(()) => Ok(()),
        },
        Some(Command::Doctor(args)) => doctor::run(&args),
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
