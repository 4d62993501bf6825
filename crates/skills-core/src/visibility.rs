//! Where a skill is visible: in the index, in search and routing, to readers, or nowhere.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::nearest::nearest;
use crate::{SkillId, front_matter};

/// How visible a skill is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Always in the index, whatever its budget.
    Pinned,
    /// In the index, and folded if the index exceeds its budget.
    #[default]
    Auto,
    /// In the index without its description.
    NameOnly,
    /// Listed and readable, but not in the index, in search or in routing.
    Manual,
    /// Not served at all.
    Off,
}

impl Visibility {
    const ALL: [Self; 5] = [
        Self::Pinned,
        Self::Auto,
        Self::NameOnly,
        Self::Manual,
        Self::Off,
    ];

    /// Its name in front matter and in `config.yaml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Auto => "auto",
            Self::NameOnly => "name-only",
            Self::Manual => "manual",
            Self::Off => "off",
        }
    }

    /// What the front matter of a document declares, if that can be read. Most documents have
    /// none, and a text search costs far less than a YAML parser.
    pub fn declared_in(document: &str) -> Option<Self> {
        let may_declare = |yaml: &&str| yaml.contains("visibility");
        let yaml = front_matter::split(document).0.filter(may_declare)?;
        front_matter::FrontMatter::parse(yaml)
            .ok()?
            .visibility()
            .ok()?
    }

    /// Whether the skill is listed and can be read.
    pub const fn is_served(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Whether the index, search and routing offer the skill.
    pub const fn is_offered(self) -> bool {
        matches!(self, Self::Pinned | Self::Auto | Self::NameOnly)
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Visibility {
    type Err = String;

    /// The error is a sentence whose subject is the value: "`pined` is not a visibility; did you mean
    /// `pinned`?".
    fn from_str(text: &str) -> Result<Self, String> {
        let written = text.trim();
        if let Some(found) = Self::ALL.iter().find(|value| value.as_str() == written) {
            return Ok(*found);
        }
        let names = || Self::ALL.iter().map(|value| value.as_str());
        let plain = written.to_lowercase().replace(['_', ' '], "-");
        let remedy = match nearest(&plain, names()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}.", names().collect::<Vec<_>>().join(", ")),
        };
        let shown: String = written.chars().take(40).collect();
        Err(format!("`{shown}` is not a visibility; {remedy}"))
    }
}

/// Which skills have which visibility by decision of the operator, who decides before the
/// front matter. The first pattern that matches an id counts.
///
/// A pattern is an id in which `*` stands for any characters of a segment, `?` for one of them,
/// and `**` for any number of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibilityRules(Vec<(String, Visibility)>);

impl VisibilityRules {
    /// Adds a pattern after the others.
    pub fn add(&mut self, pattern: impl Into<String>, visibility: Visibility) {
        self.0.push((pattern.into(), visibility));
    }

    /// The visibility of a skill whose front matter declares `declared`.
    pub fn visibility(&self, id: &SkillId, declared: Option<Visibility>) -> Visibility {
        self.find(id)
            .map(|(_, visibility)| visibility)
            .or(declared)
            .unwrap_or_default()
    }

    /// Why a skill is not served, if it is not: a phrase whose subject is the skill.
    pub fn off_reason(&self, id: &SkillId, declared: Option<Visibility>) -> Option<String> {
        if self.visibility(id, declared).is_served() {
            return None;
        }
        Some(match self.find(id) {
            Some((pattern, _)) => {
                format!("is off by the pattern `{pattern}` of `visibility` in the configuration")
            }
            None => "is off by `visibility: off` in its front matter".into(),
        })
    }

    /// Whether the operator turned a skill off, whatever it declares.
    pub(crate) fn turns_off(&self, id: &SkillId) -> bool {
        self.find(id)
            .is_some_and(|(_, visibility)| !visibility.is_served())
    }

    /// The patterns that match none of these skills, in order.
    pub fn unused<'a>(&'a self, ids: &[SkillId]) -> impl Iterator<Item = &'a str> {
        let patterns = self.0.iter().map(|(pattern, _)| pattern.as_str());
        patterns.filter(|pattern| !ids.iter().any(|id| matches_id(pattern, id)))
    }

    fn find(&self, id: &SkillId) -> Option<(&str, Visibility)> {
        let found = self.0.iter().find(|(pattern, _)| matches_id(pattern, id));
        found.map(|(pattern, visibility)| (pattern.as_str(), *visibility))
    }
}

