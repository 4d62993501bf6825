//! `key=value` on the command line.

use std::collections::BTreeMap;

use super::CliError;

/// The values by key; `what` is what a message calls a pair.
pub fn parse<'a>(
    given: &'a [String],
    what: &str,
    hint: &str,
) -> Result<BTreeMap<&'a str, &'a str>, CliError> {
    let mut pairs = BTreeMap::new();
    for pair in given {
        let (key, value) = split(pair)
            .ok_or_else(|| CliError::invalid(format!("`{pair}` is not {what}"), hint))?;
        if pairs.insert(key, value).is_some() {
            let message = format!("`{key}` is given twice");
            return Err(CliError::invalid(message, "leave one of them out"));
        }
    }
    Ok(pairs)
}

/// The two parts of `key=value`. A key does not begin as JSON does.
pub fn split(pair: &str) -> Option<(&str, &str)> {
    let (key, value) = pair.split_once('=')?;
    let key = key.trim();
    let is_key = !key.is_empty() && !key.starts_with(['{', '[', '"']);
    is_key.then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        let check = |given: &[&str], expected: &str| {
            let given: Vec<_> = given.iter().map(ToString::to_string).collect();
            let got = parse(&given, "an argument", "");
            let got = got.map_or_else(|error| error.message, |map| format!("{map:?}"));
            assert_eq!(got, expected, "for {given:?}");
        };
        check(&[], "{}");
        check(&["a=b=c", "d="], r#"{"a": "b=c", "d": ""}"#);
        check(&["a"], "`a` is not an argument");
        check(&["=b"], "`=b` is not an argument");
        check(&["a=1", " a=2"], "`a` is given twice");
        check(
            &[r#" {"a": "b=c"}"#],
            r#"` {"a": "b=c"}` is not an argument"#,
        );
    }
}
