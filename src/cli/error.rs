//! The error type of the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use serde::Serialize;
use skills_core::{Error, Kind};

use super::exit_code::exit_code;
use super::label::{Label, stderr_has_colours};
use super::log::print_safe_line;
use super::output::{SCHEMA_VERSION, print_error_document};
use super::{Cli, options};

/// Why a command failed.
#[derive(Debug)]
pub struct CliError {
    /// Decides the exit code.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl CliError {
    /// An error without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Something that should work does not.
    pub fn broken(message: impl Into<String>) -> Self {
        Self::new(Kind::Broken, message)
    }

    /// The command line or some input is invalid.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message).with_hint(hint)
    }

    /// The requested entry does not exist.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message).with_hint(hint)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the error and returns the exit code. With `json` the error goes to stdout, unless
    /// stdout already has its one document; otherwise to stderr.
    pub fn report(self, json: bool) -> ExitCode {
        if !(json && print_error_document(&self.to_json(&command_name()))) {
            print_safe_line(&self.to_text(stderr_has_colours()));
        }
        ExitCode::from(exit_code(self.kind))
    }

    fn to_text(&self, is_coloured: bool) -> String {
        let mut text = Label::Error.before(&self.message, is_coloured);
        if let Some(hint) = &self.hint {
            text.push_str("\n\n");
            text.push_str(&Label::Hint.before(hint, is_coloured));
        }
        text
    }

    fn to_json(&self, command: &str) -> String {
        #[derive(Serialize)]
        struct Envelope<'a> {
            schema_version: u32,
            command: &'a str,
            error: Body<'a>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            kind: &'static str,
            message: &'a str,
            hint: Option<&'a str>,
        }
        let error = Body {
            kind: self.kind.name(),
            message: &self.message,
            hint: self.hint.as_deref(),
        };
        let envelope = Envelope {
            schema_version: SCHEMA_VERSION,
            command,
            error,
        };
        serde_json::to_string(&envelope).unwrap_or_default()
    }
}

/// The command that this process runs, as its JSON documents name it.
fn command_name() -> String {
    options::command_name(std::env::args_os().collect(), &Cli::command())
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_as_text_or_json() {
        let error = || CliError::invalid("`x` is odd\u{7}", "make it even");
        assert_eq!(
            error().to_text(false),
            "error: `x` is odd\\u{7}\n\nhint: make it even"
        );
        assert_eq!(
            error().to_json("list"),
            "{\"schema_version\":1,\"command\":\"list\",\"error\":{\"kind\":\"invalid\",\"message\":\"`x` is odd\\u0007\",\"hint\":\"make it even\"}}"
        );
    }
}
