//! What can go wrong, for three readers: a program (kind), a person (message
//! and hint), a developer (source).

use std::fmt;

use crate::{Failure, FunctionId, PromptName, SkillId};

/// The closed set of kinds. Each surface has one table from kind to its own
/// codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The request breaks a rule; sending it again will not help.
    Invalid,
    /// The thing asked for is not there.
    NotFound,
    /// The thing asked for may not be reached this way.
    Forbidden,
    /// Something behind the registry did not do its part.
    Unavailable,
    /// Something behind the registry did not answer in time.
    TimedOut,
    /// Stored data cannot be understood.
    Broken,
}

impl Kind {
    /// The kind's name on every surface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Broken => "broken",
        }
    }
}

/// Why the registry could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value breaks a rule.
    #[error("{what} {problem}")]
    Invalid {
        /// The field or thing at fault, beginning the sentence.
        what: String,
        /// What is wrong with it, ending the sentence.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A link in the form that was used before function addresses had a prefix.
    #[error("skill not found: {old}")]
    OldLink {
        /// The link as it was asked for.
        old: String,
        /// The address it should be now.
        new: String,
    },
    /// Nothing is registered under this id.
    #[error("skill not found: {id}")]
    NoSuchSkill {
        /// The id that was asked for.
        id: SkillId,
        /// The nearest id that does exist.
        nearest: Option<String>,
    },
    /// No prompt has this name.
    #[error("prompt not found: {name}")]
    NoSuchPrompt {
        /// The name that was asked for.
        name: PromptName,
        /// The nearest name that does exist.
        nearest: Option<String>,
    },
    /// A function that backs neither a section nor a prompt.
    #[error("function `{function}` is in an internal namespace and cannot be called from here")]
    InternalNamespace {
        /// The function that was asked for.
        function: FunctionId,
    },
    /// The engine's state did not do what it was asked.
    #[error("could not {doing}: {cause}")]
    State {
        /// The action, completing "could not ...".
        doing: String,
        /// What the engine said.
        #[source]
        cause: Failure,
    },
    /// The function behind a section address did not answer.
    #[error("section `iii://fn/{path}`: function `{function}` {cause}")]
    Section {
        /// The function's path in the address.
        path: String,
        /// The function that was called.
        function: FunctionId,
        /// Whether it failed, is absent or was too slow.
        #[source]
        cause: Failure,
    },
    /// The handler of a prompt did not answer.
    #[error("prompt `{prompt}`: handler `{function}` {cause}")]
    Handler {
        /// The prompt that was asked for.
        prompt: PromptName,
        /// The function that was called.
        function: FunctionId,
        /// Whether it failed, is absent or was too slow.
        #[source]
        cause: Failure,
    },
    /// A function that was called as a tool did not answer.
    #[error("function `{function}` {cause}")]
    Function {
        /// The function that was called.
        function: FunctionId,
        /// Whether it failed, is absent or was too slow.
        #[source]
        cause: Failure,
    },
    /// The handler of a prompt answered something that is no prompt.
    #[error("prompt `{prompt}`: handler `{function}` returned an unsupported shape ({got})")]
    UnsupportedShape {
        /// The prompt that was asked for.
        prompt: PromptName,
        /// The function that was called.
        function: FunctionId,
        /// What came back, in a few words.
        got: String,
    },
    /// A stored row that cannot be decoded.
    #[error("{what} is stored but cannot be read: {problem}")]
    Damaged {
        /// The thing, such as "skill `resend`".
        what: String,
        /// Why it cannot be decoded.
        problem: String,
    },
    /// A source of documents could not be read.
    #[error("could not {doing}: {problem}")]
    Source {
        /// The action, completing "could not ...".
        doing: String,
        /// What the source said.
        problem: String,
    },
    /// Some addresses of a batch could not be read.
    #[error("{}", Unread(.0))]
    Unread(Vec<(String, Error)>),
}

/// Lists every address that failed, one a line when there are several.
struct Unread<'a>(&'a [(String, Error)]);

impl fmt::Display for Unread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(uri, error)] = self.0 {
            return write!(f, "could not read {uri}: {error}");
        }
        write!(f, "could not read {} addresses:", self.0.len())?;
        for (uri, error) in self.0 {
            write!(f, "\n- {uri}: {error}")?;
        }
        Ok(())
    }
}

