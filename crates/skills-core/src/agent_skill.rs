//! What the Agent Skills specification asks of a `SKILL.md`, and why one is rejected.
//!
//! Other agents read the same folders, some of them strictly. A folder that is rejected here is
//! still served; it is only not offered to those clients.

use serde_json::Value;

use crate::escape::quote;
use crate::front_matter::{Difference, Document, FrontMatter};
use crate::limits::{MAX_COMPATIBILITY_CHARS, MAX_SKILL_DESCRIPTION_CHARS, SEGMENT_MAX};

/// The reasons why the specification rejects a document as the `SKILL.md` of the folder with
/// this name. Each is a phrase whose subject is the file, with a remedy.
pub fn rejections(document: &Document<'_>, folder: &str) -> Vec<String> {
    let violations = violations(document, folder).into_iter();
    violations.map(|violation| violation.reason).collect()
}

/// One reason why the specification rejects a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What it is about.
    pub about: About,
    /// A phrase whose subject is the file, with a remedy.
    pub reason: String,
}

/// The part of a document that breaks a rule of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// There is no front matter, or none that can be read.
    FrontMatter,
    /// The front matter can be read only after a repair.
    Repair,
    /// The value of a key.
    Key(&'static str),
    /// A text that versions of YAML read differently.
    YamlVersions,
}

/// The same reasons with what each is about.
pub fn violations(document: &Document<'_>, folder: &str) -> Vec<Violation> {
    let violation = |about, reason| Violation { about, reason };
    if let Some(problem) = &document.problem {
        return vec![violation(About::FrontMatter, problem.clone())];
    }
    let Some(front_matter) = &document.front_matter else {
        let reason =
            "has no front matter; begin with `---`, `name: ...`, `description: ...`, `---`";
        return vec![violation(About::FrontMatter, reason.into())];
    };
    let mut violations = Vec::new();
    if let Some(warning) = &front_matter.warning {
        let reason = format!("has front matter that was repaired: {warning}");
        violations.push(violation(About::Repair, reason));
    }
    let checks = [
        ("name", name(front_matter, folder)),
        ("description", description(front_matter)),
        ("license", text_or_absent(front_matter, "license")),
        ("compatibility", compatibility(front_matter)),
        ("metadata", metadata(front_matter)),
        (
            "allowed-tools",
            text_or_absent(front_matter, "allowed-tools"),
        ),
    ];
    let failed = |(key, check): (_, Result<(), String>)| {
        let reason = check.err()?;
        Some(violation(About::Key(key), reason))
    };
    violations.extend(checks.into_iter().filter_map(failed));
    if let Some(Difference { text, meaning }) = document.yaml_difference() {
        let reason = format!(
            "has {} in its front matter, which some versions of YAML read as {meaning}; put it in \
             quotes",
            quote(text)
        );
        violations.push(violation(About::YamlVersions, reason));
    }
    violations
}

/// Whether a text can be the name of an Agent Skill: lowercase letters, digits and single
/// hyphens between them.
pub fn is_name(text: &str) -> bool {
    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=SEGMENT_MAX).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// The nearest name to a text: lowercase, with a hyphen for every run of other characters. `None`
/// if nothing of it can be in a name.
pub fn nearest_name(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len().min(SEGMENT_MAX));
    for c in text.chars().flat_map(char::to_lowercase) {
        if name.len() == SEGMENT_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.truncate(name.trim_end_matches('-').len());
    (!name.is_empty()).then_some(name)
}

/// Why a skill with this last segment of its id cannot be published, and the cure.
pub fn no_name_reason(segment: &str) -> String {
    let near = nearest_name(segment).map(|near| format!(", such as `{near}`"));
    let near = near.unwrap_or_default();
    format!("`{segment}` cannot be the name of an Agent Skill; give it another id{near}")
}

/// A field that is text, if it is present at all.
fn text<'a>(front_matter: &'a FrontMatter, key: &str) -> Result<Option<&'a str>, String> {
    check_not_null(front_matter, key)?;
    front_matter.text(key)
}

fn check_not_null(front_matter: &FrontMatter, key: &str) -> Result<(), String> {
    match front_matter.get(key) {
        Some(Value::Null) => Err(format!(
            "has a `{key}` in its front matter without a value; write one, or delete the line"
        )),
        _ => Ok(()),
    }
}

fn name(front_matter: &FrontMatter, folder: &str) -> Result<(), String> {
    let Some(name) = text(front_matter, "name")? else {
        return Err(format!(
            "has no `name` in its front matter; add `name: {folder}`"
        ));
    };
    if !is_name(name) {
        return Err(format!(
            "has the name {}; use at most {SEGMENT_MAX} lowercase letters, digits and single \
             hyphens between them, and name the folder alike",
            quote(name)
        ));
    }
    if name != folder {
        return Err(format!(
            "has the name `{name}`, but its folder is {}; rename one of them",
            quote(folder)
        ));
    }
    Ok(())
}

fn description(front_matter: &FrontMatter) -> Result<(), String> {
    let description = text(front_matter, "description")?.unwrap_or_default();
    if description.trim().is_empty() {
        return Err(
            "has no `description` in its front matter; say what it does and when to use it".into(),
        );
    }
    check_length("description", description, MAX_SKILL_DESCRIPTION_CHARS)
}

