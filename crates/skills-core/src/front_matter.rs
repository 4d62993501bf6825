//! The front matter of a markdown document: where it ends, and the YAML in it.
//!
//! Skills declare triggers there and prompt files a name and a description. Both use this
//! one reader. Authors often leave a value unquoted that YAML cannot read (`Use this: now`);
//! such values are quoted and the document is read again, with a warning.
//!
//! Every list of the registry reads front matter, so its cost is limited: no aliases, which
//! repeat a value any number of times, and few bytes, values and levels.

use std::sync::Arc;

use serde_json::{Map, Value};
use serde_saphyr::Error as YamlError;
use serde_saphyr::budget::BudgetBreach;

use crate::limits::{MAX_FRONT_MATTER_BYTES, MAX_FRONT_MATTER_DEPTH, MAX_FRONT_MATTER_VALUES};

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

/// The fields of a front matter.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    fields: Map<String, Value>,
    /// The values that had to be quoted before YAML could read them, as a sentence.
    pub warning: Option<String>,
}

impl FrontMatter {
    /// Reads the YAML between the fences. An error is a phrase whose subject is the file,
    /// such as "has front matter that is not a map".
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let (value, warning) = parse_or_repair(yaml)?;
        match value {
            Value::Object(fields) => Ok(Self { fields, warning }),
            _ => Err("has front matter that is not a map; write `description: ...`".into()),
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

/// The trigger phrases that a front matter declares; none if it declares none or is not
/// readable.
pub fn triggers(yaml: &str) -> Option<Triggers> {
    // Most documents declare none, and a text search costs far less than a YAML parser.
    if !yaml.contains("triggers") {
        return None;
    }
    let phrases = FrontMatter::parse(yaml).ok()?.phrases("triggers");
    (!phrases.is_empty()).then(|| phrases.into())
}

fn parse_or_repair(yaml: &str) -> Result<(Value, Option<String>), String> {
    if yaml.len() > MAX_FRONT_MATTER_BYTES {
        let limit = MAX_FRONT_MATTER_BYTES;
        return Err(format!(
            "has front matter of more than {limit} bytes; shorten it"
        ));
    }
    let error = match parse_yaml(yaml) {
        Ok(value) => return Ok((value, None)),
        Err(error) => match beyond_limit(&error) {
            Some(reason) => return Err(reason),
            None => error.to_string(),
        },
    };
    let (quoted, keys) = quote_plain_values(yaml);
    if !keys.is_empty()
        && let Ok(value) = parse_yaml(&quoted)
    {
        let keys = keys.join("`, `");
        let warning =
            format!("`{keys}` in the front matter is not valid YAML as written; put it in quotes");
        return Ok((value, Some(warning)));
    }
    // Only the first line, and without advice that is about the parser's Rust interface.
    let first = error.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("error: ");
    let first = first.split(", set ").next().unwrap_or(first);
    Err(format!("has front matter that cannot be read: {first}"))
}

fn parse_yaml(yaml: &str) -> Result<Value, YamlError> {
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
    serde_saphyr::from_str_with_options(yaml, options)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, matter: Option<&str>, rest: &str) {
        assert_eq!(split(text), (matter, rest), "for {text:?}");
    }

    #[test]
    fn front_matter() {
        check("", None, "");
        check("# x", None, "# x");
        check("---\na: 1\n---\n# x", Some("a: 1\n"), "# x");
        check("---\r\na: 1\r\n---\r\n# x", Some("a: 1\r\n"), "# x");
        check("\u{feff}---\na: 1\n---\n", Some("a: 1\n"), "");
        check("---\n---", Some(""), "");
        check("---\na: 1\n", None, "---\na: 1\n");
        check("---", None, "---");
        check("----\na\n----\n", None, "----\na\n----\n");
        check("\n---\na\n---\n", None, "\n---\na\n---\n");
    }

    #[track_caller]
    fn text(yaml: &str, expected: &str, repaired: bool) {
        let matter = FrontMatter::parse(yaml).unwrap();
        assert_eq!(matter.text("a"), Ok(Some(expected)), "for {yaml:?}");
        assert_eq!(matter.warning.is_some(), repaired, "{:?}", matter.warning);
    }

    #[test]
    fn texts() {
        text("a: Opens a PR.\n", "Opens a PR.", false);
        text("b: x\r\na: y\r\n", "y", false);
        text("a: \"x: y\"\n", "x: y", false);
        text("a: |\n  x: y\n", "x: y\n", false);
        text("a: >-\n  x\n  y\n", "x y", false);
        text("# a comment\na: x # more\n", "x", false);
        text("a: yes\n", "yes", false);
    }

    #[test]
    fn plain_values_that_yaml_cannot_read_are_quoted_with_a_warning() {
        text("a: Use this: now\n", "Use this: now", true);
        text("a: It's: so\n", "It's: so", true);
        text(
            "a: Use: this\n  and that\nb: x\n",
            "Use: this and that",
            true,
        );
        text("a: Uses: x # why\n", "Uses: x", true);
        text("a: `x` does y\n", "`x` does y", true);
        text("a: @me does y\r\n", "@me does y", true);
        text("a: x\nb: - 2\n", "x", true);
        let warning = FrontMatter::parse("a: b: c\n").unwrap().warning.unwrap();
        assert!(warning.starts_with("`a` in the front matter"), "{warning}");
    }

    #[track_caller]
    fn refused(yaml: &str, expected: &str) {
        let matter = FrontMatter::parse(yaml);
        let reason = matter.and_then(|matter| matter.text("a").map(|text| format!("{text:?}")));
        let reason = reason.unwrap_err();
        assert!(reason.contains(expected), "for {yaml:?}: {reason}");
    }

    #[test]
    fn unreadable_front_matter_is_an_error_with_a_reason() {
        refused("", "is not a map");
        refused("just words\n", "is not a map");
        refused("- a\n- b\n", "is not a map");
        refused("a: 5\n", "`a` in its front matter that is a number");
        refused("a: true\n", "that is true or false");
        refused("a: [x]\n", "that is a list");
        refused("a: {x: y}\n", "that is a map");
        refused(
            "b: x\nb: y\n",
            "cannot be read: line 2 column 1: duplicate mapping key: b",
        );
        refused("a: x: y\na: z\n", "cannot be read");
        refused("a: [x\n", "cannot be read");
        refused("a: 'x\n", "cannot be read");
    }

    /// 355 bytes of this took half a second.
    #[test]
    fn anchors_and_aliases_are_refused() {
        let line = |n: usize| {
            let uses = format!("*a{n},").repeat(9);
            format!("a{}: &a{} [{uses}]\n", n + 1, n + 1)
        };
        let lines: String = (0..12).map(line).collect();
        let bomb = format!("a0: &a0 [x, x]\n{lines}a: x\n");
        refused(&bomb, "an anchor or an alias (`&name`, `*name`); write");
        refused("a: &x y\n", "an anchor or an alias");
        refused("b: &x {a: y}\n<<: *x\n", "an anchor or an alias");
        // In quotes they are words.
        text("a: '&x *y'\n", "&x *y", false);
    }

    #[test]
    fn large_front_matter_is_refused() {
        let comment = |bytes: usize| format!("a: x\n#{}", "x".repeat(bytes - 6));
        text(&comment(65_536), "x", false);
        refused(&comment(65_537), "more than 65536 bytes; shorten it");
        let list = |values: usize| format!("a: x\nb: [{}]\n", "x,".repeat(values - 5));
        text(&list(4_096), "x", false);
        refused(&list(4_097), "more than 4096 values; shorten it");
        let nested = |n: usize| format!("a: x\nb: {}{}\n", "[".repeat(n), "]".repeat(n));
        text(&nested(15), "x", false);
        refused(&nested(16), "more than 16 levels; flatten it");
        refused(&format!("a: {}\n", "[".repeat(30_000)), "front matter");
        assert_eq!(triggers(&format!("triggers: a\n{}", list(4_096))), None);
    }

    #[track_caller]
    fn phrases(yaml: &str, expected: &[&str]) {
        let got = triggers(yaml).unwrap_or_default();
        let got: Vec<&str> = got.iter().map(|phrase| &**phrase).collect();
        assert_eq!(got, expected, "for {yaml:?}");
    }

    #[test]
    fn phrases_are_a_list_or_one_text_with_commas() {
        phrases("triggers: find code, grep\n", &["find code", "grep"]);
        phrases(
            "a: 1\r\ntriggers: \"find code, grep\"\r\n",
            &["find code", "grep"],
        );
        phrases(
            "triggers: don't panic, it's fine\n",
            &["don't panic", "it's fine"],
        );
        phrases(
            "triggers: [find code, 'a, b', \"c\"]\n",
            &["find code", "a, b", "c"],
        );
        phrases("triggers: [it's, 'b']\n", &["it's", "b"]);
        phrases("triggers: [\n  one,\n  two,\n]\nb: 2\n", &["one", "two"]);
        phrases(
            "triggers:\n  - one\n  # no\n\n  - \"two, three\"\nb: - 2\n",
            &["one", "two, three"],
        );
        phrases("triggers:\n- one\n- ''\n- ' two '\n", &["one", "two"]);
        phrases(
            "triggers: [on, 'yes', no, 404]\n",
            &["on", "yes", "no", "404"],
        );
        phrases("triggers: \"caf\\u00e9\"\n", &["café"]);
        phrases("description: Use: it\ntriggers: a\n", &["a"]);
        phrases("x:\n  triggers: nested\n", &[]);
        phrases("triggers:\n", &[]);
        phrases("triggers: ,,\n", &[]);
        phrases("triggers: [never closed\n", &[]);
        phrases("triggers: [']\n", &[]);
        phrases("", &[]);
    }
}
