//! A prompt: a slash command, its arguments, and the function that renders it.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::escape::quote;
use crate::limits::{MAX_ARGUMENT_NAME_BYTES, MAX_PROMPT_ARGUMENTS, MAX_PROMPT_DESCRIPTION_BYTES};
use crate::nearest::nearest;
use crate::{Error, FunctionId, PromptName};

/// One declared argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: Box<str>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<Box<str>>,
    /// Whether a caller must give it.
    #[serde(default)]
    pub required: bool,
}

/// A registered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The slash command.
    pub name: PromptName,
    /// Its description in a menu.
    pub description: Box<str>,
    /// Its declared arguments.
    pub arguments: Vec<PromptArgument>,
    /// The function that renders it.
    pub function_id: FunctionId,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
}

/// Checks a description: it must not be blank and has at most
/// [`MAX_PROMPT_DESCRIPTION_BYTES`].
pub fn check_description(description: &str) -> Result<(), Error> {
    if description.trim().is_empty() {
        return Err(Error::invalid("description", "must be non-empty"));
    }
    let what = || "description".to_owned();
    check_length(what, description, MAX_PROMPT_DESCRIPTION_BYTES)
}

/// Checks declared arguments: at most [`MAX_PROMPT_ARGUMENTS`], names must not be blank, no
/// name may occur twice, and names and descriptions have a limited length.
pub fn check_arguments(arguments: &[PromptArgument]) -> Result<(), Error> {
    if arguments.len() > MAX_PROMPT_ARGUMENTS {
        let problem = format!(
            "are too many: {}, at most {MAX_PROMPT_ARGUMENTS}",
            arguments.len()
        );
        return Err(Error::invalid("arguments", problem));
    }
    let mut names = HashSet::new();
    for argument in arguments {
        let name = argument.name.trim();
        if name.is_empty() {
            return Err(Error::invalid("argument name", "must be non-empty"));
        }
        let what = || format!("argument name {}", quote(name));
        check_length(what, name, MAX_ARGUMENT_NAME_BYTES)?;
        if !names.insert(name) {
            return Err(Error::invalid("duplicate argument name", quote(name)));
        }
        let description = argument.description.as_deref().unwrap_or_default();
        let what = || format!("description of argument {}", quote(name));
        check_length(what, description, MAX_PROMPT_DESCRIPTION_BYTES)?;
    }
    Ok(())
}

fn check_length(what: impl FnOnce() -> String, text: &str, limit: usize) -> Result<(), Error> {
    if text.len() > limit {
        let problem = format!("is too long: {} bytes, at most {limit}", text.len());
        return Err(Error::invalid(what(), problem));
    }
    Ok(())
}

/// Checks arguments that a person entered: only declared names, each with a text, and every
/// required one.
pub fn check_given(
    prompt: &PromptName,
    declared: &[PromptArgument],
    given: &Map<String, Value>,
) -> Result<(), Error> {
    let names = || declared.iter().map(|argument| &*argument.name);
    for (name, value) in given {
        if !names().any(|declared| declared == name) {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if declared.is_empty() => "it takes none".into(),
                None => format!("it takes {}", names().collect::<Vec<_>>().join(", ")),
            };
            let what = format!("prompt `{prompt}`");
            return Err(Error::invalid_hint(
                what,
                format!("has no argument {}", quote(name)),
                hint,
            ));
        }
        if !value.is_string() {
            let what = format!("argument `{name}` of prompt `{prompt}`");
            return Err(Error::invalid(
                what,
                format!("must be a string, not {}", kind_of(value)),
            ));
        }
    }
    let missing: Vec<_> = declared
        .iter()
        .filter(|argument| argument.required && !given.contains_key(&*argument.name))
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let plural = if missing.len() == 1 { "" } else { "s" };
    Err(Error::invalid(
        format!("prompt `{prompt}`"),
        format!(
            "is missing required argument{plural} {}",
            missing.join(", ")
        ),
    ))
}

