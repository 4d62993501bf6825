//! The `SKILL.md` of a skill that is not a folder: front matter made from its head, then its
//! body.
//!
//! Clients of Agent Skills know folders with a `SKILL.md` only. Values are double-quoted,
//! because the YAML versions that clients read agree on those alone.

use std::fmt::Write;

use crate::limits::MAX_SKILL_DESCRIPTION_CHARS;
use crate::{Digest, Head, SkillId, agent_skill};

/// What a manifest has of a generated `SKILL.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedSkillMd {
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub digest: Digest,
}

impl GeneratedSkillMd {
    /// The length and the digest of the text that [`generate`] returns.
    pub fn of(id: &SkillId, head: &Head, body: &str) -> Option<Self> {
        let text = generate(id, head, body)?;
        Some(Self {
            bytes: text.len() as u64,
            digest: Digest::of(text.as_bytes()),
        })
    }
}

/// The `SKILL.md` of the skill with this head and this body without front matter; `None` if
/// the last segment of the id cannot be a name.
pub fn generate(id: &SkillId, head: &Head, body: &str) -> Option<String> {
    let (name, description) = (name(id)?, description(id, head));
    let mut text = String::with_capacity(body.len() + description.len() + name.len() + 48);
    text.push_str("---\nname: ");
    push_quoted(&mut text, name);
    text.push_str("\ndescription: ");
    push_quoted(&mut text, &description);
    text.push_str("\n---\n\n");
    text.push_str(body);
    Some(text)
}

/// The front matter of a generated `SKILL.md` as a JSON object.
pub fn front_matter(id: &SkillId, head: &Head) -> Option<String> {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (name, description) = (text(name(id)?), text(&description(id, head)));
    Some(format!(r#"{{"name":{name},"description":{description}}}"#))
}

/// The last segment, if it can be the name of an Agent Skill.
pub fn name(id: &SkillId) -> Option<&str> {
    let name = id.as_str().rsplit('/').next().unwrap_or_default();
    agent_skill::is_name(name).then_some(name)
}

/// The end of a description that was cut.
const END: &str = "...";

/// A description is required: one without is described by its title, or by its id.
fn description(id: &SkillId, head: &Head) -> String {
    let given = head.description.as_deref().or(head.title.as_deref());
    let text = given.unwrap_or(id.as_str());
    if text.chars().count() <= MAX_SKILL_DESCRIPTION_CHARS {
        return text.to_owned();
    }
    let kept = text.chars().take(MAX_SKILL_DESCRIPTION_CHARS - END.len());
    kept.chain(END.chars()).collect()
}

/// Appends a YAML scalar in double quotes.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Not printable in YAML, or a line break in one of its versions.
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_matter::Document;

    #[track_caller]
    fn check(id: &str, body: &str, name: &str, description: &str) {
        let id: SkillId = id.parse().unwrap();
        let head = Head::of(body);
        let text = generate(&id, &head, body).unwrap();
        let document = Document::parse(&text);
        assert_eq!(document.body, format!("\n{body}"), "{text}");
        assert_eq!(agent_skill::rejections(&document, name), [""; 0], "{text}");
        let read = document.front_matter.unwrap();
        assert_eq!(read.name().unwrap(), name);
        assert_eq!(read.description().unwrap(), description);
        assert_eq!(read.json(), front_matter(&id, &head).unwrap());
    }

    #[test]
    fn front_matter_is_put_in_front() {
        let id: SkillId = "resend/email".parse().unwrap();
        let body = "# Email\n\nSends mail.\n";
        let text = generate(&id, &Head::of(body), body).unwrap();
        assert_eq!(
            text,
            "---\nname: \"email\"\ndescription: \"Sends mail.\"\n---\n\n# Email\n\nSends mail.\n"
        );
        check("a", "# A: \"b\" \\ c\n", "a", "A: \"b\" \\ c");
        check("a/b-c", "```\nx\n```\n", "b-c", "a/b-c");
        check("a", "Use: it # 1\nnow, é 🦀", "a", "Use: it # 1 now, é 🦀");
    }

    #[test]
    fn a_long_description_is_cut_and_an_id_without_a_name_has_none() {
        let head = Head {
            description: Some("é".repeat(2_000).into()),
            ..Head::default()
        };
        let id: SkillId = "a".parse().unwrap();
        let text = generate(&id, &head, "x").unwrap();
        let front_matter = Document::parse(&text).front_matter.unwrap();
        let description = front_matter.description().unwrap();
        assert_eq!(description.chars().count(), 1_024);
        assert!(description.ends_with("é..."));
        for id in ["a_b", "a/-b", "a--b"] {
            let id: SkillId = id.parse().unwrap();
            assert_eq!(generate(&id, &head, "x"), None, "{id}");
            assert_eq!(front_matter_of(&id), None);
        }
    }

    fn front_matter_of(id: &SkillId) -> Option<String> {
        front_matter(id, &Head::default())
    }
}