impl Error {
    /// A value breaks a rule: "`what` `problem`".
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            what: what.into(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// The same, with advice.
    pub fn invalid_hint(
        what: impl Into<String>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Invalid {
            what: what.into(),
            problem: problem.into(),
            hint: Some(hint.into()),
        }
    }

    /// Turns a failed call to state into an error. `doing` completes "could not ...".
    pub(crate) fn state<S: Into<String>>(
        doing: impl FnOnce() -> S,
    ) -> impl FnOnce(Failure) -> Self {
        |cause| Self::State {
            doing: doing().into(),
            cause,
        }
    }

    /// A stored row that cannot be decoded.
    pub(crate) fn damaged(what: String, problem: &str) -> Self {
        Self::Damaged {
            what,
            problem: problem.to_owned(),
        }
    }

    /// What a program should make of it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Invalid { .. } => Kind::Invalid,
            Self::OldLink { .. } | Self::NoSuchSkill { .. } | Self::NoSuchPrompt { .. } => {
                Kind::NotFound
            }
            Self::InternalNamespace { .. } => Kind::Forbidden,
            Self::State { cause, .. } => match cause {
                Failure::TimedOut { .. } => Kind::TimedOut,
                Failure::Absent | Failure::Unreachable { .. } | Failure::Failed { .. } => {
                    Kind::Unavailable
                }
            },
            Self::Section { cause, .. }
            | Self::Handler { cause, .. }
            | Self::Function { cause, .. } => match cause {
                Failure::TimedOut { .. } => Kind::TimedOut,
                Failure::Absent => Kind::NotFound,
                Failure::Unreachable { .. } | Failure::Failed { .. } => Kind::Unavailable,
            },
            Self::UnsupportedShape { .. } | Self::Damaged { .. } | Self::Source { .. } => {
                Kind::Broken
            }
            Self::Unread(failed) => failed.first().map_or(Kind::Broken, |(_, e)| e.kind()),
        }
    }

    /// What gets a person or an agent unstuck, where something does.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid { hint, .. } => hint.clone(),
            Self::OldLink { new, .. } => Some(format!("function addresses look like `{new}` now")),
            Self::NoSuchSkill { nearest, .. } | Self::NoSuchPrompt { nearest, .. } => {
                nearest.as_ref().map(|n| format!("did you mean `{n}`?"))
            }
            Self::InternalNamespace { .. } => {
                Some("publish the content under a namespace of your own worker".into())
            }
            Self::State { cause, .. } => match cause {
                Failure::TimedOut { .. } => Some("raise `state_timeout_ms` or try again".into()),
                Failure::Absent => Some("the engine must run a state worker (`state::*`)".into()),
                Failure::Unreachable { .. } => Some("is the engine running?".into()),
                Failure::Failed { .. } => None,
            },
            Self::Section { cause, .. } | Self::Handler { cause, .. } => match cause {
                Failure::TimedOut { .. } => {
                    Some("raise `state_timeout_ms` or make it answer faster".into())
                }
                Failure::Absent => Some("is the worker that offers it connected?".into()),
                Failure::Unreachable { .. } => Some("is the engine running?".into()),
                Failure::Failed { .. } => None,
            },
            Self::Function { cause, .. } => match cause {
                Failure::TimedOut { .. } => Some("make it answer faster, or ask for less".into()),
                Failure::Absent => Some("is the worker that offers it connected?".into()),
                Failure::Unreachable { .. } => Some("is the engine running?".into()),
                Failure::Failed { .. } => None,
            },
            Self::UnsupportedShape { .. } => {
                Some("return a string, `{\"content\": \"...\"}` or `{\"messages\": [...]}`".into())
            }
            Self::Damaged { .. } => Some("register it again, or unregister it".into()),
            Self::Source { .. } => None,
            Self::Unread(failed) => failed.iter().find_map(|(_, e)| e.hint()),
        }
    }

    /// Message and hint in one text, for surfaces that have room for one only.
    pub fn to_text(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self} ({hint})"),
            None => self.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_failure_names_every_address_and_keeps_the_first_kind() {
        let missing = || Error::NoSuchSkill {
            id: "a".parse().unwrap(),
            nearest: Some("b".into()),
        };
        let one = Error::Unread(vec![("iii://a".into(), missing())]);
        assert_eq!(
            one.to_string(),
            "could not read iii://a: skill not found: a"
        );
        assert_eq!(one.hint().as_deref(), Some("did you mean `b`?"));
        let two = Error::Unread(vec![
            ("iii://a".into(), missing()),
            ("iii://x".into(), Error::invalid("x", "is odd")),
        ]);
        assert_eq!(two.kind(), Kind::NotFound);
        assert!(two.to_string().contains("- iii://a: skill not found: a"));
        assert!(two.to_string().contains("- iii://x: x is odd"));
    }
}
