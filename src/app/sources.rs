//! The file sources while the program runs: the report at start-up, and the changes.

use std::sync::atomic::{AtomicUsize, Ordering};

use skills_core::{Change, Registry};
use skills_files::agents::AgentsReport;
use skills_files::{FolderReport, LoadedFile, Snapshot, SourceChanges, Sources, SourcesReport};
use tokio::sync::watch;
use tracing::Level;

/// More files than this have a line each only with `RUST_LOG=debug`.
const MAX_FILE_LINES: usize = 50;

/// Logs once which files are served and which are not; what is well at `level`. Which of them
/// registered skills and prompts hide is known only when the registry is `serving`.
pub async fn report(
    sources: &Sources,
    registry: &Registry,
    mut serving: watch::Receiver<bool>,
    level: Level,
) {
    let report = match sources.report().await {
        Ok(report) => report,
        Err(error) => return tracing::warn!("{}", error.to_text()),
    };
    if is_empty(&report) {
        tracing::warn!(
            "the folders have no skills; `skills new NAME --in FOLDER` creates a skill folder"
        );
    }
    let has_documents =
        |agents: &&AgentsReport| !agents.documents.is_empty() || !agents.skipped.is_empty();
    if let Some(agents) = report.agents.as_ref().filter(has_documents) {
        log_agents(agents, level);
    }
    if let Some(folder) = &report.folder {
        log_folder(folder, level);
        if serving.wait_for(|serving| *serving).await.is_ok() {
            log_hidden(folder, registry).await;
        }
    }
}

/// Whether folders were searched in vain. A pattern that matches nothing has a report.
fn is_empty(report: &SourcesReport) -> bool {
    let folder = report.folder.as_ref();
    let agents = report.agents.as_ref();
    folder.is_some_and(|found| {
        found.skills.is_empty() && found.prompts.is_empty() && found.skipped.is_empty()
    }) && agents.is_none_or(|found| found.documents.is_empty() && found.skipped.is_empty())
}

/// How many skills and prompts the files hold, as of the last walk.
#[derive(Debug, Default)]
pub struct FileCounts {
    /// Skills that no registered skill hides.
    pub skills: AtomicUsize,
    /// Prompts that no registered prompt hides.
    pub prompts: AtomicUsize,
    /// Files that are not served as skills: hidden, or not fit.
    pub skipped: AtomicUsize,
    /// Whether the first walk has ended: every later edit is published.
    pub walked: watch::Sender<bool>,
}

/// Publishes the changes of files and counts their skills, for as long as it is polled.
pub async fn publish_changes(mut changes: SourceChanges, registry: &Registry, counts: &FileCounts) {
    let mut problem = None;
    loop {
        match changes.next().await {
            Ok(batch) => {
                for change in &batch {
                    log_change(change);
                    publish_unless_registered(registry, change).await;
                }
                for (path, reason) in changes.newly_skipped() {
                    tracing::warn!(path, reason, "file not served");
                }
                if problem.take().is_some() {
                    tracing::info!("the files can be read again");
                }
            }
            Err(error) => {
                // The walk is repeated until it succeeds; one line is enough.
                let error = Some(error.to_text());
                if problem != error {
                    tracing::warn!("{}", error.as_deref().unwrap_or_default());
                    problem = error;
                }
            }
        }
        if let Some(known) = changes.known() {
            counts.update(known, registry).await;
        }
        counts.walked.send_replace(true);
    }
}

fn log_change(change: &Change) {
    match change {
        Change::SkillRegistered(id) => tracing::info!(%id, "skill file added or changed"),
        Change::SkillUnregistered(id) => tracing::info!(%id, "skill file no longer served"),
        Change::PromptRegistered(name) => tracing::info!(%name, "prompt file added or changed"),
        Change::PromptUnregistered(name) => tracing::info!(%name, "prompt file no longer served"),
    }
}

