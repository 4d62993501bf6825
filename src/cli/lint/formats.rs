//! Findings for programs: JSON, and annotations of GitHub Actions.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skills_core::Severity;
use skills_lint::{Edit, Finding, Findings, Rule};

/// The findings as JSON.
pub fn data(findings: &Findings) -> Value {
    let all = |findings: &[Finding]| findings.iter().map(finding).collect::<Value>();
    json!({
        "errors": findings.count(Severity::Error),
        "warnings": findings.count(Severity::Warning),
        "notes": findings.count(Severity::Note),
        "findings": all(&findings.all),
        "allowed": all(&findings.allowed),
    })
}

/// One finding as JSON.
pub fn finding(finding: &Finding) -> Value {
    let edit = |edit: &Edit| json!({ "start": edit.bytes.start, "end": edit.bytes.end, "text": edit.text });
    json!({
        "code": finding.rule.code,
        "severity": finding.severity.as_str(),
        "file": &*finding.file,
        "line": finding.at.line,
        "column": finding.at.column,
        "start": finding.at.bytes.start,
        "end": finding.at.bytes.end,
        "message": finding.message,
        "help": finding.help,
        "fix": finding.fix.as_ref().map(|fix| json!({
            "title": fix.title,
            "edits": fix.edits.iter().map(edit).collect::<Value>(),
        })),
    })
}

/// A rule as JSON.
pub fn rule(rule: &Rule) -> Value {
    json!({
        "code": rule.code,
        "group": rule.group.name(),
        "severity": rule.severity.as_str(),
        "title": rule.title,
        "why": rule.why,
        "bad": rule.bad,
        "good": rule.good,
        "fixable": rule.fixable,
    })
}

/// The findings as commands of GitHub Actions, which shows them beside the lines.
pub fn github(findings: &Findings) -> String {
    let mut out = String::new();
    for finding in &findings.all {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let file = property(&finding.file);
        let (line, column) = (finding.at.line, finding.at.column);
        let title = property(&format!("{}: {}", finding.rule.code, finding.rule.title));
        let help = finding.help.as_ref().map(|help| format!("; {help}"));
        let message = escape(&format!("{}{}", finding.message, help.unwrap_or_default()));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "::{command} file={file},line={line},col={column},title={title}::{message}"
        );
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}
