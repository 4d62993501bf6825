//! What the doctor found, for programs.

use serde_json::{Value, json};
use skills_core::Skipped;

use super::{engine, findings, per_pattern, place, store};
use crate::agents;
use crate::app::{Checkup, Shadowed, StoreHealth};
use crate::config::Loaded;
use crate::files;

/// All of it.
pub fn data(loaded: &Loaded, checkup: &Checkup) -> Value {
    let report = &checkup.report;
    let (engine, engine_says) = engine(checkup);
    let (store, store_says) = store(checkup);
    let checked = match &checkup.store {
        StoreHealth::Well(checked) => Some(checked),
        _ => None,
    };
    let findings = findings(loaded, checkup);
    json!({
        "healthy": findings == 0,
        "findings": findings,
        "engine": { "url": checkup.url, "state": engine, "message": engine_says },
        "store": {
            "path": place(checkup),
            "state": store,
            "message": store_says,
            "schema_version": checked.map(|checked| checked.version),
            "rows": checked.map(|checked| checked.rows),
        },
        "warnings": loaded.warnings,
        "patterns": {
            "skills": patterns(&loaded.config.skills, &report.skills, |file| &file.pattern),
            "prompts": patterns(&loaded.config.prompts, &report.prompts, |file| &file.pattern),
            "agents": patterns(&loaded.config.agents, &checkup.agents, |agent| &agent.pattern),
        },
        "skills": files(&report.skills, "id"),
        "prompts": files(&report.prompts, "name"),
        "agents": checkup.agents.iter().map(agent).collect::<Value>(),
        "shadowed": checkup.shadowed.iter().map(shadowed).collect::<Value>(),
        "skipped": report.skipped.iter().map(skipped).collect::<Value>(),
        "damaged": checkup.damaged.iter().map(skipped).collect::<Value>(),
    })
}

fn patterns<T>(patterns: &[String], files: &[T], of: impl Fn(&T) -> &str) -> Value {
    let counted = per_pattern(patterns, files, of).into_iter();
    let entry = |(pattern, files)| json!({ "pattern": pattern, "files": files });
    counted.map(entry).collect()
}

fn files(files: &[files::Loaded], key: &str) -> Value {
    let entry = |file: &files::Loaded| {
        json!({
            key: file.name,
            "path": file.path.display().to_string(),
            "pattern": &*file.pattern,
            "warning": file.warning,
        })
    };
    files.iter().map(entry).collect()
}

fn agent(agent: &agents::Loaded) -> Value {
    json!({
        "agent": agent.agent,
        "ids": agent.ids,
        "path": agent.path.display().to_string(),
        "pattern": &*agent.pattern,
        "warnings": agent.warnings,
    })
}

fn shadowed(hidden: &Shadowed) -> Value {
    json!({
        "kind": hidden.kind,
        "name": hidden.file.name,
        "path": hidden.file.path.display().to_string(),
        "by": hidden.by.as_str(),
        "registered_at": hidden.registered_at,
    })
}

fn skipped(skipped: &Skipped) -> Value {
    json!({ "place": skipped.place, "reason": skipped.reason })
}
