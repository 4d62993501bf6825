//! Whether the arguments of a call fit the JSON schema that a function declares.
//!
//! Only the common keywords are understood: `type`, `properties`, `required`, `enum`, `const`,
//! `items`, `additionalProperties: false`, `allOf`, `anyOf`, `oneOf` and references within the
//! schema. Everything else is accepted, so that nothing is refused that a complete validator
//! accepts; the function checks the rest itself.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::nearest::nearest;
use crate::{Error, FunctionId, quote};

/// How deeply schemas may be nested. What is deeper is accepted.
const DEPTH_MAX: usize = 32;
/// How many schemas a check looks at: a schema that refers to itself more than once would take
/// time without end. What is left is accepted.
const STEPS_MAX: usize = 10_000;
/// How many values of an `enum` a message lists.
const LISTED_MAX: usize = 8;

/// Checks the arguments of a call against the schema that the function declares.
pub fn check_call(function: &FunctionId, schema: &Value, arguments: &Value) -> Result<(), Error> {
    let check = Check {
        root: schema,
        steps: Cell::new(0),
    };
    let Some(problem) = check.problem(schema, arguments, "", 0) else {
        return Ok(());
    };
    check.steps.set(0);
    let takes = check.takes(schema);
    let takes = match takes.as_slice() {
        [] => "it takes no arguments".to_owned(),
        takes => format!("it takes {}", takes.join(", ")),
    };
    let hint = match &problem {
        Problem::Unknown(unknown, known) => match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? {takes}"),
            None => takes,
        },
        Problem::Missing(_) | Problem::Wrong { .. } => takes,
    };
    Err(Error::invalid_hint(
        function.as_str(),
        problem.to_text(),
        hint,
    ))
}

enum Problem<'a> {
    /// Arguments that are missing, with their types.
    Missing(Vec<String>),
    /// An argument that is of another type or not one of the values.
    Wrong {
        path: String,
        expected: String,
        got: String,
    },
    /// An argument that the schema excludes, and those that it has.
    Unknown(String, Vec<&'a str>),
}

impl Problem<'_> {
    fn to_text(&self) -> String {
        match self {
            Self::Missing(arguments) => format!("needs {}", arguments.join(", ")),
            Self::Wrong {
                path,
                expected,
                got,
            } if path.is_empty() => format!("needs {expected}, not {got}"),
            Self::Wrong {
                path,
                expected,
                got,
            } => format!("needs {path} ({expected}), not {got}"),
            Self::Unknown(argument, _) => format!("has no argument {}", quote(argument)),
        }
    }
}

struct Check<'a> {
    root: &'a Value,
    /// How many schemas it has looked at.
    steps: Cell<usize>,
}

impl<'a> Check<'a> {
    /// Why a value does not fit a schema; `None` if it does, or if that is not known.
    fn problem(
        &self,
        schema: &'a Value,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Option<Problem<'a>> {
        let schema = self.target(schema, depth)?;
        let wrong = || Problem::Wrong {
            path: path.to_owned(),
            expected: self.expected(schema, depth),
            got: shown(value),
        };
        let is_wrong = !has_type(schema, value)
            || schema
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|values| !values.iter().any(|one| is_equal(one, value)))
            || schema.get("const").is_some_and(|one| !is_equal(one, value));
        if is_wrong {
            return Some(wrong());
        }
        if let Value::Object(fields) = value
            && let Some(problem) = self.fields_problem(schema, fields, path, depth)
        {
            return Some(problem);
        }
        if let (Value::Array(values), Some(items @ Value::Object(_))) = (value, schema.get("items"))
            // In the newest drafts it does not apply to the first items then.
            && !schema.contains_key("prefixItems")
        {
            let mut values = values.iter().enumerate();
            let problem = values.find_map(|(at, value)| {
                self.problem(items, value, &format!("{path}[{at}]"), depth + 1)
            });
            if problem.is_some() {
                return problem;
            }
        }
        let forms = |key: &str| schema.get(key).and_then(Value::as_array);
        let fits = |form: &&'a Value| self.problem(form, value, path, depth + 1).is_none();
        for key in ["anyOf", "oneOf"] {
            if forms(key).is_some_and(|forms| !forms.is_empty() && !forms.iter().any(|f| fits(&f)))
            {
                return Some(wrong());
            }
        }
        let all = forms("allOf").into_iter().flatten();
        all.into_iter()
            .find_map(|form| self.problem(form, value, path, depth + 1))
    }

