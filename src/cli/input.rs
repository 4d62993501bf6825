//! Texts that are handed in: a file, or stdin.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use skills_core::{BODY_MAX, Kind};

use super::CliError;
use super::output::Output;

/// Reads a text of at most `most` bytes from a file, or from stdin if it is `-`.
pub fn text(path: &Path, most: usize, output: &Output) -> Result<String, CliError> {
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            output.note("reading from the terminal; Ctrl-D ends it");
        }
        return read(io::stdin().lock(), "stdin", most);
    }
    file(path, &path.display().to_string(), most)
}

/// Reads the body of a skill from a file that is spoken of already.
pub fn body(path: &Path) -> Result<String, CliError> {
    file(path, "it", BODY_MAX)
}

fn file(path: &Path, shown: &str, most: usize) -> Result<String, CliError> {
    let failed = |error: &io::Error| CliError {
        kind: match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            _ => Kind::Invalid,
        },
        message: format!("cannot read {shown}: {error}"),
        hint: None,
    };
    let found = path.metadata().map_err(|error| failed(&error))?;
    if found.is_dir() {
        return Err(CliError::invalid(
            format!("{shown} is a directory"),
            format!("name a file, or take all of it with `skills import {shown}`"),
        ));
    }
    read(
        File::open(path).map_err(|error| failed(&error))?,
        shown,
        most,
    )
}

fn read(source: impl Read, shown: &str, most: usize) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    source
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::broken(format!("cannot read {shown}: {error}")))?;
    if bytes.len() > most {
        return Err(CliError::invalid(
            format!("{shown} is too large: more than {most} bytes"),
            "split it, and link the parts with iii:// addresses",
        ));
    }
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
