//! A function's id on the engine, and which ids are internal.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::escape::quote;
use crate::limits::MAX_FUNCTION_ID_BYTES;

/// The namespaces of the engine and of its bridges. Their functions cannot be sections,
/// prompt handlers or tools: content must not be a way to reach infrastructure.
pub const INTERNAL_NAMESPACES: &[&str] = &[
    "engine::",
    "state::",
    "stream::",
    "iii.",
    "iii::",
    "mcp::",
    "a2a::",
    "skills::",
    "prompts::",
];

/// A function's id, such as `resend::email::send`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(Box<str>);

impl FunctionId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is in one of the [`INTERNAL_NAMESPACES`].
    pub fn is_internal(&self) -> bool {
        INTERNAL_NAMESPACES
            .iter()
            .any(|namespace| self.0.starts_with(namespace))
    }

    /// The id, unless it is internal.
    pub fn callable(self) -> Result<Self, Error> {
        if self.is_internal() {
            Err(Error::InternalNamespace { function: self })
        } else {
            Ok(self)
        }
    }

    /// The path of its section address: `a/b` for `a::b`.
    pub fn path(&self) -> String {
        self.0.replace("::", "/")
    }
}

impl FromStr for FunctionId {
    type Err = Error;

    /// Any text that is not blank and has at most [`MAX_FUNCTION_ID_BYTES`] is an id; engines
    /// have their own rules.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid("function_id", "must be non-empty"));
        }
        if text.len() > MAX_FUNCTION_ID_BYTES {
            return Err(Error::invalid(
                format!("function_id {}", quote(text)),
                format!(
                    "is too long: {} bytes, at most {MAX_FUNCTION_ID_BYTES}",
                    text.len()
                ),
            ));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, internal: bool) {
        assert_eq!(
            id.parse::<FunctionId>().unwrap().is_internal(),
            internal,
            "for {id:?}"
        );
    }

    #[test]
    fn internal_namespaces() {
        for namespace in INTERNAL_NAMESPACES {
            check(&format!("{namespace}x"), true);
        }
        check(" state::get", true);
        check("skill::fetch", false);
        check("state", false);
        check("statement::x", false);
        check("my::state::get", false);
        check("iiix::y", false);
    }

    #[test]
    fn a_long_id_is_refused() {
        assert!("a".repeat(2_048).parse::<FunctionId>().is_ok());
        let error = "a".repeat(2_049).parse::<FunctionId>().unwrap_err();
        let expected = "...` is too long: 2049 bytes, at most 2048";
        assert!(error.to_string().ends_with(expected), "{error}");
    }

    #[test]
    fn a_blank_id_is_refused() {
        assert_eq!(
            " ".parse::<FunctionId>().unwrap_err().to_string(),
            "function_id must be non-empty"
        );
    }
}
