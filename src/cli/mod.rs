//! The command line: one file per command.
//!
//! `connection` gives a verb access to the registry, `output` prints, `options` are the
//! shared options, `error` and [`exit_code`] are how a command fails. Commands ask no questions,
//! so that no script waits for input.

mod agent;
mod audit;
mod backup;
mod batch;
mod call;
mod completions;
mod connection;
mod diff;
mod doctor;
mod document;
mod error;
mod eval;
mod exit_code;
mod export;
mod fetch;
mod gc;
mod help;
mod history;
mod humanize;
mod import;
mod input;
mod key_value;
mod label;
mod lease;
mod lint;
mod list;
mod log;
mod man;
mod manifest;
mod markdown;
mod mcp;
mod new;
mod options;
mod output;
mod paths;
mod prompts;
mod read;
mod ready;
mod register;
mod restore;
mod rollback;
mod search;
mod serve;
mod stats;
mod table;
mod unregister;
mod watch;
mod worker;
mod write_file;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

pub use error::CliError;
pub use exit_code::{EXIT_CODES, exit_code};
pub use options::ENVIRONMENT;

use crate::app;

/// A content registry for AI agents.
///
/// Without a command: connects to an iii engine as a worker and serves skills and
/// prompts there. `skills serve` needs no other engine: it contains its own.
#[derive(Parser)]
#[command(name = "skills", bin_name = "skills", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    worker: worker::WorkerArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  skills serve                              engine, registry and HTTP on this machine
  skills mcp                                an MCP server on stdin and stdout
  skills serve skills                       every skill below the folder skills
  skills mcp agent.3md                      the skills of one document as MCP tools
  skills new pdf-forms                      create a skill folder
  skills register resend/email email.md     register a markdown file as a skill
  skills list                               list the skills
  skills read resend/email                  print what agents read at iii://resend/email
  skills history resend/email               its versions; `skills rollback` brings one back
  skills search send mail                   find skills by words and by meaning
  skills route how do I send a mail         find the skill for a request
  skills agent validate *.3md               list the problems of documents
  skills doctor                             check files, engine and store
  skills lint skills                        check the form, links and trust of skills
  skills --url ws://127.0.0.1:49134         a worker on an iii engine
  skills --manifest                         the manifest for installation by an engine

Logs go to stderr; RUST_LOG=debug adds detail.";

#[derive(Subcommand)]
enum Command {
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    #[command(visible_alias = "get")]
    Read(read::ReadArgs),
    Fetch(fetch::FetchArgs),
    Index(read::IndexArgs),
    Search(search::SearchArgs),
    Route(search::RouteArgs),
    Eval(eval::EvalArgs),
    Stats(stats::StatsArgs),
    Register(register::RegisterArgs),
    #[command(visible_alias = "rm")]
    Unregister(unregister::SkillsArgs),
    History(history::SkillHistoryArgs),
    Diff(diff::DiffArgs),
    Rollback(rollback::SkillRollbackArgs),
    Log(audit::LogArgs),
    Renew(lease::RenewArgs),
    Gc(gc::GcArgs),
    New(new::NewArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Prompts(prompts::PromptsArgs),
    Call(call::CallArgs),
    Watch(watch::WatchArgs),
    /// Run the registry with an embedded engine that workers connect to.
    Serve(serve::ServeArgs),
    /// Serve MCP on stdin and stdout: the registry, folders of skills, or one agent.3md document.
    Mcp(mcp::McpArgs),
    /// Work with one agent.3md document: read, route, fill commands, validate, export.
    Agent(agent::AgentArgs),
    /// Check files, engine and store: what is served, what is not and why. Changes nothing.
    Doctor(doctor::DoctorArgs),
    /// Check skills: their form, links, routing, and what in them must not be trusted.
    Lint(lint::LintArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    if completions::answer() {
        return ExitCode::SUCCESS;
    }
    let _log = log::FlushAtExit;
    let mut words: Vec<_> = std::env::args_os().collect();
    let starts_with_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    // The table of all commands is built only if it is needed.
    if words.get(1).is_some_and(starts_with_option) {
        words = options::command_first(words, &Cli::command());
    }
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return help::print(words),
        Err(error) => return report_usage(&error),
    };
    let outcome = match cli.command {
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Read(args)) => read::run(&args),
        Some(Command::Fetch(args)) => fetch::run(&args),
        Some(Command::Index(args)) => read::index(&args),
        Some(Command::Search(args)) => search::search(&args),
        Some(Command::Route(args)) => search::route(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Register(args)) => register::run(&args),
        Some(Command::Unregister(args)) => unregister::skills(&args),
        Some(Command::History(args)) => history::skill(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Rollback(args)) => rollback::skill(&args),
        Some(Command::Log(args)) => audit::run(&args),
        Some(Command::Renew(args)) => lease::renew(&args),
        Some(Command::Gc(args)) => gc::run(&args),
        Some(Command::New(args)) => new::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Backup(args)) => backup::run(&args),
        Some(Command::Restore(args)) => restore::run(&args),
        Some(Command::Prompts(args)) => prompts::run(&args),
        Some(Command::Call(args)) => call::run(&args),
        Some(Command::Watch(args)) => watch::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Mcp(args)) => match args.document.document() {
            Some(file) => return document::run(file, &args.document),
            None => mcp::run(&args),
        },
        Some(Command::Agent(args)) => agent::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Lint(args)) => lint::run(&args),
        None => worker::run(cli.worker),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(options::wants_json()),
    }
}

/// Prints help or the version, or reports a mistake in the command line; as JSON if the command
/// line contains `--json`.
fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || !options::wants_json() {
        // If the output is closed, the exit code still reports the mistake.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit_code::INVALID));
    }
    let text = error.render().to_string();
    // The message ends at the first empty line; tips and usage follow.
    let message = text.lines().take_while(|line| !line.is_empty());
    let message = message.map(str::trim).collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let tip = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("tip: "));
    let hint = tip.unwrap_or(
        "`skills --help` lists the commands, `skills COMMAND --help` the options of one",
    );
    CliError::invalid(message, hint).report(true)
}

/// Runs a future on a runtime with several threads.
fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| CliError::broken(format!("cannot start: {error}")))?;
    runtime.spawn(app::give_back_memory());
    let result = runtime.block_on(work);
    // Do not wait for threads that may block forever, such as a read of standard input.
    runtime.shutdown_background();
    result
}
