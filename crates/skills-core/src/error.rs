//! Errors of the registry, for three readers: a program (kind), a person (message and hint),
//! a developer (source).

mod kind;
mod no_lease;

use std::fmt;

pub use self::kind::Kind;
use self::no_lease::NoLease;
use crate::{Current, Failure, FilePath, FunctionId, Owner, Precondition, PromptName, SkillId};

/// Why a call of the registry failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value breaks a rule.
    #[error("{what} {problem}")]
    Invalid {
        /// The invalid thing; begins the message.
        what: String,
        /// The problem; ends the message.
        problem: String,
        /// How to correct it.
        hint: Option<String>,
    },
    /// An address in the form that function addresses had before their prefix `fn/`.
    #[error("skill not found: {old}")]
    OldLink {
        /// The requested address.
        old: String,
        /// The address in its present form.
        new: String,
    },
    /// Nothing is registered under this id.
    #[error("skill not found: {id}")]
    NoSuchSkill {
        /// The requested id.
        id: SkillId,
        /// The nearest existing id.
        nearest: Option<String>,
    },
    /// No document of this origin has this id.
    #[error("skill not found: {uri}")]
    NoSuchDocument {
        /// The requested address.
        uri: String,
        /// An address that can be read instead.
        instead: Option<String>,
    },
    /// A document has the id or the name already, and the configuration refuses a second one.
    #[error("{what} is in conflict with {place}")]
    DocumentConflict {
        /// The registration, such as "skill `resend`".
        what: String,
        /// Where the document is.
        place: String,
    },
    /// An entry has no such version, or one without a text.
    #[error("version {version} of {what} {problem}")]
    NoSuchVersion {
        /// The entry, such as "skill `resend`".
        what: String,
        /// The requested version.
        version: String,
        /// Why it cannot be read.
        problem: String,
        /// The versions that can be read.
        hint: String,
    },
    /// An entry is not registered and never was.
    #[error("{what} has no versions: nothing found")]
    NoHistory {
        /// The entry, such as "skill `resend`".
        what: String,
    },
    /// No skill has an id with this beginning.
    #[error("no skill found at {uri}")]
    NoSuchSubtree {
        /// The requested address.
        uri: String,
        /// The skill itself, if the index does not offer it, or the nearest address that lists skills.
        nearest: Option<String>,
    },
    /// The text has no such heading.
    #[error("heading not found: {uri}")]
    NoSuchHeading {
        /// The requested address.
        uri: String,
        /// The nearest address of a heading, or all of them.
        headings: String,
    },
    /// No skill folder has this file.
    #[error("file not found: {path}")]
    NoSuchFile {
        /// The id of the skill and the path in its folder.
        path: FilePath,
        /// The nearest existing file of that skill.
        nearest: Option<String>,
    },
    /// A skill that is not an Agent Skill.
    #[error("skill `{id}` is not an Agent Skill: {reason}")]
    NotPublished {
        /// Its id.
        id: SkillId,
        /// Why, and the remedy.
        reason: String,
    },
    /// No prompt has this name.
    #[error("prompt not found: {name}")]
    NoSuchPrompt {
        /// The requested name.
        name: PromptName,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// A function that cannot be a section or a prompt handler.
    #[error("function `{function}` is in an internal namespace and cannot be called from here")]
    InternalNamespace {
        /// The requested function.
        function: FunctionId,
    },
    /// No lease of this owner can be extended.
    #[error("no lease to renew: {}", NoLease(owner, *entries))]
    NoLease {
        /// The owner.
        owner: Owner,
        /// How many entries name it, without a time to live.
        entries: usize,
    },
    /// Something else is registered than the caller expected.
    #[error("conflict: {what} {current}; expected {expected}")]
    Conflict {
        /// The thing, such as "skill `resend`".
        what: String,
        /// What the caller expected.
        expected: Precondition,
        /// What is registered.
        current: Current,
    },
    /// A call to the engine's state failed.
    #[error("could not {doing}: {cause}")]
    State {
        /// The action, completing "could not ...".
        doing: String,
        /// Why the call failed.
        #[source]
        cause: Failure,
    },
    /// The function of a section address failed.
    #[error("section `iii://fn/{path}`: function `{function}` {cause}")]
    Section {
        /// The path of the function in the address.
        path: String,
        /// The function that was called.
        function: FunctionId,
        /// Why the call failed.
        #[source]
        cause: Failure,
    },
    /// The handler of a prompt failed.
    #[error("prompt `{prompt}`: handler `{function}` {cause}")]
    Handler {
        /// The requested prompt.
        prompt: PromptName,
        /// The function that was called.
        function: FunctionId,
        /// Why the call failed.
        #[source]
        cause: Failure,
    },
    /// A function that was called as a tool failed.
    #[error("function `{function}` {cause}")]
    Function {
        /// The function that was called.
        function: FunctionId,
        /// Why the call failed.
        #[source]
        cause: Failure,
    },
    /// The handler of a prompt returned a result that cannot be turned into messages.
    #[error("prompt `{prompt}`: handler `{function}` returned an unsupported shape ({got})")]
    UnsupportedShape {
        /// The requested prompt.
        prompt: PromptName,
        /// The function that was called.
        function: FunctionId,
        /// A description of the result.
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
        /// The error of the source.
        problem: String,
    },
    /// Some addresses of a batch could not be read.
    #[error("{}", Unread(.0))]
    Unread(Vec<(String, Error)>),
}

