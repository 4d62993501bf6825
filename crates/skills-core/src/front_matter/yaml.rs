//! The YAML of a front matter as JSON: the keys in their order, with limits on its cost, and
//! with repairs of the mistakes that authors make.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Error as YamlError;
use serde_saphyr::budget::BudgetBreach;

use crate::limits::{MAX_FRONT_MATTER_BYTES, MAX_FRONT_MATTER_DEPTH, MAX_FRONT_MATTER_VALUES};

/// Reads YAML. Returns JSON, and what had to be repaired as a sentence. An error is a phrase
/// whose subject is the file.
pub fn parse_or_repair(yaml: &str) -> Result<(String, Option<String>), String> {
    if yaml.len() > MAX_FRONT_MATTER_BYTES {
        let limit = MAX_FRONT_MATTER_BYTES;
        return Err(format!(
            "has front matter of more than {limit} bytes; shorten it"
        ));
    }
    let error = match parse(yaml) {
        Ok(json) => return Ok((json, None)),
        Err(error) => match beyond_limit(&error) {
            Some(reason) => return Err(reason),
            None => error.to_string(),
        },
    };
    if let Some(Repair { text, tabs, keys }) = repair(yaml)
        && let Ok(json) = parse(&text)
    {
        let mut warnings = Vec::new();
        if tabs {
            warnings.push(
                "the front matter is indented with tabs, which YAML does not allow; use spaces"
                    .to_owned(),
            );
        }
        if !keys.is_empty() {
            let keys = keys.join("`, `");
            warnings.push(format!(
                "`{keys}` in the front matter is not valid YAML as written; put it in quotes"
            ));
        }
        return Ok((json, Some(warnings.join("; "))));
    }
    // Only the first line, and without advice that is about the parser's Rust interface.
    let first = error.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("error: ");
    let first = first.split(", set ").next().unwrap_or(first);
    Err(format!("has front matter that cannot be read: {first}"))
}

/// YAML that authors write and that no YAML parser reads, as they mean it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The YAML that can be read.
    pub text: String,
    /// Whether lines were indented with tabs.
    pub tabs: bool,
    /// The keys whose values were not in quotes and had to be.
    pub keys: Vec<String>,
}

/// How YAML that cannot be read is repaired; `None` if it can be read, or not even then.
pub fn repair(yaml: &str) -> Option<Repair> {
    if yaml.len() > MAX_FRONT_MATTER_BYTES || parse(yaml).is_ok() {
        return None;
    }
    let untabbed = without_tabs(yaml);
    let tabs = untabbed.is_some();
    if let Some(text) = untabbed.clone().filter(|text| parse(text).is_ok()) {
        let keys = Vec::new();
        return Some(Repair { text, tabs, keys });
    }
    let (text, keys) = quote_plain_values(untabbed.as_deref().unwrap_or(yaml));
    if keys.is_empty() || parse(&text).is_err() {
        return None;
    }
    let keys = keys.into_iter().map(str::to_owned).collect();
    Some(Repair { text, tabs, keys })
}

fn parse(yaml: &str) -> Result<String, YamlError> {
    let options = serde_saphyr::options! {
        // YAML 1.2: `yes`, `on` and `y` are words.
        strict_booleans: true,
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: MAX_FRONT_MATTER_DEPTH,
            max_nodes: MAX_FRONT_MATTER_VALUES,
        },
    };
    serde_saphyr::from_str_with_options(yaml, options).map(|JsonText(json)| json)
}

/// The reason if a document is refused for its cost.
fn beyond_limit(error: &YamlError) -> Option<String> {
    let YamlError::Budget { breach, .. } = error.without_snippet() else {
        return None;
    };
    Some(match breach {
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => {
            "has front matter with an anchor or an alias (`&name`, `*name`); \
             write the value out, or put it in quotes"
                .into()
        }
        BudgetBreach::Depth { .. } => {
            format!("has front matter of more than {MAX_FRONT_MATTER_DEPTH} levels; flatten it")
        }
        _ => format!("has front matter of more than {MAX_FRONT_MATTER_VALUES} values; shorten it"),
    })
}

/// The text with two spaces for each tab that begins a line; `None` if no line begins with one.
fn without_tabs(yaml: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let has_tab = |line: &str| line[..indent(line)].contains('\t');
    if !yaml.lines().any(has_tab) {
        return None;
    }
    let mut out = String::with_capacity(yaml.len() + 16);
    for line in yaml.split_inclusive('\n') {
        let (white, text) = line.split_at(indent(line));
        out.push_str(&white.replace('\t', "  "));
        out.push_str(text);
    }
    Some(out)
}

/// Quotes the top-level plain values that YAML cannot read. Returns the new text and the
/// keys of those values.
fn quote_plain_values(yaml: &str) -> (String, Vec<&str>) {
    let mut out = String::with_capacity(yaml.len() + 16);
    let mut keys = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(": ").filter(|(key, value)| {
            !key.starts_with([' ', '\t', '#', '-', '"', '\'']) && is_unreadable(value.trim())
        }) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mut value = value.trim().to_owned();
        // The value continues while lines are indented.
        while let Some(more) = lines.next_if(|next| next.starts_with([' ', '\t'])) {
            value.push(' ');
            value.push_str(more.trim());
        }
        let value = value.split(" #").next().unwrap_or_default().trim_end();
        keys.push(key);
        for part in [key, ": '", &value.replace('\'', "''"), "'\n"] {
            out.push_str(part);
        }
    }
    (out, keys)
}

/// Whether a plain value contains a colon where YAML expects none, or begins with a
/// character that no plain value may begin with.
fn is_unreadable(value: &str) -> bool {
    let structured = value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
    let colon = value.contains(": ") || value.ends_with(':');
    !structured && (colon || value.starts_with(['`', '@', '%', ',']) || value.starts_with("- "))
}

/// A document as JSON text. `serde_json::Value` would sort the keys.
struct JsonText(String);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = String::new();
        Append(&mut json).deserialize(deserializer)?;
        Ok(Self(json))
    }
}

/// Appends one value to the text.
struct Append<'a>(&'a mut String);

impl Append<'_> {
    fn push(self, value: impl serde::Serialize) {
        let json = serde_json::to_string(&value).expect("a scalar is JSON");
        self.0.push_str(&json);
    }
}

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.push(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.push(value);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.push(value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.push(value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(());
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.push(());
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push('[');
        let mut separator = "";
        loop {
            let end = self.0.len();
            self.0.push_str(separator);
            if items.next_element_seed(Append(self.0))?.is_none() {
                self.0.truncate(end);
                break;
            }
            separator = ",";
        }
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.0.push('{');
        let mut separator = "";
        while let Some(key) = entries.next_key::<String>()? {
            self.0.push_str(separator);
            Append(self.0).push(key);
            self.0.push(':');
            entries.next_value_seed(Append(self.0))?;
            separator = ",";
        }
        self.0.push('}');
        Ok(())
    }
}
