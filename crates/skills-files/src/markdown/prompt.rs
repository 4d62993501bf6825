//! A markdown file as a prompt: its front matter has a description and may have a name.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use skills_core::{Origin, PromptName, PromptText, SourcePrompt, check_description};

use super::content::MarkdownContent;
use crate::file_set::{FileEntry, Unserved};
use crate::scan::FoundFile;
use crate::snapshot::fingerprint;

/// A prompt without its text.
#[derive(Clone, Debug)]
pub struct PromptFile {
    /// The entry of a listing.
    pub prompt: SourcePrompt,
    /// What had to be repaired to read its front matter.
    pub warning: Option<Arc<str>>,
    /// Changes with everything that is served of the file.
    pub fingerprint: u64,
}

impl PromptFile {
    /// Reads a prompt and its text; `None` if the file does not exist.
    pub fn read_text(path: &Path) -> Result<Option<(Self, PromptText)>, Unserved> {
        let Some(content) = MarkdownContent::read(path)? else {
            return Ok(None);
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let yaml = content.front_matter.as_deref();
        let PromptFrontMatter {
            name,
            description,
            warning,
        } = PromptFrontMatter::parse(yaml, &content.body, &stem)?;
        let fingerprint = fingerprint((&content.body, &content.modified_at, &description));
        let prompt = SourcePrompt {
            name,
            description: description.into(),
            registered_at: content.modified_at,
            origin: Origin::Fs,
        };
        let text = PromptText {
            prompt: prompt.clone(),
            text: content.body,
        };
        let file = Self {
            prompt,
            warning: warning.map(Arc::from),
            fingerprint,
        };
        Ok(Some((file, text)))
    }
}

impl FileEntry for PromptFile {
    const SUFFIX: &'static str = ".md";
    const LISTING: &'static str = "list the prompt files";
    type Name = PromptName;

    fn read(found: &FoundFile) -> Result<Option<Self>, Unserved> {
        Ok(Self::read_text(&found.path)?.map(|(file, _)| file))
    }

    fn name(&self) -> &PromptName {
        &self.prompt.name
    }

    fn duplicate_reason(&self, first: &str) -> String {
        let name = &self.prompt.name;
        format!("has the name `{name}` that {first} has already; rename one")
    }
}

/// The fields of a prompt's front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PromptFrontMatter {
    name: PromptName,
    description: String,
    warning: Option<String>,
}

impl PromptFrontMatter {
    /// `stem`, the file name without `.md`, is the name unless the front matter has one.
    /// Fails with the reason why the file cannot be served.
    fn parse(yaml: Option<&str>, body: &str, stem: &str) -> Result<Self, String> {
        let Some(yaml) = yaml else {
            let opened = body
                .lines()
                .next()
                .is_some_and(|line| line.trim_end() == "---");
            return Err(if opened {
                "has front matter that is not closed; end it with a line `---`".into()
            } else {
                "has no front matter; begin with `---`, `description: ...`, `---`".into()
            });
        };
        let (value, warning) = parse_yaml(yaml)?;
        let Value::Object(mut map) = value else {
            return Err("has front matter that is not a map; write `description: ...`".into());
        };
        let Some(description) = text(&mut map, "description")? else {
            return Err("has no `description` in its front matter; add one".into());
        };
        check_description(&description)
            .map_err(|_| "has an empty `description` in its front matter; fill it in".to_owned())?;
        let name = text(&mut map, "name")?;
        let name = name.as_deref().unwrap_or(stem).parse::<PromptName>();
        let fix = "rename the file or set `name` in the front matter";
        Ok(Self {
            name: name.map_err(|error| format!("cannot be a prompt: {error}; {fix}"))?,
            description,
            warning,
        })
    }
}

