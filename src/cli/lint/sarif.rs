//! Findings as a SARIF 2.1.0 log.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skills_core::Severity;
use skills_lint::{Edit, Finding, Findings, RULES, Rule};

/// The log, with a line end.
pub fn log(findings: &Findings) -> String {
    let rules: Vec<_> = RULES.iter().copied().flatten().copied().collect();
    let index = |rule: &Rule| rules.iter().position(|found| *found == rule);
    let found = findings
        .all
        .iter()
        .map(|finding| result(finding, index(finding.rule), false));
    let allowed = findings.allowed.iter();
    let allowed = allowed.map(|finding| result(finding, index(finding.rule), true));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "skills lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Value>(),
            } },
            // Columns count characters, not the units of UTF-16.
            "columnKind": "unicodeCodePoints",
            "results": found.chain(allowed).collect::<Value>(),
        }],
    });
    format!("{log:#}\n")
}

const fn level(severity: Severity) -> &'static str {
    severity.as_str()
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": [rule.group.name()] },
    })
}

fn result(finding: &Finding, rule: Option<usize>, is_allowed: bool) -> Value {
    let help = finding.help.as_ref().map(|help| format!("; {help}"));
    let text = format!("{}{}", finding.message, help.unwrap_or_default());
    let artifact = json!({ "uri": uri(&finding.file) });
    let mut result = json!({
        "ruleId": finding.rule.code,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": artifact,
            "region": { "startLine": finding.at.line, "startColumn": finding.at.column },
        } }],
    });
    if let Some(fix) = &finding.fix {
        let replacement = |edit: &Edit| {
            json!({
                "deletedRegion": {
                    "byteOffset": edit.bytes.start,
                    "byteLength": edit.bytes.len(),
                },
                "insertedContent": { "text": edit.text },
            })
        };
        result["fixes"] = json!([{
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": artifact,
                "replacements": fix.edits.iter().map(replacement).collect::<Value>(),
            }],
        }]);
    }
    if is_allowed {
        result["suppressions"] = json!([{ "kind": "inSource" }]);
    }
    result
}

/// A path as a reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'\\' => out.push('/'),
            _ if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) => {
                out.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}
