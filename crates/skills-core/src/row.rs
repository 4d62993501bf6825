//! Rows in state, in the shape that existing installations have.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    Change, Digest, FunctionId, Json, Origin, Prompt, PromptArgument, PromptName, Skill, SkillHead,
    SkillId, Visibility,
};

/// A value that is stored as one row of a scope.
pub(crate) trait Row: PartialEq + Send + Sync + Sized + 'static {
    /// The name of such a value in messages.
    const WHAT: &'static str;
    /// Whether rows are changed by `state::update`, which leaves `null` if another process has
    /// removed the row. Such a row counts as none.
    const IS_UPDATED: bool = false;

    fn key(&self) -> Arc<str>;
    fn to_json(&self) -> Json;
    fn from_json(text: &str) -> Result<Self, BadRow>;
    /// The change when it is stored; none if subscribers are not told.
    fn registered(&self) -> Option<Change>;
    fn unregistered(&self) -> Option<Change>;
    /// When it was stored, RFC 3339 in UTC.
    fn registered_at(&self) -> Arc<str>;
    /// What it says, without the time of its registration.
    fn content(&self) -> Cow<'_, str>;
    /// The digest of its content.
    fn digest(&self) -> Digest {
        Digest::of(self.content().as_bytes())
    }
}

/// A row that cannot be decoded.
#[derive(Debug)]
pub(crate) struct BadRow {
    /// Its key, if the row contains it.
    pub key: Option<Arc<str>>,
    pub problem: String,
}

impl BadRow {
    pub(crate) fn new(text: &str, problem: &impl ToString) -> Self {
        #[derive(Deserialize)]
        struct RowKey {
            #[serde(alias = "name")]
            id: Arc<str>,
        }
        let row = serde_json::from_str::<RowKey>(text).ok();
        let row = row.filter(|_| text.starts_with('{'));
        Self {
            key: row.map(|row| row.id),
            problem: problem.to_string(),
        }
    }
}

/// Decodes an object. Serde would also accept a list of the same values.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, BadRow> {
    if text.starts_with('[') {
        return Err(BadRow::new(text, &"it is a list, not an object"));
    }
    serde_json::from_str(text).map_err(|e| BadRow::new(text, &e))
}

#[derive(Serialize, Deserialize)]
struct SkillRow {
    id: Arc<str>,
    #[serde(deserialize_with = "shared_text")]
    skill: Arc<str>,
    #[serde(default)]
    registered_at: Arc<str>,
}

/// Decodes a text without a `String` in between: bodies are most of what is decoded.
fn shared_text<'de, D: Deserializer<'de>>(input: D) -> Result<Arc<str>, D::Error> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = Arc<str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arc<str>, E> {
            Ok(text.into())
        }
    }
    input.deserialize_str(Text)
}

impl SkillHead {
    /// Decodes a row without its body; `None` if it is damaged.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct HeadRow<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
            #[serde(borrow)]
            skill: &'a RawValue,
            #[serde(default, deserialize_with = "shared_text")]
            registered_at: Arc<str>,
        }
        let row: HeadRow<'_> = object(text).ok()?;
        Some(Self {
            id: row.id.parse().ok()?,
            bytes: decoded_length(row.skill.get())?,
            registered_at: row.registered_at,
            origin: Origin::State,
            visibility: declared_visibility(row.skill.get()).unwrap_or_default(),
            files: None,
            hides: Vec::new(),
            lease: None,
        })
    }
}

/// The visibility that the front matter of a body declares. Only front matter is decoded.
fn declared_visibility(json: &str) -> Option<Visibility> {
    let is_fronted = json.starts_with("\"---") || json.starts_with("\"\u{feff}---");
    if !is_fronted && !json.starts_with("\"\\u") {
        return None;
    }
    Visibility::declared_in(&serde_json::from_str::<String>(json).ok()?)
}

/// How many bytes a JSON string has when it is decoded; `None` if it is not a string.
///
/// Most bodies have short escapes only, such as `\n`: two bytes for one. Counting them takes a
/// fraction of the time that decoding takes, which is most of a list's time. The loops have no
/// branches, so that the compiler can vectorize them.
fn decoded_length(json: &str) -> Option<usize> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let is_escape = |byte: &u8| u8::from(*byte == b'\\');
    let is_long = |second: &u8| u8::from(*second == b'\\') | u8::from(*second == b'u');
    let pairs = inner.iter().zip(inner.get(1..).unwrap_or_default());
    if pairs.fold(0, |found, (a, b)| found | (is_escape(a) & is_long(b))) != 0 {
        return serde_json::from_str::<String>(json).ok().map(|s| s.len());
    }
    // At most 255 in a chunk, the largest `u8`.
    let chunks = inner.chunks(255);
    let escapes = chunks.map(|chunk| chunk.iter().map(is_escape).sum::<u8>());
    Some(inner.len() - escapes.map(usize::from).sum::<usize>())
}

impl Row for Skill {
    const WHAT: &'static str = "skill";

    fn key(&self) -> Arc<str> {
        self.id.shared()
    }

    fn to_json(&self) -> Json {
        let row = SkillRow {
            id: self.id.shared(),
            skill: Arc::clone(&self.body),
            registered_at: Arc::clone(&self.registered_at),
        };
        to_raw_value(&row).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let row: SkillRow = object(text)?;
        let id: SkillId = row.id.parse().map_err(|e| BadRow::new(text, &e))?;
        Ok(Self::new(id, row.skill, row.registered_at))
    }

