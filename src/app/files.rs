//! The files of a configuration: what is said about them when the program starts, and
//! to whom when they change.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use skills_core::{Change, Error, Origin, Pending, Registry};
use tokio::sync::watch;

use crate::config::LoadedConfig;
use skills_files::agents::Agents;
use skills_files::{Bell, Changed, Folder, Report, Snapshot};

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

/// Announces what changes in files and documents, for as long as it is polled.
pub async fn follow(folder: Option<Folder>, agents: Option<Agents>, registry: Arc<Registry>) {
    let files = async {
        if let Some(folder) = folder {
            let look = || -> Looking<'_> { Box::pin(folder.snapshot()) };
            follow_each(&registry, look).await;
        }
    };
    let documents = async {
        if let Some(agents) = agents {
            let look = || -> Looking<'_> { Box::pin(agents.snapshot()) };
            follow_each(&registry, look).await;
        }
    };
    tokio::join!(files, documents);
}

type Looking<'a> = Pending<'a, Result<Snapshot, Error>>;

async fn follow_each<'a>(registry: &Registry, look: impl Fn() -> Looking<'a>) {
    let mut bell = Bell::new();
    let mut before: Option<Snapshot> = None;
    loop {
        match look().await {
            Ok(now) => {
                // What was there at the start is no news.
                let changed = before.as_ref().map(|before| now.since(before));
                announce(registry, &changed.unwrap_or_default(), &now).await;
                before = Some(now);
            }
            Err(error) => tracing::warn!("{}", error.to_text()),
        }
        let folders = before.as_ref().map(|now| &*now.folders);
        bell.rung(folders.unwrap_or_default()).await;
    }
}

/// Tells of each id and name once. What the registry has of it now decides what is
/// told; a file that state hides is no news to anybody.
async fn announce(registry: &Registry, changed: &Changed, now: &Snapshot) {
    if !changed.skills.is_empty() {
        let listed = registry.skills().await.ok().map(|skills| {
            let origins = skills.entries.into_iter().map(|s| (s.id, s.origin));
            origins.collect::<HashMap<_, _>>()
        });
        for id in &changed.skills {
            match served(listed.as_ref(), id, now.has_skill(id)) {
                Some(Origin::State) => {}
                Some(_) => registry.publish(&Change::SkillRegistered(id.clone())),
                None => registry.publish(&Change::SkillUnregistered(id.clone())),
            }
        }
    }
    if !changed.prompts.is_empty() {
        let listed = registry.prompts().await.ok().map(|prompts| {
            let origins = prompts.entries.into_iter().map(|p| (p.name, p.origin));
            origins.collect::<HashMap<_, _>>()
        });
        for name in &changed.prompts {
            match served(listed.as_ref(), name, now.has_prompt(name)) {
                Some(Origin::State) => {}
                Some(_) => registry.publish(&Change::PromptRegistered(name.clone())),
                None => registry.publish(&Change::PromptUnregistered(name.clone())),
            }
        }
    }
}

/// Where a name is served from. Without an engine the files alone tell.
fn served<N: Eq + Hash>(
    listed: Option<&HashMap<N, Origin>>,
    name: &N,
    in_files: bool,
) -> Option<Origin> {
    match listed {
        Some(listed) => listed.get(name).copied(),
        None => in_files.then_some(Origin::Fs),
    }
}

fn say(report: &Report) {
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
async fn say_shadowed(report: &Report, registry: &Registry) {
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

fn shadowed(file: &skills_files::Loaded, reason: &str) {
    let fix = "unregister that one or rename the file";
    tracing::warn!(name = file.name, path = %file.path.display(), "skipped: {reason}; {fix}");
}
