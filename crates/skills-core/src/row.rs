//! Rows in state, in the shape that existing installations have.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::to_raw_value;

use crate::{
    Change, FunctionId, Json, Origin, Prompt, PromptArgument, PromptName, Skill, SkillHead, SkillId,
};

/// A value that is stored as one row of a scope.
pub(crate) trait Row: PartialEq + Send + Sync + Sized + 'static {
    /// The name of such a value in messages.
    const WHAT: &'static str;

    fn key(&self) -> Arc<str>;
    fn to_json(&self) -> Json;
    fn from_json(text: &str) -> Result<Self, BadRow>;
    fn registered(&self) -> Change;
    fn unregistered(&self) -> Change;
}

/// A row that cannot be decoded.
#[derive(Debug)]
pub(crate) struct BadRow {
    /// Its key, if the row contains it.
    pub key: Option<Arc<str>>,
    pub problem: String,
}

impl BadRow {
    fn new(text: &str, problem: &impl ToString) -> Self {
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
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, BadRow> {
    if text.starts_with('[') {
        return Err(BadRow::new(text, &"it is a list, not an object"));
    }
    serde_json::from_str(text).map_err(|e| BadRow::new(text, &e))
}

#[derive(Serialize, Deserialize)]
struct SkillRow<T> {
    id: Arc<str>,
    #[serde(
        deserialize_with = "from_text",
        bound(deserialize = "T: for<'a> From<&'a str>")
    )]
    skill: T,
    #[serde(default)]
    registered_at: Arc<str>,
}

/// The length of a body.
struct BodyLength(usize);

impl From<&str> for BodyLength {
    fn from(text: &str) -> Self {
        Self(text.len())
    }
}

/// Converts a text without a `String` in between: bodies are most of what is decoded.
fn from_text<'de, T, D>(input: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);
    impl<T: for<'a> From<&'a str>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            Ok(text.into())
        }
    }
    input.deserialize_str(Text(PhantomData))
}

impl SkillHead {
    /// Decodes a row without its body; `None` if it is damaged.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let row: SkillRow<BodyLength> = object(text).ok()?;
        Some(Self {
            id: row.id.parse().ok()?,
            bytes: row.skill.0,
            registered_at: row.registered_at,
            origin: Origin::State,
        })
    }
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
        let row: SkillRow<Arc<str>> = object(text)?;
        let id: SkillId = row.id.parse().map_err(|e| BadRow::new(text, &e))?;
        Ok(Self::new(id, row.skill, row.registered_at))
    }

    fn registered(&self) -> Change {
        Change::SkillRegistered(self.id.clone())
    }

    fn unregistered(&self) -> Change {
        Change::SkillUnregistered(self.id.clone())
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

    fn registered(&self) -> Change {
        Change::PromptRegistered(self.name.clone())
    }

    fn unregistered(&self) -> Change {
        Change::PromptUnregistered(self.name.clone())
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
}
