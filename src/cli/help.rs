//! `--help`, wrapped to the width of the terminal.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use console::{Term, measure_text_width};

use super::{Cli, CliError, output};

/// The width of help in a pipe, and its greatest width on a terminal.
const WIDEST: usize = 100;
/// What the second line of something is indented by.
const HANGING: &str = "      ";

/// Prints the help that a command line asks for.
pub fn print(words: Vec<OsString>) -> ExitCode {
    let width = width();
    let command = folded(Cli::command(), width).term_width(width);
    let Err(help) = command.try_get_matches_from(words) else {
        return ExitCode::SUCCESS;
    };
    let help = help.render();
    let styled = Term::stdout().features().colors_supported();
    let help = if styled {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    // The synopsis is not wrapped yet.
    let lines = help.lines().map(|line| match measure_text_width(line) {
        columns if columns > width => fill(line.trim_start(), "", width),
        _ => line.to_owned(),
    });
    match output::print_ready(&output::lines(lines)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => CliError::report(error, false),
    }
}

/// The width to wrap at: that of the terminal, else `COLUMNS`.
fn width() -> usize {
    let terminal = Term::stdout();
    let size = terminal
        .is_term()
        .then(|| terminal.size_checked())
        .flatten();
    let columns = size.map(|(_, columns)| usize::from(columns));
    let columns = columns.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok());
    columns
        .filter(|columns| *columns > 0)
        .unwrap_or(WIDEST)
        .min(WIDEST)
}

/// The command and all below it, with examples that fit.
fn folded(command: Command, width: usize) -> Command {
    let command = command.mut_subcommands(|below| folded(below, width));
    let examples = command
        .get_after_help()
        .map(|text| fold(&text.to_string(), width));
    match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

/// Wraps examples and the text below them. If one example does not fit, the comments on all of
/// them go below their commands.
fn fold(text: &str, width: usize) -> String {
    let fits = |line: &str| measure_text_width(line) <= width;
    let parts = text.split("\n\n").map(|part| {
        if part.lines().all(fits) {
            return part.to_owned();
        }
        match part.strip_prefix("Examples:\n") {
            Some(examples) => {
                let examples = examples.lines().map(|line| example(line, width));
                format!("Examples:\n{}", examples.collect::<Vec<_>>().join("\n"))
            }
            None => fill(&part.replace('\n', " "), "", width),
        }
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

/// An example with its comment below it.
fn example(line: &str, width: usize) -> String {
    let content = line.trim_start();
    let indent = &line[..line.len() - content.len()];
    // The comment on the command before, or the rest of the command.
    if indent.len() >= HANGING.len() {
        return format!("{HANGING}{}", fill(content, HANGING, width));
    }
    let (command, comment) = content.split_once("  ").unwrap_or((content, ""));
    let mut out = format!("{indent}{}", fill(command, HANGING, width));
    if !comment.is_empty() {
        let comment = fill(comment.trim_start(), HANGING, width);
        out.extend(["\n", HANGING, &comment]);
    }
    out
}

/// Wraps text at spaces; lines after the first begin with `indent`. The first has room for an
/// indent too.
fn fill(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    let mut columns = indent.len();
    for word in text.split(' ') {
        let length = measure_text_width(word);
        if out.is_empty() {
            out.push_str(word);
        } else if columns + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            columns = indent.len();
            out.push_str(word);
        } else {
            out.push(' ');
            columns += 1;
            out.push_str(word);
        }
        columns += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_does_not_fit_goes_below_its_command() {
        let text =
            "Examples:\n  skills list            a tree with sizes\n  skills a\n\nOne two\nthree.";
        assert_eq!(
            fold(text, 30),
            "Examples:\n  skills list\n      a tree with sizes\n  skills a\n\nOne two\nthree.",
            "what fits stays as it is"
        );
        assert_eq!(fold("One two three.", 8), "One two\nthree.");
        let text = "Examples:\n  skills serve --http 0.0.0.0:49135 --token T";
        assert_eq!(
            fold(text, 24),
            "Examples:\n  skills serve\n      --http\n      0.0.0.0:49135\n      --token T"
        );
    }
}
