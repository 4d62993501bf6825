//! How a command ends: exit codes, and what a person reads.

use std::io::Write;
use std::process::ExitCode;

use skills_core::Kind;

/// Every exit code and the kinds of error behind it. Zero is success.
pub const fn exit_code(kind: Kind) -> u8 {
    match kind {
        Kind::Broken => 1,
        Kind::Invalid => 2,
        Kind::NotFound => 3,
        Kind::Forbidden => 4,
        Kind::Unavailable | Kind::TimedOut => 5,
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

    /// Says it on stderr and answers the code.
    pub fn report(self) -> ExitCode {
        let mut err = std::io::stderr().lock();
        // Nobody to tell it to: the code still says it.
        let _ = writeln!(err, "error: {}", self.message);
        if let Some(hint) = &self.hint {
            let _ = writeln!(err, "\nhint: {hint}");
        }
        ExitCode::from(exit_code(self.kind))
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
}
