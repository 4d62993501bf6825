//! Text input of commands: a file, or stdin.

use std::io::{self, IsTerminal};
use std::path::Path;

use skills_core::{BODY_MAX, Kind};
use skills_files::{MarkdownFile, ReadFileError, read_named_file, read_up_to};

use super::CliError;
use super::output::Output;

/// Reads a text of at most `limit` bytes from a file, or from stdin if it is `-`.
pub fn text(path: &Path, limit: usize, output: &Output) -> Result<String, CliError> {
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            output.note("reading from the terminal; Ctrl-D ends it");
        }
        let read = read_up_to(io::stdin().lock(), limit);
        let bytes = read.map_err(|error| failed(&error, "stdin", limit, Kind::Broken))?;
        return checked(bytes, "stdin");
    }
    let shown = path.display().to_string();
    let bytes = read_named_file(path, limit)
        .map_err(|error| failed(&error, &shown, limit, Kind::Invalid))?;
    checked(bytes, &shown)
}

/// Reads the body of a skill from a file that the message already names.
pub fn body(file: &MarkdownFile) -> Result<String, CliError> {
    let content = file
        .read(BODY_MAX)
        .map_err(|error| failed(&error, "it", BODY_MAX, Kind::Invalid))?;
    checked(content.bytes, "it")
}

/// `kind` is that of an error which has no kind of its own.
fn failed(error: &ReadFileError, shown: &str, limit: usize, kind: Kind) -> CliError {
    match error {
        ReadFileError::Directory => CliError::invalid(
            format!("{shown} is a directory"),
            format!("name a file, or take all of it with `skills import {shown}`"),
        ),
        ReadFileError::TooLarge { .. } => CliError::invalid(
            format!("{shown} is too large: more than {limit} bytes"),
            "split it, and link the parts with iii:// addresses",
        ),
        ReadFileError::NotRegular => CliError::invalid(
            format!("cannot read {shown}: {error}"),
            "name a regular file; `-` reads stdin, and with it any pipe",
        ),
        ReadFileError::Io(_) => CliError {
            kind: match error {
                ReadFileError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                    Kind::NotFound
                }
                _ => kind,
            },
            message: format!("cannot read {shown}: {error}"),
            hint: None,
        },
    }
}

fn checked(bytes: Vec<u8>, shown: &str) -> Result<String, CliError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::invalid(
            format!("{shown} is not text: byte {at} is not UTF-8"),
            "a skill is markdown in UTF-8",
        )
    })?;
    if text.contains('\0') {
        return Err(CliError::invalid(
            format!("{shown} is not text: it has a NUL character"),
            "a skill is markdown in UTF-8",
        ));
    }
    if text.trim().is_empty() {
        return Err(CliError::invalid(
            format!("{shown} is empty"),
            "there must be something in it",
        ));
    }
    Ok(text)
}
