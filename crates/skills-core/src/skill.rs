//! A skill: a markdown body under an id.

use std::sync::{Arc, OnceLock};

use crate::limits::BODY_MAX;
use crate::markdown::Head;
use crate::{Error, GeneratedSkillMd, SkillId};

/// A registered skill.
#[derive(Debug)]
pub struct Skill {
    /// Its id.
    pub id: SkillId,
    /// Its markdown.
    pub body: Arc<str>,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    head: OnceLock<Head>,
    generated: OnceLock<Option<GeneratedSkillMd>>,
}

impl Skill {
    /// A skill whose body has passed [`check_body`].
    pub fn new(id: SkillId, body: impl Into<Arc<str>>, registered_at: impl Into<Arc<str>>) -> Self {
        Self {
            id,
            body: body.into(),
            registered_at: registered_at.into(),
            head: OnceLock::new(),
            generated: OnceLock::new(),
        }
    }

    /// Title, description and triggers. They are extracted on first use, so that loading many
    /// skills does not parse them all.
    pub fn head(&self) -> &Head {
        self.head.get_or_init(|| Head::of(&self.body))
    }

    /// Its `SKILL.md` for clients of Agent Skills, if its id has a name. Computed on first use.
    pub fn generated(&self) -> Option<&GeneratedSkillMd> {
        let generate = || GeneratedSkillMd::of(&self.id, self.head(), &self.body, &self.body);
        self.generated.get_or_init(generate).as_ref()
    }
}

impl PartialEq for Skill {
    fn eq(&self, other: &Self) -> bool {
        self.registered_at == other.registered_at && self.id == other.id && self.body == other.body
    }
}

/// Checks a body: it must not be blank and has at most [`BODY_MAX`] bytes.
pub fn check_body(body: &str) -> Result<(), Error> {
    if body.trim().is_empty() {
        return Err(Error::invalid("skill", "must be non-empty"));
    }
    if body.len() > BODY_MAX {
        return Err(Error::invalid_hint(
            "skill",
            format!("is too large: {} bytes, at most {BODY_MAX}", body.len()),
            "split it: a small parent that links to its children",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let got = check_body(body).map_or_else(|e| e.to_string(), |()| "fine".into());
        assert!(got.contains(expected), "{got:?} has no {expected:?}");
    }

    #[test]
    fn bodies() {
        check("x", "fine");
        check("", "skill must be non-empty");
        check(" \n\t", "skill must be non-empty");
        check(&"a".repeat(262_144), "fine");
        check(&"a".repeat(262_145), "too large: 262145 bytes");
        check(&"é".repeat(131_072), "fine");
        check(
            &format!("{}é", "a".repeat(262_143)),
            "too large: 262145 bytes",
        );
    }
}
