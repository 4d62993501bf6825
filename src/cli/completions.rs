//! `skills completions`: the completion script of a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::print;
use super::{Cli, CliError};

/// Print the completion script of a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  skills completions bash > ~/.local/share/bash-completion/completions/skills
  skills completions zsh > \"${fpath[1]}/_skills\"
  skills completions fish > ~/.config/fish/completions/skills.fish";

pub fn run(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "skills", &mut script);
    print(&String::from_utf8_lossy(&script))
}
