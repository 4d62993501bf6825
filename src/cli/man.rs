//! `skills man`: manual pages, generated from the definitions of `--help`.

use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use skills_core::nearest;

use super::exit_code::EXIT_CODES;
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
    let mut found = Cli::command();
    found.build();
    for word in &args.command {
        let Some(next) = found.find_subcommand(word) else {
            return Err(unknown(word, &found));
        };
        found = next.clone();
    }
    let page = page(found, args.command.is_empty());
    print(&page.map_err(|error| CliError::broken(format!("cannot write the page: {error}")))?)
}

fn page(command: Command, main: bool) -> std::io::Result<String> {
    let mut page = Vec::new();
    let manual = Man::new(command);
    manual.render_title(&mut page)?;
    manual.render_name_section(&mut page)?;
    manual.render_synopsis_section(&mut page)?;
    manual.render_description_section(&mut page)?;
    manual.render_options_section(&mut page)?;
    if main {
        manual.render_subcommands_section(&mut page)?;
    }
    manual.render_extra_section(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    // Without filling, examples keep their lines.
    let mut page = page.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    page.push_str(".fi\n.SH \"EXIT STATUS\"\n");
    for (code, meaning) in EXIT_CODES {
        let _ = write!(page, ".TP\n\\fB{code}\\fR\n{meaning}\n");
    }
    page.push_str(".SH ENVIRONMENT\n");
    for (name, meaning) in ENVIRONMENT {
        let _ = write!(page, ".TP\n\\fB{name}\\fR\n{meaning}\n");
    }
    Ok(page)
}

const ENVIRONMENT: &[(&str, &str)] = &[
    ("SKILLS_URL", "the engine's address, as with \\-\\-url"),
    ("SKILLS_TOKEN", "its bearer token, as with \\-\\-token"),
    (
        "SKILLS_DATA_DIR",
        "the data directory, as with \\-\\-data\\-dir",
    ),
    ("NO_COLOR", "if set, no styles on a terminal"),
    ("RUST_LOG", "the log filter, such as debug"),
];

fn unknown(word: &str, command: &Command) -> CliError {
    let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    let hint = match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`skills --help` lists the commands".into(),
    };
    CliError::not_found(format!("no such command: {word}"), hint)
}
