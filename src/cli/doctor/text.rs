//! The diagnosis for people.

use skills_core::{Skipped, escape_control};

use super::{Diagnosis, PatternCount};

/// One line of the report.
pub struct Line {
    label: &'static str,
    text: String,
    /// Whether it is a problem to fix.
    pub is_finding: bool,
}

/// A line of information.
fn info(label: &'static str, text: String) -> Line {
    Line {
        label,
        text,
        is_finding: false,
    }
}

/// A line about a problem.
fn finding(label: &'static str, text: String) -> Line {
    Line {
        label,
        text,
        is_finding: true,
    }
}

/// The lines in columns.
pub fn print(lines: &[Line]) -> String {
    let line = |line: &Line| match line.label {
        "" => line.text.clone() + "\n",
        label => format!("{label:<8} {}\n", escape_control(&line.text)),
    };
    lines.iter().map(line).collect()
}

/// A line for each subject, and a summary.
pub fn lines(diagnosis: &Diagnosis<'_>) -> Vec<Line> {
    let checkup = diagnosis.checkup;
    let report = &checkup.report;
    let (engine, store) = (&diagnosis.engine, &diagnosis.store);
    let store_path = match diagnosis.store_path {
        Some(path) => format!("{}: ", path.display()),
        None => String::new(),
    };
    let mut lines = vec![
        Line {
            label: "engine",
            text: format!("{}: {}", checkup.url, engine.message),
            is_finding: engine.is_finding,
        },
        Line {
            label: "store",
            text: format!("{store_path}{}", store.message),
            is_finding: store.is_finding,
        },
    ];
    let warnings = diagnosis.config.warnings.iter();
    lines.extend(warnings.map(|warning| finding("warning", warning.clone())));
    for (kind, patterns, files) in [
        ("skill", &diagnosis.skill_patterns, &report.skills),
        ("prompt", &diagnosis.prompt_patterns, &report.prompts),
    ] {
        lines.extend(patterns.iter().map(|count| pattern(count, kind)));
        for file in files {
            let path = file.path.display();
            lines.push(info(kind, format!("{}  {path}", file.name)));
            let warning = file.warning.iter();
            lines.extend(warning.map(|warning| finding("warning", format!("{path}: {warning}"))));
        }
    }
    let patterns = diagnosis.agent_patterns.iter();
    lines.extend(patterns.map(|count| pattern(count, "agent")));
    for agent in &checkup.agents {
        let path = agent.path.display();
        lines.push(info("agent", format!("{}  {path}", agent.ids.join(" "))));
        let warnings = agent.warnings.iter();
        lines.extend(warnings.map(|warning| finding("warning", format!("{path}:{warning}"))));
    }
    lines.extend(checkup.shadowed.iter().map(|shadowed| {
        let (kind, name) = (shadowed.kind, &shadowed.file.name);
        let (path, by) = (shadowed.file.path.display(), shadowed.by);
        let at = &shadowed.registered_at;
        let text = format!(
            "{path}: {kind} `{name}` was registered by a worker at {at} (origin {by}); \
             unregister that one or rename the file"
        );
        finding("shadowed", text)
    }));
    for (label, skipped) in [("skipped", &report.skipped), ("damaged", &checkup.damaged)] {
        let line = |Skipped { place, reason }: &Skipped| format!("{place}: {reason}");
        lines.extend(skipped.iter().map(|entry| finding(label, line(entry))));
    }
    let summary = format!(
        "skills: {}, prompts: {}, agents: {}, skipped: {}, shadowed: {}",
        report.skills.len(),
        report.prompts.len(),
        checkup.agents.len(),
        report.skipped.len(),
        checkup.shadowed.len()
    );
    lines.push(info("", summary));
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
    info("pattern", text)
}
