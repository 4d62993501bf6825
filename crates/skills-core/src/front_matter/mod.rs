//! The front matter of a markdown document: where it ends, and what is in it.
//!
//! Every source, registered bodies and prompt files use this one reader. Authors often write
//! what YAML cannot read (`Use this: now`, tabs, no closing line); where the meaning is plain,
//! it is repaired with a warning. [`Document`] reads a whole document; what cannot be read
//! stays a part of its body.
//!
//! Every list of the registry reads front matter, so its cost is limited: no aliases, which
//! repeat a value any number of times, and few bytes, values and levels.

mod yaml;
mod yaml_versions;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Visibility;
pub use yaml::{Repair, repair};
pub(crate) use yaml_versions::Difference;

/// Splits a document into its front matter (without the fences) and the rest.
///
/// Front matter opens with `---` on the very first line and closes with the next line that
/// is `---`. Without a closing line the document has no front matter.
pub fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = text.split_inclusive('\n').next() else {
        return (None, text);
    };
    if !is_fence(first) {
        return (None, text);
    }
    let mut at = first.len();
    for line in text[first.len()..].split_inclusive('\n') {
        if is_fence(line) {
            return (Some(&text[first.len()..at]), &text[at + line.len()..]);
        }
        at += line.len();
    }
    (None, text)
}

/// A line of exactly three dashes; white space may follow.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

/// A markdown document: its front matter and its body.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The front matter, if there is one that can be read.
    pub front_matter: Option<FrontMatter>,
    /// The text after the front matter, or the whole text if the front matter cannot be read.
    pub body: &'a str,
    /// Why the front matter cannot be read: a phrase whose subject is the file.
    pub problem: Option<String>,
    /// The text after the front matter, whether that can be read or not.
    pub after: &'a str,
    /// The text of front matter that was read.
    yaml: &'a str,
}

impl<'a> Document<'a> {
    /// Reads a document. This cannot fail: nothing of the text is lost.
    pub fn parse(text: &'a str) -> Self {
        let (marked, text) = match text.strip_prefix('\u{feff}') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (Some(yaml), after) = split(text) else {
            return match split_unclosed(text) {
                Some((mut front_matter, after)) => {
                    front_matter.warn_of_mark(marked);
                    Self::of(Some(front_matter), after)
                }
                None => Self {
                    problem: opens_unclosed(text).then(|| NOT_CLOSED.to_owned()),
                    ..Self::of(None, text)
                },
            };
        };
        let parsed = match yaml.trim() {
            "" => Ok(FrontMatter::empty()),
            _ => FrontMatter::parse(yaml),
        };
        match parsed {
            Ok(mut front_matter) => {
                front_matter.warn_of_mark(marked);
                Self {
                    yaml,
                    ..Self::of(Some(front_matter), after)
                }
            }
            Err(problem) => Self {
                front_matter: None,
                body: text,
                problem: Some(problem),
                after,
                yaml,
            },
        }
    }

    const fn of(front_matter: Option<FrontMatter>, body: &'a str) -> Self {
        Self {
            front_matter,
            body,
            problem: None,
            after: body,
            yaml: "",
        }
    }

    /// What an author should correct, and how: phrases whose subject is the document, or
    /// sentences. Mostly nothing.
    pub fn warnings(&self) -> impl Iterator<Item = String> + use<> {
        let broken = self.problem.as_ref();
        let broken = broken
            .map(|problem| format!("{problem}; correct it: until then it is a part of the body"));
        let front_matter = self.front_matter.as_ref();
        let repaired = front_matter.and_then(|front_matter| front_matter.warning.clone());
        let visibility = front_matter.and_then(|front_matter| front_matter.visibility().err());
        let visibility = visibility.map(|problem| format!("{problem} It counts as `auto`."));
        [broken, repaired, visibility].into_iter().flatten()
    }

    /// A key or value of the front matter that clients of Agent Skills read differently.
    pub(crate) fn yaml_difference(&self) -> Option<Difference<'a>> {
        yaml_versions::first_difference(self.yaml)
    }
}

/// Splits a document whose front matter has no closing line, if its meaning is plain: the
/// lines up to the first blank line or heading are a map with a name or a description, and
/// text follows.
pub(crate) fn split_unclosed(text: &str) -> Option<(FrontMatter, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let start = lines.next().filter(|line| is_fence(line))?.len();
    let in_block = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let block: usize = lines.take_while(in_block).map(str::len).sum();
    let (yaml, rest) = text[start..].split_at(block);
    if rest.trim().is_empty() {
        return None;
    }
    let mut front_matter = FrontMatter::parse(yaml).ok()?;
    let has = |key| front_matter.fields.contains_key(key);
    if !has("name") && !has("description") {
        return None;
    }
    front_matter.warn("the front matter is not closed; end it with a line `---`");
    Some((front_matter, rest))
}

