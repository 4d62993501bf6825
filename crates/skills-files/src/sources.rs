//! The file sources of one configuration: built once per process and shared by the
//! registry, the start-up report, the watcher and the doctor.

use std::path::Path;
use std::sync::Arc;

use skills_core::{Change, Error, Source};

use crate::agents::{Agents, AgentsReport};
use crate::markdown::{Folder, FolderReport};
use crate::snapshot::Snapshot;
use crate::watch::Watcher;

/// Markdown files and `.3md` documents. A clone shares the caches.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    folder: Option<Folder>,
    agents: Option<Agents>,
}

/// What is served from where, and what is not. A part without patterns is `None`.
#[derive(Clone, Debug, Default)]
pub struct SourcesReport {
    /// Markdown files.
    pub folder: Option<FolderReport>,
    /// `.3md` documents.
    pub agents: Option<AgentsReport>,
}

impl Sources {
    /// The files that the patterns match; relative patterns start at `base`.
    pub fn new(base: &Path, skills: &[String], prompts: &[String], agents: &[String]) -> Self {
        let has_folder = !skills.is_empty() || !prompts.is_empty();
        Self {
            folder: has_folder.then(|| Folder::new(base, skills, prompts)),
            agents: (!agents.is_empty()).then(|| Agents::new(base, agents)),
        }
    }

    /// Combines sources that were built before.
    pub fn from_parts(folder: Option<Folder>, agents: Option<Agents>) -> Self {
        Self { folder, agents }
    }

    /// The sources for a registry, in order of precedence: markdown hides documents.
    pub fn for_registry(&self) -> Vec<Arc<dyn Source>> {
        let folder = self
            .folder
            .clone()
            .map(|it| Arc::new(it) as Arc<dyn Source>);
        let agents = self
            .agents
            .clone()
            .map(|it| Arc::new(it) as Arc<dyn Source>);
        folder.into_iter().chain(agents).collect()
    }

    /// What is served from where, and what is not.
    pub async fn report(&self) -> Result<SourcesReport, Error> {
        let mut report = SourcesReport::default();
        if let Some(folder) = &self.folder {
            report.folder = Some(folder.report().await?);
        }
        if let Some(agents) = &self.agents {
            report.agents = Some(agents.report().await?);
        }
        Ok(report)
    }

    /// What is served now.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::default();
        if let Some(folder) = &self.folder {
            snapshot = folder.snapshot().await?;
        }
        if let Some(agents) = &self.agents {
            snapshot.merge(agents.snapshot().await?);
        }
        Ok(snapshot)
    }

    /// Follows the files from now on.
    pub fn changes(&self) -> SourceChanges {
        SourceChanges {
            sources: self.clone(),
            watcher: Watcher::new(),
            started: false,
            known: None,
        }
    }
}

/// Reports changes of the files, each with one walk.
#[derive(Debug)]
pub struct SourceChanges {
    sources: Sources,
    watcher: Watcher,
    started: bool,
    /// What was served when the last changes were reported.
    known: Option<Snapshot>,
}

impl SourceChanges {
    /// Waits until files may have changed, walks once, and returns what is served
    /// differently; often nothing. The first call returns at once: what is served then
    /// is the state that later calls compare with. Without patterns it never returns.
    ///
    /// Not cancel safe: a change is lost until the next one if this is dropped while it
    /// walks.
    pub async fn next(&mut self) -> Result<Vec<Change>, Error> {
        if self.sources.folder.is_none() && self.sources.agents.is_none() {
            return std::future::pending().await;
        }
        if std::mem::replace(&mut self.started, true) {
            let folders = self.known.as_ref().map(Snapshot::folders);
            self.watcher.changed(folders.unwrap_or_default()).await;
        }
        let now = self.sources.snapshot().await?;
        let changes = self.known.as_ref().map(|known| now.changes_since(known));
        self.known = Some(now);
        Ok(changes.unwrap_or_default())
    }
}
