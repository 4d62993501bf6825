//! `skills completions`: the completion script of a shell, and the answers to its requests.
//!
//! The script runs the program at each completion: the variable `COMPLETE` names the shell, and the
//! words of the command line follow `--`. An answer is candidates and nothing else: no error, no note,
//! and nothing is created.

mod bash_words;
mod candidates;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, complete};
use clap_complete::env::Shells;

pub use candidates::{document_skills, functions, prompt_names, skill_ids};

use super::output::print;
use super::{Cli, CliError};
use bash_words::BashWords;

/// The variable that makes a run a request of a completion script.
const VARIABLE: &str = "COMPLETE";

/// Print the completion script of a shell. Ids and names are completed from the registry.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  skills completions bash > ~/.local/share/bash-completion/completions/skills
  skills completions zsh > \"${fpath[1]}/_skills\"
  skills completions fish > ~/.config/fish/completions/skills.fish

The script asks the program, so it stays right when skills come and go; write it again after an
upgrade.";

pub fn run(args: &CompletionsArgs) -> Result<(), CliError> {
    let script = script(&args.shell.to_string());
    print(&script.map_err(|error| CliError::broken(format!("cannot write the script: {error}")))?)
}

fn script(shell: &str) -> io::Result<String> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell).ok_or(io::ErrorKind::Unsupported)?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "skills", "skills", &program(), &mut script)?;
    String::from_utf8(script).map_err(io::Error::other)
}

/// What the script runs: the program as it was called, so that a name is found in the path then.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from);
    let called = called.unwrap_or_else(|| "skills".into());
    let is_path = called.components().count() > 1;
    let here = std::env::current_dir().ok().filter(|_| is_path);
    let program = here.map_or_else(|| called.clone(), |here| here.join(&called));
    program.to_string_lossy().into_owned()
}

/// Answers the request of a completion script. Returns false if this run is not such a request.
pub fn answer() -> bool {
    let shell = std::env::var(VARIABLE).unwrap_or_default();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(&shell) else {
        return false;
    };
    let words: Vec<OsString> = requested_words();
    if words.is_empty() {
        // `source <(COMPLETE=bash skills)`
        return std::env::args_os().len() == 1
            && script(&shell).is_ok_and(|script| print(&script).is_ok());
    }
    let mut command = Cli::command();
    command.build();
    let here = std::env::current_dir().ok();
    let mut answer = Vec::new();
    let written = if shell == "bash" {
        let BashWords { words, cut } = BashWords::from_environment(words);
        let last = words.len().saturating_sub(1);
        let found = complete(&mut command, words, last, here.as_deref());
        found.map(|found| answer = bash_answer(&found, cut))
    } else {
        completer.write_complete(&mut command, words, here.as_deref(), &mut answer)
    };
    if written.is_ok() {
        // If the shell has gone, nothing is to be done.
        let _ = print(&String::from_utf8_lossy(&answer));
    }
    true
}

/// The words of the command line that is completed.
fn requested_words() -> Vec<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--");
    words.skip(1).collect()
}

/// The candidates as the script of bash reads them, each without its first `cut` bytes: bash
/// replaces a word only after its last colon.
fn bash_answer(found: &[CompletionCandidate], cut: usize) -> Vec<u8> {
    let separator = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".into());
    let values = found.iter().map(|candidate| {
        let value = candidate.get_value().to_string_lossy();
        value.get(cut..).unwrap_or(&value).to_owned()
    });
    values.collect::<Vec<_>>().join(&separator).into_bytes()
}
