//! The cases of an evaluation: one on each line of a file.

use serde_json::{Map, Value};
use skills_core::limits::REQUEST_MAX;

use crate::cli::CliError;

/// What a file of cases is, with an example.
pub const HINT: &str = "cases are JSON lines in UTF-8, such as \
     {\"text\": \"send a mail\", \"expect\": \"resend/email\"}";

/// One request, and what is right for it.
#[derive(Debug)]
pub struct Case {
    pub text: String,
    /// The ids that are right; none if abstaining is right.
    pub expected: Vec<String>,
}

/// Reads the cases of a file; an error names the line.
pub fn parse(text: &str, name: &str) -> Result<Vec<Case>, CliError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let case = |(number, line): (usize, &str)| {
        Case::parse(line)
            .map_err(|problem| CliError::invalid(format!("{name}:{number}: {problem}"), HINT))
    };
    let cases: Vec<Case> = lines.map(case).collect::<Result<_, _>>()?;
    if cases.is_empty() {
        return Err(CliError::invalid(format!("{name} has no cases"), HINT));
    }
    Ok(cases)
}

impl Case {
    fn parse(line: &str) -> Result<Self, String> {
        let value = serde_json::from_str(line).map_err(|error| format!("is not JSON: {error}"))?;
        let Value::Object(mut fields) = value else {
            return Err("is not an object".into());
        };
        let mut take = |field: &str| {
            let value = fields.remove(field);
            value.ok_or_else(|| format!("missing field `{field}`"))
        };
        let (text, expected) = (take("text")?, take("expect")?);
        let Value::String(text) = text else {
            return Err("`text` is not a text".into());
        };
        if text.trim().is_empty() {
            return Err("`text` is empty".into());
        }
        if text.len() > REQUEST_MAX {
            let bytes = text.len();
            return Err(format!(
                "`text` is too large: {bytes} bytes, at most {REQUEST_MAX}"
            ));
        }
        refuse_unknown(&fields)?;
        let expected = ids(expected)?;
        Ok(Self { text, expected })
    }
}

fn refuse_unknown(fields: &Map<String, Value>) -> Result<(), String> {
    match fields.keys().next() {
        None => Ok(()),
        Some(field) => Err(format!(
            "unknown field {}, expected `text` and `expect`",
            skills_core::quote(field)
        )),
    }
}

fn ids(expected: Value) -> Result<Vec<String>, String> {
    const KINDS: &str = "`expect` is not an id, a list of ids or null";
    const NONE: &str = "`expect` names no skill; use null if no skill serves the request";
    let id = |value| match value {
        Value::String(id) if id.trim().is_empty() => Err(NONE),
        Value::String(id) => Ok(id),
        _ => Err(KINDS),
    };
    let ids = match expected {
        Value::Null => Ok(Vec::new()),
        Value::Array(ids) if ids.is_empty() => Err(NONE),
        Value::Array(ids) => ids.into_iter().map(id).collect(),
        one => id(one).map(|id| vec![id]),
    };
    ids.map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_lines() {
        let text = "\u{feff}{\"text\":\"a\",\"expect\":\"x\"}\n\n{\"text\":\"b\",\"expect\":[\"x\",\"y\"]}\n{\"text\":\"c\",\"expect\":null}\n";
        let cases = parse(text, "f").unwrap();
        let expected: Vec<usize> = cases.iter().map(|case| case.expected.len()).collect();
        assert_eq!(expected, [1, 2, 0]);
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = parse(text, "f").unwrap_err();
        assert!(error.message.starts_with(expected), "{}", error.message);
    }

    #[test]
    fn a_line_that_is_no_case_is_named() {
        let kinds = "f:1: `expect` is not an id, a list of ids or null";
        let none = "f:1: `expect` names no skill; use null";
        check("", "f has no cases");
        check("nothing", "f:1: is not JSON: expected");
        check("[]", "f:1: is not an object");
        check("{\"text\":\"a\"}", "f:1: missing field `expect`");
        check("{\"text\":5,\"expect\":null}", "f:1: `text` is not a text");
        check("{\"expect\":5}", "f:1: missing field `text`");
        check("\n{\"text\":\" \",\"expect\":null}", "f:2: `text` is empty");
        check("{\"text\":\"a\",\"expect\":5}", kinds);
        check("{\"text\":\"a\",\"expect\":[[\"a\"]]}", kinds);
        check("{\"text\":\"a\",\"expect\":[]}", none);
        check("{\"text\":\"a\",\"expect\":\"\"}", none);
        check(
            "{\"text\":\"a\",\"expect\":null,\"id\":1}",
            "f:1: unknown field `id`",
        );
        let long = format!("{{\"text\":{:?},\"expect\":null}}", "a".repeat(300_000));
        check(&long, "f:1: `text` is too large: 300000 bytes");
    }
}
