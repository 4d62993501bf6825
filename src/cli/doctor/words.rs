//! What the doctor found, for people.

use skills_core::Skipped;

use super::{Counted, counted, engine, place, store};
use crate::app::Checkup;
use crate::config::LoadedConfig;

/// One line for each thing, and a summary.
pub fn text(loaded: &LoadedConfig, checkup: &Checkup) -> String {
    let report = &checkup.report;
    let mut lines = vec![format!("engine   {}: {}", checkup.url, engine(checkup).1)];
    let place = place(checkup).map(|place| place + ": ").unwrap_or_default();
    lines.push(format!("store    {place}{}", store(checkup).1));
    for warning in &loaded.warnings {
        lines.push(format!("warning  {warning}"));
    }
    let [skills, prompts, agents] = counted(loaded, checkup);
    let kinds = [
        ("skill", skills, &report.skills),
        ("prompt", prompts, &report.prompts),
    ];
    for (kind, patterns, files) in kinds {
        lines.extend(patterns.iter().map(|counted| pattern(counted, kind)));
        for file in files {
            let path = file.path.display();
            lines.push(format!("{kind:<8} {}  {path}", file.name));
            if let Some(warning) = &file.warning {
                lines.push(format!("warning  {path}: {warning}"));
            }
        }
    }
    lines.extend(agents.iter().map(|counted| pattern(counted, "agent")));
    for agent in &checkup.agents {
        let path = agent.path.display();
        lines.push(format!("agent    {}  {path}", agent.ids.join(" ")));
        for warning in &agent.warnings {
            lines.push(format!("warning  {path}:{warning}"));
        }
    }
    for hidden in &checkup.shadowed {
        let (kind, name, path) = (hidden.kind, &hidden.file.name, hidden.file.path.display());
        let (by, at) = (hidden.by, &hidden.registered_at);
        lines.push(format!(
            "shadowed {path}: {kind} `{name}` was registered by a worker at {at} (origin {by}); \
             unregister that one or rename the file"
        ));
    }
    for Skipped { place, reason } in &report.skipped {
        lines.push(format!("skipped  {place}: {reason}"));
    }
    for Skipped { place, reason } in &checkup.damaged {
        lines.push(format!("damaged  {place}: {reason}"));
    }
    lines.push(format!(
        "skills: {}, prompts: {}, agents: {}, skipped: {}, shadowed: {}",
        report.skills.len(),
        report.prompts.len(),
        checkup.agents.len(),
        report.skipped.len(),
        checkup.shadowed.len()
    ));
    lines.join("\n") + "\n"
}

/// What a pattern matches, and why it may serve less.
fn pattern(counted: &Counted<'_>, kind: &str) -> String {
    let Counted {
        pattern,
        files,
        served,
        earlier,
    } = counted;
    let earlier = match earlier {
        0 => String::new(),
        some => format!(", matched by an earlier pattern: {some}"),
    };
    format!("pattern  {pattern} (files: {files}, {kind}s: {served}{earlier})")
}
