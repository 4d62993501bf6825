//! `arguments:` in the front matter of a prompt file: a list of names, of maps with `name`,
//! `description`, `required`, `default` and `enum`, or both; or one text with the names.

use serde_json::{Map, Value};
use skills_core::{
    FrontMatter, PromptArgument, TemplateArgument, check_arguments, is_argument_name, quote,
};

/// The keys of an argument that is a map.
const KEYS: [&str; 5] = ["name", "description", "required", "default", "enum"];

/// The declared arguments, and what their author should correct. Fails with the reason why the
/// file cannot be served.
pub fn parse(front_matter: &FrontMatter) -> Result<(Vec<TemplateArgument>, Vec<String>), String> {
    let mut warnings = Vec::new();
    let arguments = match front_matter.get("arguments") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(names)) => {
            let names = names.split([',', ' ', '\t', '\n']);
            let names = names.filter(|name| !name.is_empty());
            names.map(named).collect::<Result<_, _>>()?
        }
        Some(Value::Array(items)) => {
            let parse = |item: &Value| match item {
                Value::Object(fields) => parse_map(fields, &mut warnings),
                item => match scalar(item) {
                    Some(name) => named(&name),
                    None => Err(not_arguments("has an entry that is not a name")),
                },
            };
            items.iter().map(parse).collect::<Result<_, _>>()?
        }
        Some(_) => return Err(not_arguments("is not a list")),
    };
    let shown: Vec<_> = arguments.iter().map(TemplateArgument::to_menu).collect();
    check_arguments(&shown)
        .map_err(|error| format!("has `arguments` whose {error}; correct it"))?;
    Ok((arguments, warnings))
}

fn not_arguments(problem: &str) -> String {
    format!(
        "has `arguments` in its front matter that cannot be read: it {problem}; write \
         `arguments: [a, b]`, or maps with a `name`"
    )
}

fn named(name: &str) -> Result<TemplateArgument, String> {
    let name = name.trim();
    if !is_argument_name(name) {
        return Err(format!(
            "has an argument {} in its front matter; use letters, digits, `-` and `_`",
            quote(name)
        ));
    }
    Ok(TemplateArgument {
        argument: PromptArgument {
            name: name.into(),
            description: None,
            required: false,
        },
        default: None,
        choices: Box::default(),
    })
}

fn parse_map(
    fields: &Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<TemplateArgument, String> {
    let Some(name) = fields.get("name").and_then(scalar) else {
        return Err(not_arguments("has a map without a `name`"));
    };
    let mut argument = named(&name)?;
    let wrong = |key: &str, expected: &str| {
        format!("has an argument `{name}` whose `{key}` is not {expected}; correct it")
    };
    for key in fields.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let key = quote(key);
        warnings.push(format!(
            "has an argument `{name}` with the key {key}, which is ignored; use {}",
            KEYS.join(", ")
        ));
    }
    let declared = &mut argument.argument;
    match fields.get("description") {
        None | Some(Value::Null) => {}
        Some(text) => {
            let text = scalar(text).ok_or_else(|| wrong("description", "a text"))?;
            declared.description = Some(text.into());
        }
    }
    match fields.get("required") {
        None | Some(Value::Null) => {}
        Some(Value::Bool(required)) => declared.required = *required,
        Some(_) => return Err(wrong("required", "`true` or `false`")),
    }
    match fields.get("enum") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) if !items.is_empty() => {
            let choices = items.iter().map(|item| scalar(item).map(Into::into));
            let choices = choices.collect::<Option<_>>();
            argument.choices = choices.ok_or_else(|| wrong("enum", "a list of texts"))?;
        }
        Some(_) => return Err(wrong("enum", "a list of texts")),
    }
    match fields.get("default") {
        None | Some(Value::Null) => {}
        Some(value) => {
            let value = scalar(value).ok_or_else(|| wrong("default", "a text"))?;
            if !argument.choices.is_empty() && !argument.choices.iter().any(|c| **c == *value) {
                return Err(wrong("default", "one of its `enum`"));
            }
            if std::mem::take(&mut argument.argument.required) {
                warnings.push(format!(
                    "has an argument `{name}` that is required and has a `default`, so it is \
                     optional; remove `required` or `default`"
                ));
            }
            argument.default = Some(value.into());
        }
    }
    Ok(argument)
}

/// A text, or the text of a number or a boolean: YAML reads `1` and `yes` as such.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(yaml: &str) -> Result<(Vec<TemplateArgument>, Vec<String>), String> {
        parse(&FrontMatter::parse(yaml).unwrap())
    }

    #[test]
    fn names() {
        for yaml in [
            "arguments: [to, cc]",
            "arguments:\n  - to\n  - name: cc",
            "arguments: to cc",
            "arguments: to, cc",
        ] {
            let (arguments, warnings) = parsed(yaml).unwrap();
            let names: Vec<_> = arguments.iter().map(|a| &*a.argument.name).collect();
            assert_eq!(names, ["to", "cc"], "for {yaml}");
            assert!(arguments.iter().all(|a| !a.argument.required));
            assert_eq!(warnings, [""; 0]);
        }
        for yaml in ["description: x", "arguments:", "arguments: []"] {
            assert_eq!(parsed(yaml).unwrap().0, [], "for {yaml}");
        }
    }

    #[test]
    fn maps() {
        let (arguments, warnings) = parsed(
            "arguments:\n- name: to\n  description: Who\n  required: true\n- name: n\n  \
             enum: [1, 2, x]\n  default: 2\n",
        )
        .unwrap();
        assert_eq!(warnings, [""; 0]);
        assert!(arguments[0].argument.required);
        assert_eq!(arguments[0].argument.description.as_deref(), Some("Who"));
        assert_eq!(arguments[1].default.as_deref(), Some("2"));
        assert_eq!(arguments[1].choices.join(" "), "1 2 x");
    }

    #[track_caller]
    fn bad(yaml: &str, expected: &str) {
        let reason = parsed(yaml).unwrap_err();
        assert!(reason.contains(expected), "for {yaml:?}: {reason}");
    }

    #[test]
    fn bad_arguments_have_a_reason() {
        bad("arguments: 5", "it is not a list");
        bad("arguments: {a: b}", "it is not a list");
        bad("arguments: [[a]]", "an entry that is not a name");
        bad("arguments: [{required: true}]", "a map without a `name`");
        bad("arguments: [a b]", "an argument `a b`");
        bad("arguments: [a, a]", "duplicate argument name `a`");
        bad(
            "arguments: [{name: a, required: 5}]",
            "`required` is not `true`",
        );
        bad("arguments: [{name: a, enum: x}]", "`enum` is not a list");
        bad("arguments: [{name: a, enum: []}]", "`enum` is not a list");
        bad(
            "arguments: [{name: a, default: [b]}]",
            "`default` is not a text",
        );
        bad(
            "arguments: [{name: a, enum: [b], default: c}]",
            "one of its `enum`",
        );
    }

    #[test]
    fn odd_arguments_are_served_with_a_warning() {
        let warned = |yaml| parsed(yaml).unwrap().1.remove(0);
        assert!(warned("arguments: [{name: a, requried: true}]").contains("`requried`"));
        let both = "arguments: [{name: a, required: true, default: b}]";
        assert!(warned(both).contains("so it is optional"));
        assert!(!parsed(both).unwrap().0[0].argument.required);
    }
}
