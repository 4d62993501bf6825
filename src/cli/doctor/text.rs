//! The diagnosis for people.

use skills_core::{Severity, Skipped, escape_control};
use skills_lint::Finding;

use super::{Diagnosis, PatternCount, lint, rejections};
use crate::cli::humanize;

/// A line: its label and its text.
pub type Line = (&'static str, String);

/// Labels of lines that report a problem to fix.
const FINDINGS: [&str; 6] = [
    "warning", "rejected", "shadowed", "skipped", "damaged", "error",
];

/// How many problems there are.
pub fn count_findings(diagnosis: &Diagnosis<'_>, lines: &[Line]) -> usize {
    let findings = lines.iter().filter(|(label, _)| FINDINGS.contains(label));
    let status = [&diagnosis.engine, &diagnosis.store];
    findings.count() + status.iter().filter(|status| status.is_finding).count()
}

/// The lines in columns.
pub fn print(lines: &[Line]) -> String {
    let line = |(label, text): &Line| format!("{label:<8} {}\n", escape_control(text));
    lines.iter().map(line).collect()
}

/// A line for each subject, and a summary.
pub fn lines(diagnosis: &Diagnosis<'_>) -> Vec<Line> {
    let checkup = diagnosis.checkup;
    let report = &checkup.report;
    let store_path = match diagnosis.store_path {
        Some(path) => format!("{}: ", path.display()),
        None => String::new(),
    };
    let engine = format!("{}: {}", checkup.url, diagnosis.engine.message);
    let store = format!("{store_path}{}", diagnosis.store.message);
    let mut lines = vec![("engine", engine), ("store", store)];
    let warnings = diagnosis.config.warnings.iter();
    lines.extend(warnings.map(|warning| ("warning", warning.clone())));
    for (kind, patterns, files) in [
        ("skill", &diagnosis.skill_patterns, &report.skills),
        ("prompt", &diagnosis.prompt_patterns, &report.prompts),
    ] {
        lines.extend(patterns.iter().map(|count| pattern(count, kind)));
        for file in files {
            let path = file.path.display();
            let files = file.folder.as_ref().map(|folder| folder.files.len());
            let files = files.map(|files| format!("  ({})", humanize::count(files, "file")));
            let files = files.unwrap_or_default();
            lines.push((kind, format!("{}  {path}{files}", file.name)));
            let warnings = file.warnings.iter();
            lines.extend(warnings.map(|warning| ("warning", format!("{path}: {warning}"))));
            lines.extend(rejections(file).map(|reason| {
                let text = format!("{path}: other agents do not load it: it {reason}");
                ("rejected", text)
            }));
        }
    }
    lines.extend(diagnosis.unlisted.iter().map(|unlisted| {
        let label = if unlisted.is_fault { "warning" } else { "note" };
        let (id, reason) = (&unlisted.id, &unlisted.reason);
        let text = format!("{id}: not listed for clients of Agent Skills: {reason}");
        (label, text)
    }));
    let patterns = diagnosis.agent_patterns.iter();
    lines.extend(patterns.map(|count| pattern(count, "agent")));
    for agent in &checkup.agents {
        let path = agent.path.display();
        lines.push(("agent", format!("{}  {path}", agent.ids.join(" "))));
        let warnings = agent.warnings.iter();
        lines.extend(warnings.map(|warning| ("warning", format!("{path}:{warning}"))));
    }
    lines.extend(checkup.shadowed.iter().map(|shadowed| {
        let (kind, name) = (shadowed.kind, &shadowed.file.name);
        let (path, by) = (shadowed.file.path.display(), shadowed.by);
        let at = &shadowed.registered_at;
        let text = format!(
            "{path}: {kind} `{name}` was registered by a worker at {at} (origin {by}); \
             unregister that one or rename the file"
        );
        ("shadowed", text)
    }));
    for (label, skipped) in [
        ("warning", &checkup.unpublished),
        ("warning", &checkup.registered_warnings),
        ("skipped", &report.skipped),
        ("damaged", &checkup.damaged),
    ] {
        let line = |Skipped { place, reason }: &Skipped| (label, format!("{place}: {reason}"));
        lines.extend(skipped.iter().map(line));
    }
    lines.extend(lint(diagnosis).map(|finding| {
        let Finding {
            rule,
            severity,
            file,
            at,
            message,
            ..
        } = finding;
        let label = match severity {
            Severity::Error => "error",
            Severity::Warning | Severity::Note => "advice",
        };
        (label, format!("{file}:{at}: {}: {message}", rule.code))
    }));
    let counts = [
        format!("skills: {}", report.skills.len()),
        format!("prompts: {}", report.prompts.len()),
        format!("agents: {}", checkup.agents.len()),
        format!("skipped: {}", report.skipped.len()),
        format!("shadowed: {}", checkup.shadowed.len()),
    ];
    lines.push(("summary", counts.join(", ")));
    lines
}

/// What a pattern matches, and why it may serve less.
fn pattern(count: &PatternCount<'_>, kind: &str) -> Line {
    let PatternCount {
        pattern,
        files,
        served,
        earlier,
    } = count;
    let earlier = match earlier {
        0 => String::new(),
        _ => format!(", matched by an earlier pattern: {earlier}"),
    };
    let text = format!("{pattern} (files: {files}, {kind}s: {served}{earlier})");
    ("pattern", text)
}
