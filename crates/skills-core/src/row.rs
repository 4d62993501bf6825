//! Rows in state: the shape existing installations have.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::to_raw_value;

use crate::{
    Change, FunctionId, Json, Origin, Prompt, PromptArgument, PromptName, Skill, SkillHead, SkillId,
};

/// Something kept as one row of a scope.
pub(crate) trait Row: PartialEq + Send + Sync + Sized + 'static {
    /// What a row is called in messages.
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
    /// Its key, where the row says so.
    pub key: Option<Arc<str>>,
    pub problem: String,
}

/// The key a damaged row claims to have.
#[derive(Deserialize)]
struct Claimed {
    #[serde(alias = "name")]
    id: Arc<str>,
}

impl BadRow {
    fn new(text: &str, problem: &impl ToString) -> Self {
        let claimed = serde_json::from_str::<Claimed>(text).ok();
        let key = claimed
            .filter(|_| text.starts_with('{'))
            .map(|claimed| claimed.id);
        Self {
            key,
            problem: problem.to_string(),
        }
    }
}

/// Decodes an object; a list of the same values is no row.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, BadRow> {
    if text.starts_with('[') {
        return Err(BadRow::new(text, &"it is a list, not an object"));
    }
    serde_json::from_str(text).map_err(|e| BadRow::new(text, &e))
}

#[derive(Serialize)]
struct SkillRow<'a> {
    id: &'a str,
    skill: &'a str,
    registered_at: &'a str,
}

/// A stored skill with as much of its body as somebody wants.
#[derive(Deserialize)]
struct Stored<T> {
    id: String,
    #[serde(
        deserialize_with = "of_text",
        bound(deserialize = "T: for<'a> From<&'a str>")
    )]
    skill: T,
    #[serde(default)]
    registered_at: String,
}

/// A body that is shared at once; as a string it would be copied once more, and bodies
/// are most of what is loaded.
struct Body(Arc<str>);

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// How long a body is.
struct Length(usize);

impl From<&str> for Length {
    fn from(text: &str) -> Self {
        Self(text.len())
    }
}

/// What `T` makes of a text that nobody keeps.
fn of_text<'de, T, D>(input: D) -> Result<T, D::Error>
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

impl Row for Skill {
    const WHAT: &'static str = "skill";

    fn key(&self) -> Arc<str> {
        self.id.shared()
    }

    fn to_json(&self) -> Json {
        let row = SkillRow {
            id: self.id.as_str(),
            skill: &self.body,
            registered_at: &self.registered_at,
        };
        to_raw_value(&row).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let row: Stored<Body> = object(text)?;
        let id: SkillId = row.id.parse().map_err(|e| BadRow::new(text, &e))?;
        Ok(Self::new(id, row.skill.0, row.registered_at))
    }

    fn registered(&self) -> Change {
        Change::SkillRegistered(self.id.clone())
    }

    fn unregistered(&self) -> Change {
        Change::SkillUnregistered(self.id.clone())
    }
}

impl SkillHead {
    /// What a list says of a stored skill, without a copy of its body; none where the
    /// row is damaged.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let row: Stored<Length> = object(text).ok()?;
        Some(Self {
            id: row.id.parse().ok()?,
            bytes: row.skill.0,
            registered_at: row.registered_at.into(),
            origin: Origin::State,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct PromptRow {
    name: String,
    description: Box<str>,
    #[serde(default)]
    arguments: Vec<ArgumentRow>,
    function_id: String,
    #[serde(default)]
    registered_at: Arc<str>,
}

#[derive(Serialize, Deserialize)]
struct ArgumentRow {
    name: Box<str>,
    #[serde(default)]
    description: Option<Box<str>>,
    #[serde(default)]
    required: bool,
}

impl Row for Prompt {
    const WHAT: &'static str = "prompt";

    fn key(&self) -> Arc<str> {
        self.name.shared()
    }

    fn to_json(&self) -> Json {
        let argument = |a: &PromptArgument| ArgumentRow {
            name: a.name.clone(),
            description: a.description.clone(),
            required: a.required,
        };
        let row = PromptRow {
            name: self.name.to_string(),
            description: self.description.clone(),
            arguments: self.arguments.iter().map(argument).collect(),
            function_id: self.function_id.to_string(),
            registered_at: Arc::clone(&self.registered_at),
        };
        to_raw_value(&row).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let row: PromptRow = object(text)?;
        let name: PromptName = row.name.parse().map_err(|e| BadRow::new(text, &e))?;
        let function_id: FunctionId = row.function_id.parse().map_err(|e| BadRow::new(text, &e))?;
        let argument = |a: ArgumentRow| PromptArgument {
            name: a.name,
            description: a.description,
            required: a.required,
        };
        Ok(Self {
            name,
            description: row.description,
            arguments: row.arguments.into_iter().map(argument).collect(),
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
    fn fields_we_do_not_know_and_fields_that_are_missing_do_not_hurt() {
        let skill = Skill::from_json(r#"{"skill":"x","owner":{"a":1},"id":"a"}"#).unwrap();
        assert_eq!((skill.id.as_str(), &*skill.registered_at), ("a", ""));
        let prompt = Prompt::from_json(r#"{"name":"p","description":"d","function_id":"f","x":1}"#);
        assert!(prompt.unwrap().arguments.is_empty());
    }

    #[test]
    fn a_damaged_row_says_whose_it_is_when_it_can() {
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
