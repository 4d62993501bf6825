//! How a command ends: exit codes, and what a person reads.

use std::process::ExitCode;

use serde::Serialize;
use skills_core::{Error, Kind};

use super::output::{error_to_stdout, tame, to_stderr};

/// It went well. So does ending because nobody reads any more.
pub const OK: u8 = 0;
/// Something that should work did not: damaged data, a disk, a bug.
pub const BROKEN: u8 = 1;
/// The command line, or something that was handed in, breaks a rule.
pub const INVALID: u8 = 2;
/// The thing asked for is not there.
pub const NOT_FOUND: u8 = 3;
/// The thing asked for may not be connected this way.
pub const FORBIDDEN: u8 = 4;
/// An engine or a worker is not there, or did not answer in time.
pub const UNAVAILABLE: u8 = 5;

/// Every exit code and what it means, for the man page. The README has the same table.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (OK, "fine"),
    (BROKEN, "broken"),
    (INVALID, "invalid use"),
    (NOT_FOUND, "not found"),
    (FORBIDDEN, "forbidden"),
    (UNAVAILABLE, "unavailable or timed out"),
];

/// The exit code of a kind of error.
pub const fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Broken => BROKEN,
        Kind::Invalid => INVALID,
        Kind::NotFound => NOT_FOUND,
        Kind::Forbidden => FORBIDDEN,
        Kind::Unavailable | Kind::TimedOut => UNAVAILABLE,
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub struct Stop {
    /// What a program makes of it.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Stop {
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
        let hint = hint.map(|hint| format!("\nhint: {}\n", tame(hint)));
        let message = tame(&self.message);
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
impl From<Error> for Stop {
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
    fn exit_codes_are_as_documented() {
        let codes = [
            (Kind::Broken, 1),
            (Kind::Invalid, 2),
            (Kind::NotFound, 3),
            (Kind::Forbidden, 4),
            (Kind::Unavailable, 5),
            (Kind::TimedOut, 5),
        ];
        for (kind, code) in codes {
            assert_eq!(exit_code(kind), code, "for {kind:?}");
        }
    }

    #[test]
    fn an_error_is_one_document_or_a_few_lines() {
        let stop = || Stop::invalid("`x` is odd\u{7}", "make it even");
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