/// A key that must hold text if it is there.
fn text(map: &mut serde_json::Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    let kind = match map.remove(key) {
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

/// Parses YAML; a plain value that YAML cannot hold is quoted, and that is said.
fn parse_yaml(yaml: &str) -> Result<(Value, Option<String>), String> {
    let error = match serde_saphyr::from_str::<Value>(yaml) {
        Ok(value) => return Ok((value, None)),
        Err(error) => error,
    };
    let (quoted, keys) = quote(yaml);
    if !keys.is_empty()
        && let Ok(value) = serde_saphyr::from_str::<Value>(&quoted)
    {
        let keys = keys.join("`, `");
        let warning =
            format!("`{keys}` in the front matter is not valid YAML as written; put it in quotes");
        return Ok((value, Some(warning)));
    }
    Err(format!(
        "has front matter that cannot be read: {}",
        complaint(&error.to_string())
    ))
}

/// What the parser says, without what it says to programmers.
fn complaint(error: &str) -> &str {
    let first = error.lines().next().unwrap_or_default();
    let first = first.trim_start_matches("error: ");
    first.split(", set ").next().unwrap_or(first)
}

/// Puts plain values at the top level that hold a colon, or begin with a character
/// YAML keeps for itself, in quotes. Answers the keys it did so for.
fn quote(yaml: &str) -> (String, Vec<&str>) {
    let mut out = String::with_capacity(yaml.len() + 16);
    let mut keys = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(": ").filter(|(key, value)| {
            !key.starts_with([' ', '\t', '#', '-', '"', '\'']) && unreadable(value.trim())
        }) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mut value = Cow::from(value.trim());
        // The value goes on while lines are indented.
        while let Some(more) = lines.next_if(|next| next.starts_with([' ', '\t'])) {
            value = format!("{value} {}", more.trim()).into();
        }
        let value = value.split(" #").next().unwrap_or_default().trim_end();
        keys.push(key);
        for part in [key, ": '", &value.replace('\'', "''"), "'\n"] {
            out.push_str(part);
        }
    }
    (out, keys)
}

/// Whether YAML stumbles over a plain value.
fn unreadable(value: &str) -> bool {
    let own = value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
    let colon = value.contains(": ") || value.ends_with(':');
    !own && (colon || value.starts_with(['`', '@', '%']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn good(yaml: &str, name: &str, description: &str, warned: bool) {
        let matter = PromptFrontMatter::parse(Some(yaml), "", "stem").unwrap();
        assert_eq!(matter.name.as_str(), name, "for {yaml:?}");
        assert_eq!(matter.description, description, "for {yaml:?}");
        assert_eq!(matter.warning.is_some(), warned, "{:?}", matter.warning);
    }

    #[track_caller]
    fn bad(yaml: &str, expected: &str) {
        let reason = PromptFrontMatter::parse(Some(yaml), "", "stem").unwrap_err();
        assert!(reason.contains(expected), "for {yaml:?}: {reason}");
    }

    #[test]
    fn front_matter() {
        good("description: Opens a PR.\n", "stem", "Opens a PR.", false);
        good("name: open-pr\ndescription: x\n", "open-pr", "x", false);
        good("name: open-pr\r\ndescription: x\r\n", "open-pr", "x", false);
        good(
            "description: x\ntags: [a, b]\nmodel: y\n",
            "stem",
            "x",
            false,
        );
        good("description: \"a: b\"\n", "stem", "a: b", false);
        good("description: |\n  a: b\n", "stem", "a: b\n", false);
        good("description: >-\n  a\n  b\n", "stem", "a b", false);
        good("# a comment\ndescription: x # more\n", "stem", "x", false);
    }

    #[test]
    fn an_unquoted_colon_is_repaired_with_a_warning() {
        good(
            "description: Use this: now\n",
            "stem",
            "Use this: now",
            true,
        );
        good("description: It's: so\n", "stem", "It's: so", true);
        good(
            "description: Use: this\n  and that\nname: next\n",
            "next",
            "Use: this and that",
            true,
        );
        good("description: Uses: x # why\n", "stem", "Uses: x", true);
        good("description: `x` does y\n", "stem", "`x` does y", true);
        good("description: @me does y\r\n", "stem", "@me does y", true);
        let warned = PromptFrontMatter::parse(Some("description: a: b\n"), "", "s")
            .unwrap()
            .warning;
        assert!(
            warned
                .unwrap()
                .contains("`description` in the front matter")
        );
    }

    #[test]
    fn invalid_front_matter_has_a_reason() {
        bad("", "is not a map");
        bad("just words\n", "is not a map");
        bad("- a\n- b\n", "is not a map");
        bad("name: x\n", "has no `description`");
        bad("description:\n", "has no `description`");
        bad("description: ''\n", "has an empty `description`");
        bad("description: '  '\n", "has an empty `description`");
        bad(
            "description: 5\n",
            "`description` in its front matter that is a number",
        );
        bad("description: true\n", "that is true or false");
        bad("description: [a]\n", "that is a list");
        bad("description: {a: b}\n", "that is a map");
        bad(
            "description: x\nname: 7\n",
            "`name` in its front matter that is a number",
        );
        bad(
            "description: x\nname: Open PR\n",
            "cannot be a prompt: name `Open PR` has 'O'",
        );
        bad("description: x\nname: ''\n", "name must be non-empty");
        bad(
            "description: x\ndescription: y\n",
            "cannot be read: line 2 column 1: duplicate mapping key: description",
        );
        let reason = PromptFrontMatter::parse(Some("name: x\nname: y\n"), "", "stem").unwrap_err();
        assert!(reason.ends_with("key: name"), "{reason}");
        bad("description: a: b\ndescription: y\n", "cannot be read");
        bad("description: [a\n", "cannot be read");
        bad("description: 'x\n", "cannot be read");
    }

    #[test]
    fn nested_aliases_and_deep_lists_are_refused() {
        let line = |n: usize| {
            format!(
                "a{}: &a{} [{}]\n",
                n + 1,
                n + 1,
                format!("*a{n},").repeat(9)
            )
        };
        let lines: String = (0..12).map(line).collect();
        bad(
            &format!("a0: &a0 [x, x, x]\n{lines}description: x\n"),
            "cannot be read",
        );
        bad(
            &format!("description: {}\n", "[".repeat(30_000)),
            "cannot be read",
        );
    }

    #[test]
    fn front_matter_must_be_present_and_closed() {
        let missing = |body: &str| PromptFrontMatter::parse(None, body, "stem").unwrap_err();
        assert!(missing("# Hi\n").contains("has no front matter"));
        assert!(missing("---\ndescription: x\n").contains("is not closed"));
        let reason = PromptFrontMatter::parse(Some("description: x\n"), "", "Open PR").unwrap_err();
        assert!(reason.contains("rename the file or set `name`"), "{reason}");
    }
}
