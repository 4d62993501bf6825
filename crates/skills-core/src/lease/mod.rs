//! Owners and leases of registered skills and prompts.
//!
//! The rules: a registration may name its owner, and a time to live. Both are kept beside the
//! row, in a scope of their own, together with the time of the registration that they belong
//! to, and are stored before it. A later registration of the same id has another time, so that it
//! ends the lease unless it brings its own. A lease is valid until the time to live has passed since the registration, or
//! since its owner renewed; after that the entry is stale, and later it is removed.

mod marks;
mod row;
mod schedule;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use marks::{LeaseMarks, deadlines};
pub(crate) use row::{EntryLeases, Lease, LeaseRow, Renewal};
pub use schedule::{ExpiryPlan, ExpirySchedule};

use crate::limits::{MAX_LEASE_MS, MAX_OWNER_BYTES};
use crate::{Error, PromptName, SkillId};

/// Who keeps an entry registered, such as the name of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The owner as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for Owner {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Err(Error::invalid("owner", "must be non-empty"));
        }
        if text.len() > MAX_OWNER_BYTES {
            let problem = format!(
                "is too long: {} bytes, at most {MAX_OWNER_BYTES}",
                text.len()
            );
            return Err(Error::invalid_hint("owner", problem, "use a worker's name"));
        }
        if text.chars().any(char::is_control) {
            let problem = format!("must not have control characters: {text:?}");
            return Err(Error::invalid("owner", problem));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long a registration is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ttl(u64);

impl Ttl {
    /// A time to live in milliseconds.
    pub fn from_ms(ms: u64) -> Result<Self, Error> {
        match ms {
            0 => {
                let hint = "leave it out for an entry that stays until it is unregistered";
                let problem = "must be at least 1, not 0";
                Err(Error::invalid_hint("ttl_ms", problem, hint))
            }
            1..=MAX_LEASE_MS => Ok(Self(ms)),
            _ => {
                let problem = format!("is too large: {ms}, at most {MAX_LEASE_MS} (365 days)");
                let hint = "renew the lease in time, or leave `ttl_ms` out";
                Err(Error::invalid_hint("ttl_ms", problem, hint))
            }
        }
    }

    /// In milliseconds.
    pub const fn as_ms(self) -> u64 {
        self.0
    }
}

/// How long a lease may be there before its registration is. Until then it is not removed.
pub(crate) const IN_FLIGHT_MS: u64 = 10 * 60 * 1_000;

/// What a registration says about its owner and its lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseTerms {
    /// Who keeps the entry registered.
    pub owner: Option<Owner>,
    /// How long it is valid without being renewed.
    pub ttl: Option<Ttl>,
    /// The id of the worker that made the call, if the engine tells. It does not make a lease.
    pub worker: Option<Arc<str>>,
}

impl LeaseTerms {
    /// Whether the registration names neither an owner nor a time to live.
    pub const fn is_empty(&self) -> bool {
        self.owner.is_none() && self.ttl.is_none()
    }
}

/// The owner and the lease of an entry, as lists show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHead {
    /// Who keeps it registered.
    pub owner: Option<Owner>,
    /// Until when it is valid, RFC 3339 in UTC.
    pub expires_at: Option<Arc<str>>,
    /// Whether that time has passed.
    pub stale: bool,
}

/// What happens to entries past their leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseSettings {
    /// Whether they are removed. If not, they are only marked.
    pub remove: bool,
    /// How long they are marked before they are removed.
    pub grace: Duration,
}

impl Default for LeaseSettings {
    fn default() -> Self {
        Self {
            remove: true,
            grace: Duration::from_mins(1),
        }
    }
}

/// A registered skill or prompt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryName {
    /// A skill.
    Skill(SkillId),
    /// A prompt.
    Prompt(PromptName),
}

impl EntryName {
    /// The key of its lease.
    pub(crate) fn key(&self) -> Arc<str> {
        match self {
            Self::Skill(id) => format!("{SKILL}{id}").into(),
            Self::Prompt(name) => format!("{PROMPT}{name}").into(),
        }
    }

    /// Its id or its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Skill(id) => id.as_str(),
            Self::Prompt(name) => name.as_str(),
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Result<Self, Error>> {
        if let Some(id) = key.strip_prefix(SKILL) {
            return Some(id.parse().map(Self::Skill));
        }
        let name = key.strip_prefix(PROMPT)?;
        Some(name.parse().map(Self::Prompt))
    }
}

/// ``skill `resend` ``.
impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill(id) => write!(f, "skill `{id}`"),
            Self::Prompt(name) => write!(f, "prompt `{name}`"),
        }
    }
}

/// The prefixes of the keys in the scope of leases. An id has no `:`.
const SKILL: &str = "skill:";
const PROMPT: &str = "prompt:";
const OWNER: &str = "owner:";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(owner: &str, expected: &str) {
        let got = match owner.parse::<Owner>() {
            Ok(owner) => owner.to_string(),
            Err(error) => error.to_text(),
        };
        assert!(got.contains(expected), "for {owner:?}: {got:?}");
    }

    #[test]
    fn owners() {
        check("mailer", "mailer");
        check("host.local:4711 é", "host.local:4711 é");
        check(&"x".repeat(256), "xxx");
        check("", "owner must be non-empty");
        check(" ", "owner must be non-empty");
        check(
            &"x".repeat(10_240),
            "owner is too long: 10240 bytes, at most 256",
        );
        check("a\u{1b}[31mb", r"must not have control characters");
    }

    #[test]
    fn times_to_live() {
        let ms = |ms| Ttl::from_ms(ms).map(Ttl::as_ms).map_err(|e| e.to_text());
        assert_eq!(ms(1), Ok(1));
        assert_eq!(ms(31_536_000_000), Ok(31_536_000_000));
        let zero = ms(0).unwrap_err();
        assert!(zero.contains("ttl_ms must be at least 1, not 0"), "{zero}");
        // The year 10,000, and the largest number.
        for large in [253_402_300_800_000, u64::MAX] {
            let error = ms(large).unwrap_err();
            let expected = format!("ttl_ms is too large: {large}, at most 31536000000 (365 days)");
            assert!(error.contains(&expected), "{error}");
        }
    }

    #[test]
    fn an_entry_is_found_by_its_key() {
        let entries = [
            EntryName::Skill("resend/email".parse().unwrap()),
            EntryName::Prompt("greet".parse().unwrap()),
        ];
        for entry in entries {
            let found = EntryName::from_key(&entry.key());
            assert_eq!(found.map(Result::unwrap), Some(entry));
        }
        assert!(EntryName::from_key("skill:A").unwrap().is_err());
        assert!(EntryName::from_key("owner:mailer").is_none());
    }
}