impl FileCounts {
    async fn update(&self, known: &Snapshot, registry: &Registry) {
        let (mut skills, mut hidden) = (0, 0);
        for id in known.skills() {
            match registry.is_skill_registered(id).await {
                Ok(true) => hidden += 1,
                Ok(false) => skills += 1,
                // The counts are shown only when state can be read.
                Err(_) => return,
            }
        }
        let mut prompts = 0;
        for name in known.prompts() {
            match registry.is_prompt_registered(name).await {
                Ok(registered) => prompts += usize::from(!registered),
                Err(_) => return,
            }
        }
        self.prompts.store(prompts, Ordering::Relaxed);
        self.skills.store(skills, Ordering::Relaxed);
        self.skipped
            .store(known.skipped() + hidden, Ordering::Relaxed);
    }
}

/// Publishes the change of a document, unless a registered skill or prompt hides it: then
/// nothing changes for readers. If state cannot be read, the document counts.
pub async fn publish_unless_registered(registry: &Registry, change: &Change) {
    if let Change::SkillRegistered(id) = change
        && let Err(error) = registry.report_hidden_bundled(id).await
    {
        tracing::warn!("{}", error.to_text());
    }
    let registered = match change {
        Change::SkillRegistered(id) | Change::SkillUnregistered(id) => {
            registry.is_skill_registered(id).await
        }
        Change::PromptRegistered(name) | Change::PromptUnregistered(name) => {
            registry.is_prompt_registered(name).await
        }
    };
    if !registered.unwrap_or(false) {
        return registry.publish(change);
    }
    if let Change::SkillRegistered(id) = change
        && let Err(error) = registry.report_hidden_document(id).await
    {
        tracing::warn!("{}", error.to_text());
    }
}

/// Logs at a level that is known only now, which the macros of `tracing` do not take.
macro_rules! log_at {
    ($level:expr, $($line:tt)+) => {
        if $level == Level::INFO {
            tracing::info!($($line)+);
        } else {
            tracing::debug!($($line)+);
        }
    };
}

/// The level of the line of each file.
fn file_level(files: usize, level: Level) -> Level {
    if files > MAX_FILE_LINES {
        Level::DEBUG
    } else {
        level
    }
}

fn log_folder(report: &FolderReport, level: Level) {
    let file_level = file_level(report.skills.len() + report.prompts.len(), level);
    for (kind, files) in [("skill", &report.skills), ("prompt", &report.prompts)] {
        for file in files {
            let path = file.path.display();
            log_at!(file_level, name = file.name, %path, "{kind} file loaded");
            for warning in &file.warnings {
                tracing::warn!(%path, "{warning}");
            }
        }
    }
    for skipped in &report.skipped {
        tracing::warn!(path = skipped.place, reason = skipped.reason, "skipped");
    }
    log_at!(
        level,
        skills = report.skills.len(),
        prompts = report.prompts.len(),
        skipped = report.skipped.len(),
        "files"
    );
}

fn log_agents(report: &AgentsReport, level: Level) {
    let file_level = file_level(report.documents.len(), level);
    for document in &report.documents {
        let path = document.path.display();
        log_at!(file_level, agent = document.agent, skills = document.ids.len(), %path, "agent loaded");
        for warning in &document.warnings {
            tracing::warn!(%path, "{warning}");
        }
    }
    for skipped in &report.skipped {
        tracing::warn!(path = skipped.place, reason = skipped.reason, "skipped");
    }
    log_at!(
        level,
        agents = report.documents.len(),
        skipped = report.skipped.len(),
        "agents"
    );
}

async fn log_hidden(report: &FolderReport, registry: &Registry) {
    let log = |file: &LoadedFile, reason| {
        let fix = "unregister that one or rename the file";
        tracing::warn!(name = file.name, path = %file.path.display(), "skipped: {reason}; {fix}");
    };
    for file in &report.skills {
        let Ok(id) = file.name.parse() else { continue };
        if registry.is_skill_registered(&id).await.unwrap_or(false) {
            log(file, "a worker registered a skill with this id");
        }
    }
    for file in &report.prompts {
        let Ok(name) = file.name.parse() else {
            continue;
        };
        if registry.is_prompt_registered(&name).await.unwrap_or(false) {
            log(file, "a worker registered a prompt with this name");
        }
    }
}
