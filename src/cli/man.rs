//! `skills man`: manual pages, generated from the definitions of `--help`.

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use skills_core::nearest;

use super::exit_code::EXIT_CODES;
use super::options::ENVIRONMENT;
use super::output::print;
use super::{Cli, CliError};

/// Print the manual page of the program or of one command.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// A command, such as `list` or `prompts get`; without it, the main page.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  skills man | man -l -
  skills man prompts get | man -l -
  skills man > ~/.local/share/man/man1/skills.1";

pub fn run(args: &ManArgs) -> Result<(), CliError> {
    let mut command = Cli::command();
    command.build();
    for name in &args.command {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| unknown(name, &command))?;
    }
    let mut page = Vec::new();
    let title = command
        .get_display_name()
        .unwrap_or("skills")
        .to_uppercase();
    let version = format!("skills {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).title(title).source(version);
    let rendered = man.manual("Manual of skills").render(&mut page);
    rendered.map_err(|error| CliError::broken(format!("cannot write the page: {error}")))?;
    let page = String::from_utf8_lossy(&page);
    // Without a date the other fields of the heading would move forward.
    let page = page.replacen(" 1  \"", " 1 \"\" \"", 1);
    // Examples keep their lines.
    let page = page.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    let item = |name: &str, meaning: &str| format!(".TP\n\\fB{name}\\fR\n{meaning}\n");
    let codes = EXIT_CODES.iter();
    let codes = codes.map(|(code, meaning)| item(&code.to_string(), meaning));
    let variables = ENVIRONMENT
        .iter()
        .map(|(name, meaning)| item(name, &meaning.replace('-', "\\-")));
    print(&format!(
        "{page}.fi\n.SH \"EXIT STATUS\"\n{}.SH ENVIRONMENT\n{}",
        codes.collect::<String>(),
        variables.collect::<String>()
    ))
}

fn unknown(word: &str, command: &Command) -> CliError {
    let names = command.get_subcommands().map(Command::get_name);
    let hint = match nearest(word, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`skills --help` lists the commands".into(),
    };
    CliError::not_found(format!("no such command: {word}"), hint)
}
