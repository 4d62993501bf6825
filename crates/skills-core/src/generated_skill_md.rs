//! The `SKILL.md` of a skill that is not a folder: front matter made from its head, then its
//! body exactly as `iii://` returns it. A text that is a `SKILL.md` already stays as it is.
//!
//! Clients of Agent Skills know folders with a `SKILL.md` only. Values are double-quoted,
//! because the YAML versions that clients read agree on those alone.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use crate::front_matter::{self, Document};
use crate::limits::MAX_SKILL_DESCRIPTION_CHARS;
use crate::{Digest, Head, SkillId, agent_skill};

/// What a manifest has of a generated `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedSkillMd {
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub digest: Digest,
    /// Its front matter as a JSON object.
    pub front_matter: Arc<str>,
}

impl GeneratedSkillMd {
    /// The length, the digest and the front matter of the text that [`generate`] returns.
    pub fn of(id: &SkillId, head: &Head, text: &str, body: &str) -> Option<Self> {
        let name = name(id)?;
        let front_matter = match own_front_matter(name, text) {
            Some(json) => json.into(),
            None => front_matter(name, &description(id, head)).into(),
        };
        let skill_md = generate(id, head, text, body)?;
        Some(Self {
            bytes: skill_md.len() as u64,
            digest: Digest::of(skill_md.as_bytes()),
            front_matter,
        })
    }
}

/// The `SKILL.md` of the skill with this head, whose document is `text` and whose `iii://`
/// address returns `body`; `None` if the last segment of the id cannot be a name.
pub fn generate<'a>(id: &SkillId, head: &Head, text: &'a str, body: &str) -> Option<Cow<'a, str>> {
    let name = name(id)?;
    if own_front_matter(name, text).is_some() {
        return Some(text.into());
    }
    let description = description(id, head);
    let mut skill_md = String::with_capacity(body.len() + description.len() + name.len() + 48);
    skill_md.push_str("---\nname: ");
    push_quoted(&mut skill_md, name);
    skill_md.push_str("\ndescription: ");
    push_quoted(&mut skill_md, &description);
    skill_md.push_str("\n---\n");
    skill_md.push_str(body);
    Some(skill_md.into())
}

/// A body below front matter with title, description and triggers of a head.
pub fn with_front_matter(head: &Head, body: &str) -> String {
    let mut text = "---\n".to_owned();
    let line = |text: &mut String, key: &str, value: &Option<Arc<str>>| {
        if let Some(value) = value {
            text.push_str(key);
            push_quoted(text, value);
            text.push('\n');
        }
    };
    line(&mut text, "title: ", &head.title);
    line(&mut text, "description: ", &head.description);
    for (number, trigger) in head.triggers.iter().flat_map(|all| all.iter()).enumerate() {
        text.push_str(if number == 0 {
            "triggers:\n  - "
        } else {
            "  - "
        });
        push_quoted(&mut text, trigger);
        text.push('\n');
    }
    text.push_str("---\n");
    text.push_str(body);
    text
}

/// The front matter of a text that is a valid `SKILL.md` of this name, as a JSON object.
fn own_front_matter(name: &str, text: &str) -> Option<String> {
    // Most texts have none, and this costs far less than to read one.
    front_matter::split(text).0?;
    let document = Document::parse(text);
    let is_valid = agent_skill::rejections(&document, name).is_empty();
    let front_matter = document.front_matter.filter(|_| is_valid)?;
    Some(front_matter.json().to_owned())
}

