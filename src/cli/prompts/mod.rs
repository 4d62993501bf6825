//! `skills prompts`: one file per verb.

mod get;
mod list;
mod register;

use clap::{Args, Subcommand};

use super::{CliError, history, rollback, unregister};

/// List, render, register and unregister prompts, and bring back older versions.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PromptsArgs {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Examples:
  skills prompts list
  skills prompts get greet name=Ada
  skills prompts register greet --function demo::greet --description 'Compose a greeting.' \\
      --required 'name=Who to greet'
  skills prompts unregister greet
  skills prompts history greet
  skills prompts rollback greet 3";

#[derive(Subcommand)]
enum Verb {
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    Get(get::GetArgs),
    Register(register::RegisterArgs),
    #[command(visible_alias = "rm")]
    Unregister(unregister::PromptsArgs),
    History(history::PromptHistoryArgs),
    Rollback(rollback::PromptRollbackArgs),
}

pub fn run(args: &PromptsArgs) -> Result<(), CliError> {
    match &args.verb {
        Verb::List(args) => list::run(args),
        Verb::Get(args) => get::run(args),
        Verb::Register(args) => register::run(args),
        Verb::Unregister(args) => unregister::prompts(args),
        Verb::History(args) => history::prompt(args),
        Verb::Rollback(args) => rollback::prompt(args),
    }
}
