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

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.folder.is_none() && self.agents.is_none()
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

    /// How often a pattern was walked, for tests.
    pub fn walks(&self) -> usize {
        let folder = self.folder.as_ref().map_or(0, Folder::walks);
        folder + self.agents.as_ref().map_or(0, Agents::walks)
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
    /// What was served at the last walk.
    pub fn known(&self) -> Option<&Snapshot> {
        self.known.as_ref()
    }

    /// Waits until files may have changed, walks once, and returns what is served
    /// differently; often nothing. The first call returns at once: what is served then
    /// is the state that later calls compare with. Without patterns it never returns.
    ///
    /// Not cancel safe: a change is lost until the next one if this is dropped while it
    /// walks.
    pub async fn next(&mut self) -> Result<Vec<Change>, Error> {
        if self.sources.is_empty() {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const AGENT: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";

    #[tokio::test]
    async fn a_file_event_costs_one_walk_of_each_pattern() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("a.md", "# A");
        let patterns = |text: &str| vec![text.to_owned()];
        let sources = Sources::new(dir.path(), &patterns("*.md"), &[], &[]);
        let mut changes = sources.changes();
        assert_eq!(changes.next().await.unwrap(), []);
        // The folder was not watched during the first walk.
        assert_eq!(changes.next().await.unwrap(), []);
        for text in ["# B", "# C", "# D"] {
            let before = sources.walks();
            write("a.md", text);
            let id = "a".parse().unwrap();
            assert_eq!(changes.next().await.unwrap(), [Change::SkillRegistered(id)]);
            assert_eq!(sources.walks() - before, 1, "after {text}");
        }
    }

    #[tokio::test]
    async fn markdown_hides_documents_in_listings_and_changes() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("dev.md", "# Dev");
        write("dev.3md", AGENT);
        let patterns = |text: &str| vec![text.to_owned()];
        let sources = Sources::new(dir.path(), &patterns("*.md"), &[], &patterns("*.3md"));
        assert_eq!(sources.for_registry().len(), 2);
        let report = sources.report().await.unwrap();
        assert_eq!(report.folder.unwrap().skills.len(), 1);
        assert_eq!(report.agents.unwrap().documents.len(), 1);
        let first = sources.snapshot().await.unwrap();
        write("dev.3md", &AGENT.replace("I am", "We are"));
        let second = sources.snapshot().await.unwrap();
        assert_eq!(second.changes_since(&first), []);
        fs::remove_file(dir.path().join("dev.md")).unwrap();
        let third = sources.snapshot().await.unwrap();
        let id = "dev".parse().unwrap();
        assert_eq!(third.changes_since(&second), [Change::SkillRegistered(id)]);
    }

    #[tokio::test]
    async fn without_patterns_there_is_nothing_to_follow() {
        let sources = Sources::new(Path::new(""), &[], &[], &[]);
        assert!(sources.for_registry().is_empty());
        let mut changes = sources.changes();
        tokio::select! {
            biased;
            _ = changes.next() => panic!("it returned"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(sources.walks(), 0);
    }
}