/// Why front matter without a closing line is not read: a phrase whose subject is the file.
const NOT_CLOSED: &str =
    "has front matter that is not closed; add a line `---` after the front matter";

/// Whether a document without a closing line begins with front matter, not with a thematic
/// break: the line after `---` has a key.
fn opens_unclosed(text: &str) -> bool {
    let mut lines = text.lines();
    let is_open = lines.next().is_some_and(is_fence);
    let key = lines.next().and_then(|line| line.split_once(':'));
    let is_key = |key: &str| {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        !key.is_empty() && key.bytes().all(is_allowed)
    };
    let is_value = |value: &str| value.is_empty() || value.starts_with(char::is_whitespace);
    is_open && key.is_some_and(|(key, value)| is_key(key.trim_end()) && is_value(value))
}

/// The fields of a front matter.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    json: String,
    fields: Map<String, Value>,
    /// What had to be repaired before YAML could read it, as a sentence with the remedy.
    pub warning: Option<String>,
}

impl FrontMatter {
    /// Reads the YAML between the fences. An error is a phrase whose subject is the file,
    /// such as "has front matter that is not a map".
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let (json, warning) = yaml::parse_or_repair(yaml)?;
        match serde_json::from_str(&json) {
            Ok(Value::Object(fields)) => Ok(Self {
                json,
                fields,
                warning,
            }),
            _ => Err("has front matter that is not a map; write `description: ...`".into()),
        }
    }

    fn empty() -> Self {
        Self {
            json: "{}".into(),
            fields: Map::new(),
            warning: None,
        }
    }

    /// Every field as a JSON object, in the order of the document.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// A field as it is.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    /// The name that the document gives itself.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.shown("name")
    }

    /// The title that the document gives itself.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        self.shown("title")
    }

    /// What the document says it is about.
    pub fn description(&self) -> Option<Cow<'_, str>> {
        self.shown("description")
    }

    /// The phrases for which the document declares itself responsible.
    pub fn triggers(&self) -> Option<Triggers> {
        let phrases = self.phrases("triggers");
        (!phrases.is_empty()).then(|| phrases.into())
    }

    /// How visible the document declares itself. An error is a phrase about the value.
    pub fn visibility(&self) -> Result<Option<Visibility>, String> {
        match self.fields.get("visibility") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => text.parse().map(Some),
            // YAML readers may take `off` for a truth value.
            Some(Value::Bool(false)) => Ok(Some(Visibility::Off)),
            Some(other) => other.to_string().parse().map(Some),
        }
    }

    /// A scalar as text; `None` if it is absent, blank, a list or a map.
    fn shown(&self, key: &str) -> Option<Cow<'_, str>> {
        let text = match self.fields.get(key)? {
            Value::String(text) => Cow::Borrowed(text.trim()),
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string().into(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    fn warn(&mut self, warning: &str) {
        self.warning = Some(match self.warning.take() {
            Some(first) => format!("{first}; {warning}"),
            None => warning.to_owned(),
        });
    }

    fn warn_of_mark(&mut self, marked: bool) {
        if marked {
            self.warn(
                "a byte order mark stands before the front matter; save the file without one",
            );
        }
    }

    /// A field that must be text if it is present. An empty value counts as absent.
    pub fn text(&self, key: &str) -> Result<Option<&str>, String> {
        let kind = match self.fields.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => return Ok(Some(text)),
            Some(Value::Bool(_)) => "true or false",
            Some(Value::Number(_)) => "a number",
            Some(Value::Array(_)) => "a list",
            Some(Value::Object(_)) => "a map",
        };
        Err(format!(
            "has a `{key}` in its front matter that is {kind}; put it in quotes"
        ))
    }

    /// A field that is a list of phrases, or one text with commas between them. Empty
    /// phrases, and values that are neither text nor a number, are left out.
    pub fn phrases(&self, key: &str) -> Vec<Arc<str>> {
        match self.fields.get(key) {
            Some(Value::String(text)) => agent3md::csv(text).map(Arc::from).collect(),
            Some(Value::Array(items)) => items.iter().filter_map(phrase).collect(),
            Some(value) => phrase(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

fn phrase(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => Some(text.trim())
            .filter(|text| !text.is_empty())
            .map(Arc::from),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The trigger phrases of a skill, as declared.
pub type Triggers = Arc<[Arc<str>]>;

#[cfg(test)]
mod tests;