/// The type of a JSON value, with its article.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn given(text: &str, expected: &str) {
        let argument = |name: &str, required| PromptArgument {
            name: name.into(),
            description: None,
            required,
        };
        let declared = [
            argument("to", true),
            argument("cc", false),
            argument("subject", true),
        ];
        let given: Map<String, Value> = serde_json::from_str(text).unwrap();
        let checked = check_given(&"mail".parse().unwrap(), &declared, &given);
        let got = checked.map_or_else(|e| e.to_text(), |()| "fine".into());
        assert_eq!(got, expected, "for {text}");
    }

    #[test]
    fn given_arguments() {
        given(r#"{"to":"a","subject":""}"#, "fine");
        given(r#"{"to":"a","subject":"b","cc":"c"}"#, "fine");
        given(
            "{}",
            "prompt `mail` is missing required arguments `to`, `subject`",
        );
        given(
            r#"{"to":"a"}"#,
            "prompt `mail` is missing required argument `subject`",
        );
        given(
            r#"{"to":"a","subjet":"b"}"#,
            "prompt `mail` has no argument `subjet` (did you mean `subject`?)",
        );
        given(
            r#"{"priority":"b"}"#,
            "prompt `mail` has no argument `priority` (it takes to, cc, subject)",
        );
        given(
            r#"{"to":5,"subject":"b"}"#,
            "argument `to` of prompt `mail` must be a string, not a number",
        );
        given(
            r#"{"to":null,"subject":"b"}"#,
            "argument `to` of prompt `mail` must be a string, not null",
        );
        let given: Map<String, Value> = serde_json::from_str(r#"{"a":"b"}"#).unwrap();
        let none = check_given(&"mail".parse().unwrap(), &[], &given).unwrap_err();
        assert_eq!(
            none.to_text(),
            "prompt `mail` has no argument `a` (it takes none)"
        );
    }

    #[track_caller]
    fn check(names: &[&str], expected: &str) {
        let argument = |name: &&str| PromptArgument {
            name: (*name).into(),
            description: None,
            required: false,
        };
        let arguments: Vec<_> = names.iter().map(argument).collect();
        let got = check_arguments(&arguments).map_or_else(|e| e.to_string(), |()| "fine".into());
        assert_eq!(got, expected, "for {names:?}");
    }

    #[test]
    fn arguments() {
        check(&[], "fine");
        check(&["to", "subject"], "fine");
        check(&["to", " "], "argument name must be non-empty");
        check(&[""], "argument name must be non-empty");
        check(&["to", "to"], "duplicate argument name `to`");
        check(&["to", " to"], "duplicate argument name `to`");
    }

    #[test]
    fn sizes_at_the_limits() {
        let refused = |checked: Result<(), Error>| checked.unwrap_err().to_string();
        let text = |bytes: usize| "a".repeat(bytes);
        assert!(check_description(&text(4_096)).is_ok());
        assert_eq!(
            refused(check_description(&text(4_097))),
            "description is too long: 4097 bytes, at most 4096"
        );
        let argument = |name: String, description: usize| PromptArgument {
            name: name.into(),
            description: Some(text(description).into()),
            required: false,
        };
        assert!(check_arguments(&[argument(text(256), 4_096)]).is_ok());
        assert_eq!(
            refused(check_arguments(&[argument(text(257), 1)])),
            format!(
                "argument name `{}...` is too long: 257 bytes, at most 256",
                text(80)
            )
        );
        assert_eq!(
            refused(check_arguments(&[argument("to".into(), 4_097)])),
            "description of argument `to` is too long: 4097 bytes, at most 4096"
        );
        let many = |n: usize| {
            (0..n)
                .map(|n| argument(n.to_string(), 1))
                .collect::<Vec<_>>()
        };
        assert!(check_arguments(&many(64)).is_ok());
        assert_eq!(
            refused(check_arguments(&many(65))),
            "arguments are too many: 65, at most 64"
        );
    }

    #[test]
    fn a_blank_description_is_refused() {
        assert_eq!(
            check_description(" ").unwrap_err().to_string(),
            "description must be non-empty"
        );
        assert!(check_description("Compose").is_ok());
    }
}
