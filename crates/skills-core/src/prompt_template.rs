//! Prompts that are text with arguments: what they declare, which values fit, and where the
//! values go.
//!
//! The text names a value as `{{name}}`, as `$1` by its position, or all values as `$ARGUMENTS`,
//! in the order of the declaration with a blank between them. A backslash keeps a `$`: `\$1`.
//! Values are inserted as they are and are not searched again. The text of a prompt that declares
//! no arguments is used unchanged.

use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::escape::quote;
use crate::limits::{MAX_ARGUMENT_NAME_BYTES, MAX_RENDERED_PROMPT_BYTES};
use crate::nearest::nearest;
use crate::prompt::check_given;
use crate::{Error, PromptArgument, PromptName, SourcePrompt};

/// Stands for all values.
const ALL: &str = "ARGUMENTS";

/// One declared argument of a prompt that is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateArgument {
    /// Its name and description, and whether a caller must give it.
    pub argument: PromptArgument,
    /// Its value if none is given.
    pub default: Option<Box<str>>,
    /// The only values that it can have; empty if it can have any.
    pub choices: Box<[Box<str>]>,
}

impl TemplateArgument {
    /// How a menu shows it: the description ends with the possible values and the default.
    pub fn to_menu(&self) -> PromptArgument {
        let choices = self.choices.iter().map(|choice| quote(choice));
        let choices = choices.collect::<Vec<_>>().join(", ");
        let choices = (!choices.is_empty()).then(|| format!("one of {choices}"));
        let default = self.default.as_deref();
        let default = default.map(|value| format!("default {}", quote(value)));
        let facts: Vec<_> = choices.into_iter().chain(default).collect();
        let mut shown = self.argument.clone();
        if !facts.is_empty() {
            let facts = facts.join("; ");
            let description = shown.description.as_deref().unwrap_or_default().trim();
            let text = match description {
                "" => facts,
                _ => format!("{description} ({facts})"),
            };
            shown.description = Some(text.into());
        }
        shown
    }

    /// The value to use, if there is one. An empty value of an argument that is not required
    /// counts as none: forms send one for a field that was left empty.
    fn value<'a>(&'a self, given: &'a Map<String, Value>) -> Option<&'a str> {
        let value = given.get(&*self.argument.name).and_then(Value::as_str);
        let value = value.filter(|value| self.argument.required || !value.is_empty());
        value.or(self.default.as_deref())
    }

    fn check_choice(&self, prompt: &PromptName, value: &str) -> Result<(), Error> {
        let mut choices = self.choices.iter().map(|choice| &**choice);
        if self.choices.is_empty() || choices.any(|choice| choice == value) {
            return Ok(());
        }
        let choices = || self.choices.iter().map(|choice| &**choice);
        let hint = match nearest(value, choices()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", choices().collect::<Vec<_>>().join(", ")),
        };
        let what = format!("argument `{}` of prompt `{prompt}`", self.argument.name);
        let problem = format!("cannot be {}", quote(value));
        Err(Error::invalid_hint(what, problem, hint))
    }
}

impl SourcePrompt {
    /// The text with the given values in place, once they fit what is declared.
    pub fn render(&self, text: Arc<str>, given: &Map<String, Value>) -> Result<Arc<str>, Error> {
        if self.arguments.is_empty() {
            return Ok(text);
        }
        let declared: Vec<_> = self.arguments.iter().map(|a| a.argument.clone()).collect();
        check_given(&self.name, &declared, given)?;
        let mut values = Vec::with_capacity(self.arguments.len());
        for argument in &*self.arguments {
            let value = argument.value(given);
            if let Some(value) = value {
                argument.check_choice(&self.name, value)?;
            }
            values.push(value);
        }
        let name = |name: &str| declared.iter().position(|argument| &*argument.name == name);
        let filled = fill(&text, name, &values).ok_or_else(|| {
            Error::invalid_hint(
                format!("prompt `{}`", self.name),
                format!(
                    "is too large with these arguments: more than {MAX_RENDERED_PROMPT_BYTES} bytes"
                ),
                "pass shorter arguments",
            )
        })?;
        Ok(filled.into())
    }
}

/// The names in `{{...}}` that are not declared, each once, in order; they stay as they are. What
/// is longer than the name of any argument is not one.
pub fn undeclared_names<'a>(text: &'a str, declared: &[TemplateArgument]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        rest = &rest[at + 2..];
        if let Some((name, _)) = braced_name(rest)
            && name.len() <= MAX_ARGUMENT_NAME_BYTES
            && !declared.iter().any(|known| &*known.argument.name == name)
            && seen.insert(name)
        {
            names.push(name);
        }
    }
    names
}

/// Replaces every mark in one pass; `None` if the result is too large. `position` finds a declared
/// name.
fn fill(
    text: &str,
    position: impl Fn(&str) -> Option<usize>,
    values: &[Option<&str>],
) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    // Checked before each part is added: a short text can name a long value many times.
    let mut push = |part: &str| {
        let fits = part.len() <= MAX_RENDERED_PROMPT_BYTES - filled.len();
        fits.then(|| filled.push_str(part))
    };
    let mut rest = text;
    while let Some(at) = rest.find(['{', '$', '\\']) {
        let (before, mark) = rest.split_at(at);
        push(before)?;
        let escaped = mark.strip_prefix('\\').and_then(|mark| {
            let (_, length) = dollar_values(mark, values)?;
            Some(&mark[..length])
        });
        if let Some(kept) = escaped {
            push(kept)?;
            rest = &mark[1 + kept.len()..];
        } else if let Some((named, length)) = dollar_values(mark, values) {
            for (number, value) in named.iter().flatten().enumerate() {
                if number > 0 {
                    push(" ")?;
                }
                push(value)?;
            }
            rest = &mark[length..];
        } else if let Some((name, length)) = mark.strip_prefix("{{").and_then(braced_name)
            && let Some(at) = position(name)
        {
            push(values[at].unwrap_or_default())?;
            rest = &mark[2 + length..];
        } else {
            // One character of ASCII.
            push(&mark[..1])?;
            rest = &mark[1..];
        }
    }
    push(rest)?;
    Some(filled)
}

/// The values that `$1` or `$ARGUMENTS` at the start of a text names, and the length of the mark.
fn dollar_values<'a, 'v>(
    text: &str,
    values: &'a [Option<&'v str>],
) -> Option<(&'a [Option<&'v str>], usize)> {
    let name = text.strip_prefix('$')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
    let length = 1 + word.len();
    if word == ALL {
        return Some((values, length));
    }
    if word.starts_with('0') || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let position = word.parse::<usize>().ok()?.checked_sub(1)?;
    Some((slice::from_ref(values.get(position)?), length))
}

/// The name before `}}`, with blanks around it, and the length up to its end.
///
/// Reads forwards instead of searching for `}}`: neither blanks nor names have braces, so nothing
/// is read again for the next `{{`, and a text of `{{` alone takes linear time.
fn braced_name(text: &str) -> Option<(&str, usize)> {
    let name = text.trim_start();
    let length = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
    let (name, after) = name.split_at(length);
    let rest = after.trim_start().strip_prefix("}}")?;
    (!name.is_empty()).then_some((name, text.len() - rest.len()))
}

/// Whether a text can be the name of an argument in a template.
pub fn is_argument_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests;
