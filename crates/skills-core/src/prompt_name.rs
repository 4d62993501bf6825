//! A prompt's name: one segment.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, segment};

/// A prompt's name, such as `send-email`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptName(Arc<str>);

impl PromptName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for PromptName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Err(Error::invalid("name", "must be non-empty"));
        }
        segment::check("name", text)?;
        Ok(Self(text.into()))
    }
}

impl fmt::Display for PromptName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let got = match name.parse::<PromptName>() {
            Ok(name) => name.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(
            got.contains(expected),
            "for {name:?}: {got:?} has no {expected:?}"
        );
    }

    #[test]
    fn names() {
        check("send-email_2", "send-email_2");
        check(&"a".repeat(64), "aaaa");
        check(&"a".repeat(65), "too long");
        check("", "name must be non-empty");
        check("  ", "name must be non-empty");
        check("a/b", "has '/'; use lowercase");
        check("a::b", "has ':'; use lowercase");
        check("Send", "lowercase");
    }
}
