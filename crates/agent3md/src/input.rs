//! The typed inputs of a skill: `inputs="pattern:string, path:string?"`.

use std::borrow::Cow;

use serde::Serialize;

use crate::field::trim_wide;

/// The types of inputs. Other types are kept, and the validator reports them.
pub const INPUT_TYPES: [&str; 5] = ["string", "number", "boolean", "object", "array"];

/// One declared input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// The name that placeholders use.
    pub name: String,
    /// The type, lowercase; `string` by default.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// Whether the declaration ends with `?`.
    pub optional: bool,
}

/// Parses a comma-separated list. Entries without a name are dropped.
pub(crate) fn inputs(list: &str) -> Vec<Input> {
    list.split(',').filter_map(input).collect()
}

fn input(item: &str) -> Option<Input> {
    let item = trim_wide(item);
    let (item, optional) = item
        .strip_suffix('?')
        .map_or((item, false), |item| (item, true));
    let (name, kind) = item.split_once(':').unwrap_or((item, ""));
    let (name, kind) = (trim_wide(name), trim_wide(kind));
    let known = INPUT_TYPES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(kind));
    let kind = match known {
        Some(known) => Cow::Borrowed(*known),
        None if kind.is_empty() => Cow::Borrowed("string"),
        None => Cow::Owned(kind.to_lowercase()),
    };
    (!name.is_empty()).then(|| Input {
        name: name.to_owned(),
        kind,
        optional,
    })
}

#[cfg(test)]
mod tests {
    use super::inputs;

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let shown: Vec<_> = inputs(list)
            .iter()
            .map(|i| format!("{}:{}{}", i.name, i.kind, if i.optional { "?" } else { "" }))
            .collect();
        assert_eq!(shown, expected, "for {list:?}");
    }

    #[test]
    fn inputs_have_a_name_a_type_and_may_be_optional() {
        check("", &[]);
        check("a", &["a:string"]);
        check(
            " a : Number , b? , c:BOOLEAN? ",
            &["a:number", "b:string?", "c:boolean?"],
        );
        check("a:, b:?", &["a:string", "b:string?"]);
        check("f??", &["f?:string?"]);
        check("a:b:c", &["a:b:c"]);
        check(",, ?, :string, a", &["a:string"]);
        check("a, a", &["a:string", "a:string"]);
        check("a:date", &["a:date"]);
    }
}
