//! The error type of the command line.

use std::process::ExitCode;

use serde::Serialize;
use skills_core::{Error, Kind, escape_control_in_lines};

use super::exit_code::exit_code;
use super::output::{error_to_stdout, to_stderr};

/// Why a command ended early.
#[derive(Debug)]
pub struct CliError {
    /// What a program makes of it.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl CliError {
    /// Something that should work did not.
    pub fn broken(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Broken,
            message: message.into(),
            hint: None,
        }
    }

    /// The command line asks for something that cannot be.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind: Kind::Invalid,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// Nothing of this name is there.
    pub fn not_found(message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            kind: Kind::NotFound,
            message: message.into(),
            hint,
        }
    }

    /// Says it, for people on stderr or, if `json`, as the one document on stdout, and
    /// answers the code. Where stdout has its document already, people hear the rest.
    pub fn report(self, json: bool) -> ExitCode {
        if !(json && error_to_stdout(&self.in_json())) {
            to_stderr(&self.in_words());
        }
        ExitCode::from(exit_code(self.kind))
    }

    fn in_words(&self) -> String {
        let hint = self.hint.as_deref();
        let hint = hint.map(|hint| format!("\nhint: {}\n", escape_control_in_lines(hint)));
        let message = escape_control_in_lines(&self.message);
        format!("error: {message}\n{}", hint.unwrap_or_default())
    }

    fn in_json(&self) -> String {
        #[derive(Serialize)]
        struct Envelope<'a> {
            error: Error<'a>,
        }
        #[derive(Serialize)]
        struct Error<'a> {
            kind: &'static str,
            message: &'a str,
            hint: Option<&'a str>,
        }
        let error = Error {
            kind: self.kind.name(),
            message: &self.message,
            hint: self.hint.as_deref(),
        };
        let text = serde_json::to_string(&Envelope { error });
        text.unwrap_or_default() + "\n"
    }
}

/// A rule that the command line breaks.
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
    fn an_error_is_one_document_or_a_few_lines() {
        let stop = || CliError::invalid("`x` is odd\u{7}", "make it even");
        assert_eq!(
            stop().in_words(),
            "error: `x` is odd\\u{7}\n\nhint: make it even\n"
        );
        assert_eq!(
            stop().in_json(),
            "{\"error\":{\"kind\":\"invalid\",\"message\":\"`x` is odd\\u0007\",\"hint\":\"make it even\"}}\n"
        );
    }
}
