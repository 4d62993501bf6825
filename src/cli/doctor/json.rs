//! What the doctor found, for programs.

use serde_json::{Value, json};
use skills_core::Skipped;

use super::{Counted, counted, engine, findings, place, store};
use crate::app::{Checkup, Shadowed, StoreHealth};
use crate::config::LoadedConfig;
use skills_files::agents;

/// All of it.
pub fn data(loaded: &LoadedConfig, checkup: &Checkup) -> Value {
    let report = &checkup.report;
    let (engine, engine_says) = engine(checkup);
    let (store, store_says) = store(checkup);
    let checked = match &checkup.store {
        StoreHealth::Well(checked) => Some(checked),
        _ => None,
    };
    let findings = findings(loaded, checkup);
    let [skills, prompts, agents] = counted(loaded, checkup);
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
            "skills": skills.iter().map(pattern).collect::<Value>(),
            "prompts": prompts.iter().map(pattern).collect::<Value>(),
            "agents": agents.iter().map(pattern).collect::<Value>(),
        },
        "skills": files(&report.skills, "id"),
        "prompts": files(&report.prompts, "name"),
        "agents": checkup.agents.iter().map(agent).collect::<Value>(),
        "shadowed": checkup.shadowed.iter().map(shadowed).collect::<Value>(),
        "skipped": report.skipped.iter().map(skipped).collect::<Value>(),
        "damaged": checkup.damaged.iter().map(skipped).collect::<Value>(),
    })
}

fn pattern(counted: &Counted<'_>) -> Value {
    json!({
        "pattern": counted.pattern,
        "files": counted.files,
        "served": counted.served,
        "earlier": counted.earlier,
    })
}

fn files(files: &[skills_files::LoadedFile], key: &str) -> Value {
    let entry = |file: &skills_files::LoadedFile| {
        json!({
            key: file.name,
            "path": file.path.display().to_string(),
            "pattern": &*file.pattern,
            "warning": file.warning,
        })
    };
    files.iter().map(entry).collect()
}

fn agent(agent: &agents::LoadedAgent) -> Value {
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
