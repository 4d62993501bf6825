//! The section `visibility:` of the configuration: patterns of ids, and the visibility of each.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use skills_core::VisibilityRules;

/// The patterns in the order of the file: the first that matches an id counts.
#[derive(Debug, Default)]
pub(super) struct VisibilityPatterns(Vec<(String, Value)>);

impl VisibilityPatterns {
    /// Applies the patterns; returns a warning for each that is not valid.
    pub(super) fn apply(self, rules: &mut VisibilityRules) -> Vec<String> {
        let mut warnings = Vec::new();
        for (pattern, value) in self.0 {
            let is_valid =
                |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '/' | '*' | '?');
            if pattern.is_empty() || !pattern.chars().all(is_valid) {
                warnings.push(format!(
                    "`visibility` has the pattern `{pattern}`, which no id matches; ids have \
                     `a-z`, `0-9`, `_`, `-` and `/`; ignored"
                ));
                continue;
            }
            let text = match &value {
                Value::String(text) => text.clone(),
                // YAML readers may take `off` for a truth value.
                Value::Bool(false) => "off".to_owned(),
                other => other.to_string(),
            };
            match text.parse() {
                Ok(visibility) => rules.add(pattern, visibility),
                Err(problem) => {
                    warnings.push(format!("`visibility` of `{pattern}`: {problem} ignored"));
                }
            }
        }
        warnings
    }
}

impl<'de> Deserialize<'de> for VisibilityPatterns {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Patterns;
        impl<'de> Visitor<'de> for Patterns {
            type Value = VisibilityPatterns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from patterns to visibilities")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut patterns = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    patterns.push(entry);
                }
                Ok(VisibilityPatterns(patterns))
            }
        }
        input.deserialize_map(Patterns)
    }
}
