//! The files of a configuration: what is said about them when the program starts, and
//! to whom when they change.

use std::sync::Arc;

use skills_core::{Change, Origin, Registry};
use tokio::sync::watch;

use crate::config::LoadedConfig;
use skills_files::agents::Agents;
use skills_files::{Folder, FolderReport, LoadedFile, Sources};

/// The files that the configuration names; none where it names none.
pub fn folder(loaded: &LoadedConfig) -> Option<Folder> {
    let (skills, prompts) = (&loaded.config.skills, &loaded.config.prompts);
    let named = !skills.is_empty() || !prompts.is_empty();
    named.then(|| Folder::new(&loaded.base, skills, prompts))
}

/// Says once which files are served and which are not. What an engine hides shows
/// only when it is there, so that follows when `serving`.
pub async fn boot_report(
    folder: Option<Folder>,
    registry: Arc<Registry>,
    mut serving: watch::Receiver<bool>,
) {
    let Some(folder) = folder else {
        return;
    };
    let report = match folder.report().await {
        Ok(report) => report,
        Err(error) => return tracing::warn!("{}", error.to_text()),
    };
    say(&report);
    if serving.wait_for(|serving| *serving).await.is_ok() {
        say_shadowed(&report, &registry).await;
    }
}

/// Announces what changes in files and documents, for as long as it is polled. A file
/// that is hidden by a registered skill or prompt is not announced.
pub async fn follow(folder: Option<Folder>, agents: Option<Agents>, registry: Arc<Registry>) {
    let mut changes = Sources::from_parts(folder, agents).changes();
    loop {
        let changed = match changes.next().await {
            Ok(changed) => changed,
            Err(error) => {
                tracing::warn!("{}", error.to_text());
                continue;
            }
        };
        for change in changed {
            let hidden = match &change {
                Change::SkillRegistered(id) | Change::SkillUnregistered(id) => {
                    registry.is_skill_registered(id).await
                }
                Change::PromptRegistered(name) | Change::PromptUnregistered(name) => {
                    registry.is_prompt_registered(name).await
                }
            };
            // Without an engine only the files are known.
            if !hidden.unwrap_or(false) {
                registry.publish(&change);
            }
        }
    }
}

fn say(report: &FolderReport) {
    for (kind, files) in [("skill", &report.skills), ("prompt", &report.prompts)] {
        for file in files {
            let path = file.path.display();
            tracing::info!(name = file.name, %path, "{kind} file loaded");
            if let Some(warning) = &file.warning {
                tracing::warn!(%path, "{warning}");
            }
        }
    }
    for skipped in &report.skipped {
        tracing::warn!(path = skipped.place, reason = skipped.reason, "skipped");
    }
    tracing::info!(
        skills = report.skills.len(),
        prompts = report.prompts.len(),
        skipped = report.skipped.len(),
        "files"
    );
}

/// Files whose id or name a worker has registered are hidden.
async fn say_shadowed(report: &FolderReport, registry: &Registry) {
    let (skills, prompts) = (registry.skills().await, registry.prompts().await);
    let (Ok(skills), Ok(prompts)) = (skills, prompts) else {
        // Whoever asks next is told that the engine is gone.
        return;
    };
    let registered = |origin: Origin| origin == Origin::State;
    for file in &report.skills {
        let mut entries = skills.entries.iter();
        if entries.any(|skill| registered(skill.origin) && skill.id.as_str() == file.name) {
            shadowed(file, "a worker registered a skill with this id");
        }
    }
    for file in &report.prompts {
        let mut entries = prompts.entries.iter();
        if entries.any(|prompt| registered(prompt.origin) && prompt.name.as_str() == file.name) {
            shadowed(file, "a worker registered a prompt with this name");
        }
    }
}

fn shadowed(file: &LoadedFile, reason: &str) {
    let fix = "unregister that one or rename the file";
    tracing::warn!(name = file.name, path = %file.path.display(), "skipped: {reason}; {fix}");
}
