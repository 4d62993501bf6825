//! The table of rules for people: one rule for `--explain`, and all of them as `docs/lint.md`.

use std::fmt::Write as _;

use crate::rule::{Group, Rule};
use crate::rules::all;

/// Everything about one rule, as text.
pub fn explain(rule: &Rule) -> String {
    let Rule {
        code,
        severity,
        title,
        why,
        bad,
        good,
        fixable,
        ..
    } = rule;
    let group = rule.group.name();
    let fix = if *fixable {
        ", `--fix` corrects it"
    } else {
        ""
    };
    let indent = |text: &str| {
        let text = skills_core::escape_control_in_lines(text);
        let lines = text.lines().map(|line| format!("    {line}\n"));
        lines.collect::<String>()
    };
    format!(
        "{code}: {title}\n{group}, {severity}{fix}\n\n{why}\n\nA finding:\n\n{}\nNo finding:\n\n{}",
        indent(bad),
        indent(good)
    )
}

/// The part of `docs/lint.md` that lists the rules.
pub fn rules_document() -> String {
    let mut out = String::new();
    for group in Group::ALL {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "## {}\n\n| code | severity | finds |\n|---|---|---|\n",
            group.name()
        );
        for rule in all().filter(|rule| rule.group == group) {
            let fix = if rule.fixable { " (`--fix`)" } else { "" };
            let _ = writeln!(
                out,
                "| {} | {}{fix} | {} |",
                rule.code, rule.severity, rule.title
            );
        }
        out.push('\n');
        for rule in all().filter(|rule| rule.group == group) {
            let _ = write!(out, "### {}: {}\n\n{}\n\n", rule.code, rule.title, rule.why);
            for (label, text) in [("A finding", rule.bad), ("No finding", rule.good)] {
                let text = skills_core::escape_control_in_lines(text);
                let _ = write!(out, "{label}:\n\n```\n{text}\n```\n\n");
            }
        }
    }
    out
}
