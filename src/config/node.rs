//! A YAML value with the place of each of its parts, so that a warning can point at one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

/// A value and its place.
#[derive(Debug)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

/// A value.
#[derive(Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a map.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub place: Place,
    pub node: Node,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Describes the value for a message: "the text `docs`", "a list".
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Null => f.write_str("empty"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::Text(value) => write!(f, "the text `{}`", shortened(value)),
            Value::List(_) => f.write_str("a list"),
            Value::Map(_) => f.write_str("a map"),
        }
    }
}

impl Node {
    /// A text. A number counts: `skills: [5]` names the file `5`.
    pub fn text(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub fn texts(&self) -> Option<Vec<String>> {
        match &self.value {
            Value::List(nodes) => nodes.iter().map(Self::text).collect(),
            _ => None,
        }
    }

    pub fn bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A number that is not negative. A text of digits counts.
    pub fn number(&self) -> Option<u64> {
        match &self.value {
            Value::Number(number) => number.as_u64(),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// The first characters of a text, on one line.
fn shortened(text: &str) -> String {
    const MAX: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    Place {
        line: spanned.referenced.line(),
        column: spanned.referenced.column(),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self {
            place: place(&spanned),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    /// A number that JSON does not have, such as infinity, stays a text.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        let number = serde_json::Number::from_f64(value);
        Ok(number.map_or_else(|| Value::Text(value.to_string()), Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut nodes: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = nodes.next_element()? {
            list.push(node);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            map.push(Entry {
                place: place(&key),
                name: key.value,
                node,
            });
        }
        Ok(Value::Map(map))
    }
}