impl Serialize for VisibilityRules {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(
            self.0
                .iter()
                .map(|(pattern, value)| (pattern, value.as_str())),
        )
    }
}

fn matches_id(pattern: &str, id: &SkillId) -> bool {
    let pattern: Vec<_> = pattern.split('/').collect();
    let segments: Vec<_> = id.as_str().split('/').collect();
    matches_path(&pattern, &segments)
}

fn matches_path(pattern: &[&str], segments: &[&str]) -> bool {
    matches_parts(
        pattern,
        segments,
        |part| *part == "**",
        |part, segment| matches_segment(part, segment),
    )
}

fn matches_segment(pattern: &str, segment: &str) -> bool {
    let is_one = |p: &u8, s: &u8| *p == b'?' || p == s;
    matches_parts(
        pattern.as_bytes(),
        segment.as_bytes(),
        |p| *p == b'*',
        is_one,
    )
}

/// Whether the parts of a pattern match a list. `is_any` parts match any number of entries; only
/// the last one of them is tried again, so that the cost is the product of the lengths.
fn matches_parts<P, T>(
    pattern: &[P],
    list: &[T],
    is_any: impl Fn(&P) -> bool,
    is_one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut at) = (0, 0);
    let mut last_any = None;
    while at < list.len() {
        if pattern.get(p).is_some_and(&is_any) {
            last_any = Some((p, at));
            p += 1;
        } else if pattern.get(p).is_some_and(|part| is_one(part, &list[at])) {
            p += 1;
            at += 1;
        } else if let Some((any, from)) = last_any {
            last_any = Some((any, from + 1));
            p = any + 1;
            at = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, id: &str, expected: bool) {
        let mut rules = VisibilityRules::default();
        rules.add(pattern, Visibility::Off);
        let got = rules.visibility(&id.parse().unwrap(), None) == Visibility::Off;
        assert_eq!(got, expected, "{pattern} and {id}");
    }

    #[test]
    fn patterns() {
        check("resend", "resend", true);
        check("resend", "resend/email", false);
        check("resend/*", "resend/email", true);
        check("resend/*", "resend", false);
        check("resend/*", "resend/email/send", false);
        check("resend/**", "resend", true);
        check("resend/**", "resend/email/send", true);
        check("**", "a/b/c", true);
        check("**/draft-*", "a/b/draft-1", true);
        check("**/draft-*", "draft-1", true);
        check("**/draft-*", "draft-1/b", false);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("*a*b*", "xxayyb", true);
        check("*a*b*", "xxbyya", false);
    }

    #[test]
    fn patterns_without_a_skill_are_named() {
        let mut rules = VisibilityRules::default();
        rules.add("a/**", Visibility::Off);
        rules.add("lagacy/*", Visibility::Off);
        let ids = ["a/b", "legacy/c"].map(|id| id.parse().unwrap());
        assert_eq!(rules.unused(&ids).collect::<Vec<_>>(), ["lagacy/*"]);
    }

    #[test]
    fn the_configuration_decides_before_the_front_matter() {
        let mut rules = VisibilityRules::default();
        rules.add("a/**", Visibility::Auto);
        rules.add("a/b", Visibility::Pinned);
        let of = |id: &str, declared| rules.visibility(&id.parse().unwrap(), declared);
        assert_eq!(of("a/b", Some(Visibility::Off)), Visibility::Auto);
        assert_eq!(of("c", Some(Visibility::Off)), Visibility::Off);
        assert_eq!(of("c", None), Visibility::Auto);
    }

    #[test]
    fn a_wrong_value_is_named_with_the_nearest_one() {
        let refused = |text: &str| text.parse::<Visibility>().unwrap_err();
        assert_eq!(
            refused("pined"),
            "`pined` is not a visibility; did you mean `pinned`?"
        );
        assert_eq!(
            refused("Name_Only"),
            "`Name_Only` is not a visibility; did you mean `name-only`?"
        );
        assert!(refused("hidden").ends_with("use one of pinned, auto, name-only, manual, off."));
        assert_eq!(" off ".parse(), Ok(Visibility::Off));
    }
}