fn compatibility(front_matter: &FrontMatter) -> Result<(), String> {
    match text(front_matter, "compatibility")? {
        Some(text) => check_length("compatibility", text, MAX_COMPATIBILITY_CHARS),
        None => Ok(()),
    }
}

fn check_length(key: &str, text: &str, limit: usize) -> Result<(), String> {
    match text.chars().count() {
        length if length > limit => Err(format!(
            "has a `{key}` of {length} characters, at most {limit}; shorten it"
        )),
        _ => Ok(()),
    }
}

fn text_or_absent(front_matter: &FrontMatter, key: &str) -> Result<(), String> {
    text(front_matter, key).map(drop)
}

fn metadata(front_matter: &FrontMatter) -> Result<(), String> {
    check_not_null(front_matter, "metadata")?;
    let entries = match front_matter.get("metadata") {
        None => return Ok(()),
        Some(Value::Object(entries)) => entries,
        Some(_) => {
            return Err("has a `metadata` in its front matter that is not a map; \
                        write `key: \"value\"` below it"
                .into());
        }
    };
    match entries.iter().find(|(_, value)| !value.is_string()) {
        Some((key, _)) => Err(format!(
            "has a {} in its `metadata` that is not text; put it in quotes",
            quote(key)
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let reasons = rejections(&Document::parse(text), "pdf");
        assert_eq!(reasons.len(), expected.len(), "for {text:?}: {reasons:#?}");
        for (reason, part) in reasons.iter().zip(expected) {
            assert!(reason.contains(part), "{reason:?} has no {part:?}");
        }
    }

    fn with(lines: &str) -> String {
        format!("---\nname: pdf\ndescription: Reads PDF files.\n{lines}---\n# PDF\n")
    }

    #[test]
    fn a_folder_is_an_agent_skill_or_has_reasons() {
        check(&with(""), &[]);
        check(
            &with("license: MIT\nmetadata: {a: 'b'}\nallowed-tools: Bash Read\nversion: 2\n"),
            &[],
        );
        check("# PDF\n", &["has no front matter; begin"]);
        check("---\nname: [pdf\n---\n# PDF\n", &["cannot be read"]);
        check(
            "---\nname: pdf\n---\n# PDF\n",
            &["has no `description` in its front matter"],
        );
        check("---\ndescription: x\n---\n# PDF\n", &["add `name: pdf`"]);
        check(
            "---\nname: pdfs\ndescription: Use: it\n---\n# PDF\n",
            &["was repaired: `description`", "but its folder is `pdf`"],
        );
        check(
            "---\nname: Pdf\ndescription: x\n---\n# PDF\n",
            &["has the name `Pdf`; use at most 64 lowercase"],
        );
        check(
            "\u{feff}---\nname: pdf\ndescription: x\n---\ny",
            &["byte order mark"],
        );
        check(
            &with("license: 5\n"),
            &["`license` in its front matter that is a number"],
        );
        check(&with("allowed-tools: [a]\n"), &["that is a list"]);
        check(
            &with("metadata: x\n"),
            &["`metadata` in its front matter that is not a map"],
        );
        check(
            &with("metadata: {version: 1.0}\n"),
            &["`version` in its `metadata`"],
        );
        for key in ["license", "compatibility", "metadata", "allowed-tools"] {
            let part = format!("has a `{key}` in its front matter without a value; write one");
            check(&with(&format!("{key}:\n")), &[&part]);
            check(&with(&format!("{key}: ~\n")), &[&part]);
        }
        check(
            "---\nname: pdf\ndescription:\n---\nx",
            &["has a `description` in its front matter without a value"],
        );
        check(&with("metadata: {a: null}\n"), &["`a` in its `metadata`"]);
        check(&with("metadata: {a: [b]}\n"), &["`a` in its `metadata`"]);
        for value in ["yes", "2026-01-31", "012", "1e3"] {
            let part = format!("has `{value}` in its front matter, which some versions of YAML");
            check(&with(&format!("x-y: {value}\n")), &[&part]);
            check(&with(&format!("x-y: \"{value}\"\n")), &[]);
        }
        check(
            &with("metadata: {date: 2026-01-31}\n"),
            &["read as a date; put it in quotes"],
        );
        check(&with("license: no\n"), &["read as true or false"]);
        check(
            &with("license: true\n"),
            &["`license` in its front matter that is true or false"],
        );
        let long = format!("compatibility: {}\n", "a".repeat(501));
        check(
            &with(&long),
            &["`compatibility` of 501 characters, at most 500"],
        );
        let long = format!("---\nname: pdf\ndescription: {}\n---\nx", "é".repeat(1025));
        check(&long, &["`description` of 1025 characters, at most 1024"]);
    }

    #[test]
    fn the_nearest_name() {
        for (text, name) in [
            ("pdf", "pdf"),
            ("My Skill", "my-skill"),
            ("--a__b--", "a-b"),
            ("Café 2.0", "caf-2-0"),
            ("a".repeat(70).as_str(), "a".repeat(64).as_str()),
        ] {
            assert_eq!(nearest_name(text).as_deref(), Some(name), "for {text}");
            assert!(is_name(name), "{name}");
        }
        assert_eq!(nearest_name("日本"), None);
    }

    #[test]
    fn names() {
        for name in ["a", "a-b", "0", &"a".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "a-",
            "a--b",
            "a_b",
            "A",
            "é",
            "a b",
            &"a".repeat(65),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