/// Lists every address that failed, several of them on a line each.
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
    /// An error whose message is "`what` `problem`".
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            what: what.into(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// The same with a hint.
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

    /// What a program needs to know about it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Invalid { .. } => Kind::Invalid,
            Self::OldLink { .. }
            | Self::NoSuchSkill { .. }
            | Self::NoSuchDocument { .. }
            | Self::NoSuchSubtree { .. }
            | Self::NoSuchVersion { .. }
            | Self::NoHistory { .. }
            | Self::NoSuchHeading { .. }
            | Self::NoSuchFile { .. }
            | Self::NotPublished { .. }
            | Self::NoLease { .. }
            | Self::NoSuchPrompt { .. } => Kind::NotFound,
            Self::InternalNamespace { .. } => Kind::Forbidden,
            Self::Conflict { .. } | Self::DocumentConflict { .. } => Kind::Conflict,
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
                Failure::Unreachable { .. } => Kind::Unavailable,
                Failure::Failed { .. } => Kind::Failed,
            },
            Self::UnsupportedShape { .. } | Self::Damaged { .. } | Self::Source { .. } => {
                Kind::Broken
            }
            Self::Unread(failed) => failed.first().map_or(Kind::Broken, |(_, e)| e.kind()),
        }
    }

    /// How a person or an agent can correct it, if known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid { hint, .. } => hint.clone(),
            Self::OldLink { new, .. } => Some(format!("function addresses look like `{new}` now")),
            Self::NoSuchSkill { nearest, .. }
            | Self::NoSuchSubtree { nearest, .. }
            | Self::NoSuchFile { nearest, .. }
            | Self::NoSuchPrompt { nearest, .. } => {
                nearest.as_ref().map(|n| format!("did you mean `{n}`?"))
            }
            Self::NoSuchDocument { instead, .. } => {
                instead.as_ref().map(|uri| format!("`{uri}` has a text"))
            }
            Self::NoSuchVersion { hint, .. } => Some(hint.clone()),
            Self::NoHistory { .. } => Some(
                "only what was registered has versions; files have those of their folder".into(),
            ),
            Self::DocumentConflict { .. } => {
                Some("use another id, rename the file, or set `sources.on_conflict: hide`".into())
            }
            Self::NoLease { entries: 0, .. } => {
                Some("its entries were removed or registered by others: register them again".into())
            }
            Self::NoLease { .. } => Some("register them again with `ttl_ms`".into()),
            Self::NoSuchHeading { headings, .. } => Some(headings.clone()),
            Self::NotPublished { id, .. } => Some(format!("read it at `iii://{id}`")),
            Self::InternalNamespace { .. } => {
                Some("publish the content under a namespace of your own worker".into())
            }
            Self::Conflict { current, .. } => Some(match current {
                Current::Absent => {
                    "register it with `if_match: null`, or without `if_match`".into()
                }
                Current::Digest(_) => "read it again and repeat the change on what it says".into(),
                Current::Damaged => "register it without `if_match`, or unregister it".into(),
            }),
            Self::State { cause, .. } => failure_hint(
                cause,
                "raise `state_timeout_ms` or try again",
                "the engine must run a state worker (`state::*`)",
            ),
            Self::Section { cause, .. } | Self::Handler { cause, .. } => failure_hint(
                cause,
                "raise `state_timeout_ms` or make it answer faster",
                "is the worker that offers it connected?",
            ),
            Self::Function { cause, .. } => failure_hint(
                cause,
                "make it answer faster, or ask for less",
                "is the worker that offers it connected?",
            ),
            Self::UnsupportedShape { .. } => {
                Some("return a string, `{\"content\": \"...\"}` or `{\"messages\": [...]}`".into())
            }
            Self::Damaged { .. } => Some("register it again, or unregister it".into()),
            Self::Source { .. } => None,
            Self::Unread(failed) => failed.iter().find_map(|(_, e)| e.hint()),
        }
    }

    /// Message and hint in one text, for surfaces with one field for both.
    pub fn to_text(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self} ({hint})"),
            None => self.to_string(),
        }
    }
}

fn failure_hint(cause: &Failure, timed_out: &str, absent: &str) -> Option<String> {
    match cause {
        Failure::TimedOut { .. } => Some(timed_out.into()),
        Failure::Absent => Some(absent.into()),
        Failure::Unreachable { .. } => Some("is the engine running?".into()),
        Failure::Failed { .. } => None,
    }
}

#[cfg(test)]
mod tests;