/// Generated front matter as a JSON object.
fn front_matter(name: &str, description: &str) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (name, description) = (text(name), text(description));
    format!(r#"{{"name":{name},"description":{description}}}"#)
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

    #[test]
    fn a_head_is_the_same_after_a_round_trip() {
        let head = Head {
            title: Some("A \"b\": c".into()),
            description: Some("Use it.".into()),
            triggers: Some(["find: code".into(), "- grep".into()].into()),
            visibility: None,
            ..Head::default()
        };
        let text = with_front_matter(&head, "Body\n");
        let read = Head::of(&text);
        assert_eq!(
            (read.title, read.description),
            (head.title, head.description)
        );
        assert_eq!(read.triggers, head.triggers);
        assert_eq!(Document::parse(&text).body, "Body\n");
    }

    #[track_caller]
    fn check(id: &str, body: &str, name: &str, description: &str) {
        let id: SkillId = id.parse().unwrap();
        let head = Head::of(body);
        let text = generate(&id, &head, body, body).unwrap();
        let document = Document::parse(&text);
        assert_eq!(document.body, body, "{text}");
        assert_eq!(agent_skill::rejections(&document, name), [""; 0], "{text}");
        let read = document.front_matter.unwrap();
        assert_eq!(read.name().unwrap(), name);
        assert_eq!(read.description().unwrap(), description);
        let generated = GeneratedSkillMd::of(&id, &head, body, body).unwrap();
        assert_eq!(read.json(), &*generated.front_matter);
        assert_eq!(generated.digest, Digest::of(text.as_bytes()));
        assert_eq!(generated.bytes, text.len() as u64);
    }

    #[test]
    fn front_matter_is_put_in_front_of_the_body() {
        let id: SkillId = "resend/email".parse().unwrap();
        let body = "# Email\n\nSends mail.\n";
        let text = generate(&id, &Head::of(body), body, body).unwrap();
        assert_eq!(
            text,
            "---\nname: \"email\"\ndescription: \"Sends mail.\"\n---\n# Email\n\nSends mail.\n"
        );
        check("a", "# A: \"b\" \\ c\n", "a", "A: \"b\" \\ c");
        check("a/b-c", "```\nx\n```\n", "b-c", "a/b-c");
        check("a", "Use: it # 1\nnow, é 🦀", "a", "Use: it # 1 now, é 🦀");
        check("a", "\r\n\r\nx", "a", "x");
        let reads = "---\ntitle: A\ndescription: Reads.\n---\n# B\n";
        check("a", reads, "a", "Reads.");
        let bad = "---\nname: b\ndescription: Reads.\n---\n# B\n";
        check("a", bad, "a", "Reads.");
        let unclosed = "---\nname: a\ndescription: Reads.\n# B\n";
        check("a", unclosed, "a", "Reads.");
    }

    #[test]
    fn a_text_that_is_a_skill_md_stays_as_it_is() {
        let id: SkillId = "docs/pdf".parse().unwrap();
        let text = "---\nname: pdf\ndescription: Reads.\nlicense: MIT\n---\n\n# PDF\n";
        let head = Head::of(text);
        assert_eq!(generate(&id, &head, text, "# PDF\n").unwrap(), text);
        let generated = GeneratedSkillMd::of(&id, &head, text, "# PDF\n").unwrap();
        let front_matter = r#"{"name":"pdf","description":"Reads.","license":"MIT"}"#;
        assert_eq!(&*generated.front_matter, front_matter);
        assert_eq!(generated.digest, Digest::of(text.as_bytes()));
    }

    #[test]
    fn every_description_can_be_read() {
        let long = "é".repeat(2_000);
        let id: SkillId = "a".parse().unwrap();
        for text in [
            "Reads: \"a\" # b",
            "a\nb\t\u{1}\u{2028}\u{feff}",
            "'",
            "yes",
            &long,
        ] {
            let head = Head {
                description: Some(text.into()),
                ..Head::default()
            };
            let generated = generate(&id, &head, "x", "x").unwrap();
            let document = Document::parse(&generated);
            assert_eq!(agent_skill::rejections(&document, "a"), [""; 0], "{text}");
            let front_matter = document.front_matter.unwrap();
            let read = front_matter.text("description").unwrap().unwrap();
            if text == long {
                assert!(read.ends_with("é..."));
            } else {
                assert_eq!(read, text);
            }
            assert!(read.chars().count() <= MAX_SKILL_DESCRIPTION_CHARS);
        }
    }

    #[test]
    fn an_id_without_a_name_has_no_skill_md() {
        for id in ["a_b", "a/-b", "a--b"] {
            let id: SkillId = id.parse().unwrap();
            assert_eq!(generate(&id, &Head::default(), "x", "x"), None, "{id}");
            assert_eq!(GeneratedSkillMd::of(&id, &Head::default(), "x", "x"), None);
        }
    }
}
