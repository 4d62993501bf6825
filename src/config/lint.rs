//! The section `lint:` of the configuration: the severities of rules, and the rules whose
//! findings refuse a registration.

use std::collections::BTreeMap;

use serde_json::Value;
use skills_core::{LintSettings, Severity};
use skills_lint::find_rule;

/// The settings, and the warnings about what is not one.
pub fn parse(section: BTreeMap<String, Value>) -> (LintSettings, Vec<String>) {
    let mut settings = LintSettings::default();
    let mut warnings = Vec::new();
    for (key, value) in section {
        if key == "refuse" {
            for code in list(&value) {
                match find_rule(code) {
                    Some(rule) => drop(settings.refuse.insert(rule.code.into())),
                    None => warnings.push(no_rule("lint.refuse", code)),
                }
            }
            if !value.is_array() {
                warnings.push("`lint.refuse` must be a list of codes; ignored".into());
            }
            continue;
        }
        let Some(rule) = find_rule(&key) else {
            warnings.push(no_rule("lint", &key));
            continue;
        };
        let severity = match value.as_str() {
            Some("off") => None,
            // YAML 1.1 and people write `off` as a truth value.
            None if value == Value::Bool(false) => None,
            text => {
                let Ok(severity) = text.unwrap_or_default().parse::<Severity>() else {
                    let expected = "`error`, `warning`, `note` or `off`";
                    warnings.push(format!("`lint.{key}` must be {expected}; ignored"));
                    continue;
                };
                Some(severity)
            }
        };
        settings.severities.insert(rule.code.into(), severity);
    }
    (settings, warnings)
}

fn list(value: &Value) -> impl Iterator<Item = &str> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap_or_default())
}

fn no_rule(place: &str, code: &str) -> String {
    format!("`{place}` names `{code}`, which is no rule; `docs/lint.md` lists them; ignored")
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    use super::*;

    #[track_caller]
    fn check(
        section: &str,
        severities: &[(&str, Option<Severity>)],
        refuse: &[&str],
        warning: &str,
    ) {
        let (config, warnings) = Config::parse(&format!("lint: {section}\n"));
        let expected = LintSettings {
            severities: severities
                .iter()
                .map(|(code, s)| ((*code).to_owned(), *s))
                .collect(),
            refuse: refuse.iter().map(|code| (*code).to_owned()).collect(),
        };
        assert_eq!(config.lint, expected, "for {section}");
        let all = warnings.join("\n");
        let is_expected = all.contains(warning) && all.is_empty() == warning.is_empty();
        assert!(is_expected, "for {section}: {all}");
    }

    #[test]
    fn severities_and_refusals() {
        let error = Some(Severity::Error);
        check(
            "{T011: error, f012: off}",
            &[("T011", error), ("F012", None)],
            &[],
            "",
        );
        check(
            "{F012: false, refuse: [t008]}",
            &[("F012", None)],
            &["T008"],
            "",
        );
        check("{T999: error}", &[], &[], "`T999`, which is no rule");
        check("{T011: bad}", &[], &[], "`lint.T011` must be `error`");
        check("{refuse: [x]}", &[], &[], "`lint.refuse` names `x`");
        check("{refuse: T008}", &[], &[], "`lint.refuse` must be a list");
    }
}
