//! The error type of the command line.

use std::process::ExitCode;

use serde::Serialize;
use skills_core::{Error, Kind};

use super::exit_code::exit_code;
use super::log::print_line;
use super::output::print_error_document;

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
        if !(json && print_error_document(&self.to_json())) {
            print_line(&self.to_text());
        }
        ExitCode::from(exit_code(self.kind))
    }

    fn to_text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\n\nhint: {hint}"));
        format!("error: {}{}", self.message, hint.unwrap_or_default())
    }

    fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Envelope<'a> {
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
        serde_json::to_string(&Envelope { error }).unwrap_or_default()
    }
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
            error().to_text(),
            "error: `x` is odd\u{7}\n\nhint: make it even"
        );
        assert_eq!(
            error().to_json(),
            "{\"error\":{\"kind\":\"invalid\",\"message\":\"`x` is odd\\u0007\",\"hint\":\"make it even\"}}"
        );
    }
}