    fn registered(&self) -> Option<Change> {
        Some(Change::SkillRegistered(self.id.clone()))
    }

    fn unregistered(&self) -> Option<Change> {
        Some(Change::SkillUnregistered(self.id.clone()))
    }

    fn registered_at(&self) -> Arc<str> {
        Arc::clone(&self.registered_at)
    }

    fn content(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.body)
    }
}

#[derive(Serialize, Deserialize)]
struct PromptRow {
    name: Arc<str>,
    description: Box<str>,
    #[serde(default)]
    arguments: Vec<PromptArgument>,
    function_id: Box<str>,
    #[serde(default)]
    registered_at: Arc<str>,
}

impl Row for Prompt {
    const WHAT: &'static str = "prompt";

    fn key(&self) -> Arc<str> {
        self.name.shared()
    }

    fn to_json(&self) -> Json {
        let row = PromptRow {
            name: self.name.shared(),
            description: self.description.clone(),
            arguments: self.arguments.clone(),
            function_id: self.function_id.as_str().into(),
            registered_at: Arc::clone(&self.registered_at),
        };
        to_raw_value(&row).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let row: PromptRow = object(text)?;
        let name: PromptName = row.name.parse().map_err(|e| BadRow::new(text, &e))?;
        let function_id: FunctionId = row.function_id.parse().map_err(|e| BadRow::new(text, &e))?;
        Ok(Self {
            name,
            description: row.description,
            arguments: row.arguments,
            function_id,
            registered_at: row.registered_at,
        })
    }

    fn registered(&self) -> Option<Change> {
        Some(Change::PromptRegistered(self.name.clone()))
    }

    fn unregistered(&self) -> Option<Change> {
        Some(Change::PromptUnregistered(self.name.clone()))
    }

    fn registered_at(&self) -> Arc<str> {
        Arc::clone(&self.registered_at)
    }

    /// Its definition as JSON.
    fn content(&self) -> Cow<'_, str> {
        #[derive(Serialize)]
        struct Definition<'a> {
            name: &'a str,
            description: &'a str,
            arguments: &'a [PromptArgument],
            function_id: &'a str,
        }
        let definition = Definition {
            name: self.name.as_str(),
            description: &self.description,
            arguments: &self.arguments,
            function_id: self.function_id.as_str(),
        };
        let definition = serde_json::to_string(&definition);
        Cow::Owned(definition.expect("a definition of strings is JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_keeps_its_shape() {
        let text = r##"{"id":"a/b","skill":"# A\n","registered_at":"2026-01-01T00:00:00.1Z"}"##;
        assert_eq!(Skill::from_json(text).unwrap().to_json().get(), text);
    }

    #[test]
    fn a_prompt_keeps_its_shape() {
        let text = r#"{"name":"p","description":"d","arguments":[{"name":"to","description":null,"required":true}],"function_id":"w::p","registered_at":"t"}"#;
        assert_eq!(Prompt::from_json(text).unwrap().to_json().get(), text);
    }

    #[test]
    fn unknown_fields_are_ignored_and_optional_fields_may_be_missing() {
        let skill = Skill::from_json(r#"{"skill":"x","owner":{"a":1},"id":"a"}"#).unwrap();
        assert_eq!((skill.id.as_str(), &*skill.registered_at), ("a", ""));
        let prompt = Prompt::from_json(r#"{"name":"p","description":"d","function_id":"f","x":1}"#);
        assert!(prompt.unwrap().arguments.is_empty());
    }

    #[test]
    fn a_damaged_row_reports_its_key_if_it_contains_one() {
        #[track_caller]
        fn check(text: &str, key: Option<&str>, problem: &str) {
            let bad = Skill::from_json(text).unwrap_err();
            assert_eq!(bad.key.as_deref(), key, "for {text}");
            assert!(bad.problem.contains(problem), "for {text}: {}", bad.problem);
        }
        check(r#"{"id":"a"}"#, Some("a"), "missing field `skill`");
        check(r#"{"id":"a","skill":7}"#, Some("a"), "expected a string");
        check(r#"{"id":"Bad","skill":"x"}"#, Some("Bad"), "lowercase");
        check(r#"{"skill":"x"}"#, None, "missing field `id`");
        check("null", None, "invalid type: null");
        check(r#"["a","body","t"]"#, None, "not an object");
    }

    #[test]
    fn the_head_of_a_row_agrees_with_the_row() {
        for body in [
            r#""""#,
            r#""plain é""#,
            r#""a\nb\"c\\""#,
            r#""\\u""#,
            r#""\u00e9\ud83d\ude00\n""#,
            r#""\ud83d""#,
            r#""\x""#,
            "7",
            "null",
            r#"["a"]"#,
        ] {
            let text = format!(r#"{{"id":"a/b","skill":{body},"registered_at":"t"}}"#);
            let skill = Skill::from_json(&text).ok();
            let head = SkillHead::from_json(&text);
            let expected = skill.map(|s| (s.id, s.body.len(), s.registered_at));
            assert_eq!(
                head.map(|h| (h.id, h.bytes, h.registered_at)),
                expected,
                "{text}"
            );
        }
    }
}
