//! The section `visibility:` of the configuration: patterns of ids, and the visibility of each.

use skills_core::VisibilityRules;

use super::node::Value;
use super::section::Section;

/// Reads the patterns in the order of the file: the first that matches an id counts.
pub(super) fn read(file: &mut Section<'_>, rules: &mut VisibilityRules) {
    const NAME: &str = "visibility";
    for entry in file.take_map(NAME).unwrap_or_default() {
        let pattern = entry.name;
        let is_valid = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '/' | '*' | '?');
        if pattern.is_empty() || !pattern.chars().all(is_valid) {
            let message = format!(
                "has the pattern `{pattern}`, which no id matches; ids have `a-z`, `0-9`, `_`, `-` \
                 and `/`; ignored"
            );
            file.warn(NAME, entry.place, &message);
            continue;
        }
        if pattern.split('/').any(str::is_empty) {
            let segments = pattern.split('/').filter(|segment| !segment.is_empty());
            let mut id = segments.collect::<Vec<_>>().join("/");
            if pattern.ends_with('/') && !id.is_empty() {
                id.push_str("/**");
            }
            let fix = match id.as_str() {
                "" => "`**` matches every id".to_owned(),
                id => format!("write `{id}`"),
            };
            let message = format!(
                "has the pattern `{pattern}`, which no id matches, because a segment is empty; \
                 {fix}; ignored"
            );
            file.warn(NAME, entry.place, &message);
            continue;
        }
        let text = match &entry.node.value {
            // YAML readers may take `off` for a truth value.
            Value::Bool(false) => "off".to_owned(),
            _ => entry.node.text().unwrap_or_default(),
        };
        match text.parse() {
            Ok(visibility) => rules.add(pattern, visibility),
            Err(problem) => {
                let message = format!("of `{pattern}`: {problem} It is ignored.");
                file.warn(NAME, entry.node.place, &message);
            }
        }
    }
}
