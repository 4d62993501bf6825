//! The section `lint:` of the configuration: the severities of rules, and the rules whose
//! findings refuse a registration.

use skills_core::{LintSettings, Severity};
use skills_lint::{RULES, find_rule};

use super::node::{Node, Value};
use super::section::Section;

const SEVERITY: &str = "`error`, `warning`, `note` or `off`";

/// Reads the section of the file.
pub(super) fn read(section: &mut Section<'_>) -> LintSettings {
    let mut settings = LintSettings::default();
    for rule in RULES.iter().copied().flatten() {
        if let Some(Setting(severity)) = section.take(rule.code, SEVERITY, Setting::read) {
            settings.severities.insert(rule.code.into(), severity);
        }
    }
    let codes = |node: &Node| Some((node.texts()?, node.place));
    let Some((codes, place)) = section.take("refuse", "a list of codes", codes) else {
        return settings;
    };
    for code in codes {
        if let Some(rule) = find_rule(&code) {
            settings.refuse.insert(rule.code.into());
        } else {
            let message = format!("names `{code}`, which is no rule; ignored");
            section.warn("refuse", place, &message);
        }
    }
    settings
}

/// The severity of a rule; `None` turns it off.
struct Setting(Option<Severity>);

impl Setting {
    fn read(node: &Node) -> Option<Self> {
        match &node.value {
            // Some versions of YAML read `off` as a truth value.
            Value::Bool(false) => Some(Self(None)),
            Value::Text(text) if text == "off" => Some(Self(None)),
            Value::Text(text) => text.parse().ok().map(|severity| Self(Some(severity))),
            _ => None,
        }
    }
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
        let parsed = Config::parse(&format!("lint: {section}\n")).unwrap();
        let severities = severities.iter();
        let expected = LintSettings {
            severities: severities
                .map(|(code, s)| ((*code).to_owned(), *s))
                .collect(),
            refuse: refuse.iter().map(|code| (*code).to_owned()).collect(),
        };
        assert_eq!(parsed.config.lint, expected, "for {section}");
        let all: String = parsed.warnings.iter().map(ToString::to_string).collect();
        let is_expected = all.contains(warning) && all.is_empty() == warning.is_empty();
        assert!(is_expected, "for {section}: {all}");
    }

    #[test]
    fn severities_and_refusals() {
        let error = Some(Severity::Error);
        check(
            "{T011: error, F012: off}",
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
        check("{T099: error}", &[], &[], "`lint.T099` is not a setting");
        check("{T011: bad}", &[], &[], "`lint.T011` must be `error`");
        check("{refuse: [x]}", &[], &[], "`lint.refuse` names `x`");
        check("{refuse: T008}", &[], &[], "`lint.refuse` must be a list");
    }
}