    fn fields_problem(
        &self,
        schema: &'a Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Option<Problem<'a>> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let property = |name: &str| properties.and_then(|properties| properties.get(name));
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<_> = required
            .filter(|name| !fields.contains_key(*name))
            .map(|name| self.described(&join(path, name), property(name), depth))
            .collect();
        if !missing.is_empty() {
            return Some(Problem::Missing(missing));
        }
        for (name, value) in fields {
            match property(name) {
                Some(schema) => {
                    let problem = self.problem(schema, value, &join(path, name), depth + 1);
                    if problem.is_some() {
                        return problem;
                    }
                }
                None if is_closed(schema) => {
                    let known = properties.into_iter().flat_map(Map::keys);
                    let known = known.map(String::as_str).collect();
                    return Some(Problem::Unknown(join(path, name), known));
                }
                None => {}
            }
        }
        None
    }

    /// The schema itself, or what it refers to; `None` if it is not understood.
    fn target(&self, schema: &'a Value, depth: usize) -> Option<&'a Map<String, Value>> {
        let mut schema = schema.as_object()?;
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > STEPS_MAX {
            return None;
        }
        for _ in depth..DEPTH_MAX {
            // References within it are relative to another document.
            let is_document = schema.contains_key("$id") || schema.contains_key("id");
            if is_document && !std::ptr::eq(schema, self.root.as_object()?) {
                return None;
            }
            let Some(reference) = schema.get("$ref") else {
                return Some(schema);
            };
            let pointer = reference.as_str()?.strip_prefix('#')?;
            schema = self.root.pointer(pointer)?.as_object()?;
        }
        None
    }

    /// What a schema demands, in a few words.
    fn expected(&self, schema: &'a Map<String, Value>, depth: usize) -> String {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return one_of(values);
        }
        if let Some(value) = schema.get("const") {
            return shown(value);
        }
        let types = match schema.get("type") {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            _ => {
                let forms = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key));
                let forms = forms.and_then(Value::as_array).into_iter().flatten();
                let forms = forms.filter_map(|form| self.target(form, depth + 1));
                forms.map(|form| self.expected(form, depth + 1)).collect()
            }
        };
        match types.as_slice() {
            [] if schema.contains_key("properties") => "object".to_owned(),
            [] => "any value".to_owned(),
            types => types.join(" or "),
        }
    }

    /// An argument with what it must be: `b (number)`.
    fn described(&self, name: &str, schema: Option<&'a Value>, depth: usize) -> String {
        match schema.and_then(|schema| self.target(schema, depth + 1)) {
            Some(schema) => format!("{name} ({})", self.expected(schema, depth + 1)),
            None => name.to_owned(),
        }
    }

    /// Every argument of the function, the required ones first.
    fn takes(&self, schema: &'a Value) -> Vec<String> {
        let Some(schema) = self.target(schema, 0) else {
            return Vec::new();
        };
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<_> = required.into_iter().flatten().collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        let (mut first, mut then) = (Vec::new(), Vec::new());
        for (name, property) in properties {
            let described = self.described(name, Some(property), 0);
            if required.iter().any(|one| *one == name) {
                first.push(described);
            } else {
                then.push(format!("[{described}]"));
            }
        }
        first.extend(then);
        first
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Whether an object may have no other fields than `properties`.
fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
}

fn has_type(schema: &Map<String, Value>, value: &Value) -> bool {
    let nullable = schema.get("nullable") == Some(&Value::Bool(true));
    match schema.get("type") {
        Some(Value::String(name)) => is_type(name, value) || (nullable && value.is_null()),
        Some(Value::Array(names)) => names
            .iter()
            .any(|name| name.as_str().is_none_or(|name| is_type(name, value))),
        _ => true,
    }
}

/// Whether a value is of a type; an unknown type is every type.
fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // 1.0 is an integer too.
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}

/// Equality as schemas have it: 1 is 1.0.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, a)| b.get(name).is_some_and(|b| is_equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (a, b) => a == b,
    }
}

fn one_of(values: &[Value]) -> String {
    let mut shown: Vec<_> = values.iter().take(LISTED_MAX).map(shown).collect();
    if values.len() > LISTED_MAX {
        shown.push("...".into());
    }
    shown.join(" or ")
}

/// A value in a message: short ones as they are, others by their type.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(_) => "array".into(),
        Value::Object(_) => "object".into(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
