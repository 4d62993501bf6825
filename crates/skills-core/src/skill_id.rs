//! A skill's id: segments joined by `/`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::escape::quote;
use crate::limits::ID_MAX;
use crate::{Error, segment};

/// A skill's id, such as `resend/email/send`.
///
/// A value of this type has passed the id rules, so later code does not check again. Ordered
/// by bytes, as lists are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillId(Arc<str>);

impl SkillId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of levels above it.
    pub fn depth(&self) -> usize {
        self.0.bytes().filter(|&b| b == b'/').count()
    }

    /// The order of the index: children directly after their parent.
    ///
    /// Byte order would put `a-c` between `a` and `a/b`, so here a slash sorts before every
    /// other character.
    pub fn tree_cmp(&self, other: &Self) -> Ordering {
        let key = |b: u8| if b == b'/' { 0 } else { b };
        self.0.bytes().map(key).cmp(other.0.bytes().map(key))
    }

    /// Whether it is `other` or a skill below it.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(other.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for SkillId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Err(Error::invalid("id", "must be non-empty"));
        }
        if text.len() > ID_MAX {
            return Err(Error::invalid(
                format!("id {}", quote(text)),
                format!("is too long: {} bytes, at most {ID_MAX}", text.len()),
            ));
        }
        if text.split('/').next() == Some("fn") {
            return Err(Error::invalid_hint(
                format!("id {}", quote(text)),
                "must not start with `fn`, which is reserved for function addresses",
                "`fn` may stand deeper, as in `docs/fn`",
            ));
        }
        if text == "skills" {
            return Err(Error::invalid_hint(
                "id",
                "must not be `skills`, which is reserved for the index",
                "`skills/...` is free",
            ));
        }
        for part in text.split('/') {
            if part.is_empty() {
                return Err(Error::invalid_hint(
                    format!("id {}", quote(text)),
                    "has an empty segment; segments must be non-empty",
                    "no leading, trailing or doubled `/`",
                ));
            }
            segment::check("id segment", part)?;
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, expected: &str) {
        let got = match id.parse::<SkillId>() {
            Ok(id) => format!("depth {}", id.depth()),
            Err(error) => error.to_string(),
        };
        assert!(
            got.contains(expected),
            "for {id:?}: {got:?} has no {expected:?}"
        );
    }

    #[test]
    fn ids() {
        check("resend", "depth 0");
        check("resend/email/send", "depth 2");
        check("docs/fn-x", "depth 1");
        check("docs/fn", "depth 1");
        check("fn-x", "depth 0");
        check("skills/x", "depth 1");
        check("x/skills", "depth 1");
        check("", "id must be non-empty");
        check(" \t", "id must be non-empty");
        check("fn", "reserved");
        check(
            "fn/x",
            "id `fn/x` must not start with `fn`, which is reserved",
        );
        check(
            "skills",
            "id must not be `skills`, which is reserved for the index",
        );
        check("Resend", "id segment `Resend` has 'R'; use lowercase");
        check("a b", "has ' '; use lowercase");
        check("a.b", "has '.'; use lowercase");
        check("a\u{7}", "has '\\u{7}'; use lowercase");
        check("é", "has 'é'; use lowercase");
        check("a\0", "has '\\0'; use lowercase");
        check("/a", "non-empty");
        check("a/", "non-empty");
        check("a//b", "id `a//b` has an empty segment");
    }

    #[test]
    fn length_limits() {
        check(&"a".repeat(63), "depth 0");
        check(&"a".repeat(64), "depth 0");
        check(&"a".repeat(65), "is too long: 65 characters, at most 64");
        let long = |bytes: usize| {
            let mut id = "abcdefg/".repeat(bytes / 8 + 1);
            id.truncate(bytes);
            if id.ends_with('/') {
                id.replace_range(bytes - 1.., "x");
            }
            id
        };
        check(&long(1024), "depth");
        check(&long(1025), "is too long: 1025 bytes, at most 1024");
    }

    #[test]
    fn children_follow_their_parent() {
        let mut ids: Vec<SkillId> = ["a-c", "b", "a/b", "a", "a/b/c", "a0", "a_"]
            .iter()
            .map(|t| t.parse().unwrap())
            .collect();
        ids.sort_by(SkillId::tree_cmp);
        let texts: Vec<_> = ids.iter().map(SkillId::as_str).collect();
        assert_eq!(texts, ["a", "a/b", "a/b/c", "a-c", "a0", "a_", "b"]);
    }
}
