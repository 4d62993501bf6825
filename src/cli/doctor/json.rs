//! The diagnosis for programs.

use serde_json::{Value, json};
use skills_core::Skipped;
use skills_files::LoadedFile;

use super::{Diagnosis, lint, rejections};
use crate::app::StoreHealth;
use crate::cli::lint::finding;

pub fn data(diagnosis: &Diagnosis<'_>, findings: usize) -> Value {
    let (checkup, store) = (diagnosis.checkup, &diagnosis.store);
    let report = &checkup.report;
    let checked = match &checkup.store {
        StoreHealth::Healthy(checked) => Some(checked),
        _ => None,
    };
    let agents = checkup.agents.iter().map(|agent| {
        json!({
            "agent": agent.agent,
            "ids": agent.ids,
            "path": agent.path.display().to_string(),
            "pattern": &*agent.pattern,
            "warnings": agent.warnings,
        })
    });
    let shadowed = checkup.shadowed.iter().map(|shadowed| {
        json!({
            "kind": shadowed.kind,
            "name": shadowed.file.name,
            "path": shadowed.file.path.display().to_string(),
            "by": shadowed.by.as_str(),
            "registered_at": shadowed.registered_at,
        })
    });
    let unlisted = diagnosis.unlisted.iter().map(|unlisted| {
        json!({ "id": unlisted.id.as_str(), "reason": unlisted.reason, "fault": unlisted.is_fault })
    });
    json!({
        "healthy": findings == 0,
        "findings": findings,
        "engine": {
            "url": checkup.url,
            "state": diagnosis.engine.state,
            "message": diagnosis.engine.message,
        },
        "store": {
            "path": diagnosis.store_path.map(|path| path.display().to_string()),
            "state": store.state,
            "message": store.message,
            "schema_version": checked.map(|checked| checked.version),
            "rows": checked.map(|checked| checked.rows),
        },
        "warnings": diagnosis.config.warnings,
        "patterns": {
            "skills": diagnosis.skill_patterns,
            "prompts": diagnosis.prompt_patterns,
            "agents": diagnosis.agent_patterns,
        },
        "skills": files(&report.skills, "id"),
        "prompts": files(&report.prompts, "name"),
        "agents": agents.collect::<Value>(),
        "shadowed": shadowed.collect::<Value>(),
        "skipped": skipped(&report.skipped),
        "registered_warnings": skipped(&checkup.registered_warnings),
        "unpublished": skipped(&checkup.unpublished),
        "damaged": skipped(&checkup.damaged),
        "lint": lint(diagnosis).map(finding).collect::<Value>(),
        "unlisted": unlisted.collect::<Value>(),
    })
}

fn files(files: &[LoadedFile], key: &str) -> Value {
    let entry = |file: &LoadedFile| {
        json!({
            key: file.name,
            "path": file.path.display().to_string(),
            "pattern": &*file.pattern,
            "warning": (!file.warnings.is_empty()).then(|| file.warnings.join("; ")),
            "files": file.folder.as_ref().map(|folder| folder.files.len()),
            "rejections": rejections(file).collect::<Vec<_>>(),
        })
    };
    files.iter().map(entry).collect()
}

fn skipped(skipped: &[Skipped]) -> Value {
    let entry = |skipped: &Skipped| json!({ "place": skipped.place, "reason": skipped.reason });
    skipped.iter().map(entry).collect()
}
