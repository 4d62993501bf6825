//! Follows the files of all sources and reports what is served differently.

use skills_core::{Change, Error};

use crate::snapshot::Snapshot;
use crate::sources::Sources;
use crate::watch::Watcher;

/// Reports changes of the files, each with one walk.
#[derive(Debug)]
pub struct SourceChanges {
    sources: Sources,
    watcher: Watcher,
    started: bool,
    /// What was served when the last changes were reported.
    known: Option<Snapshot>,
    newly_skipped: Vec<(String, String)>,
}

impl SourceChanges {
    /// Changes since the first call of [`Self::next`].
    pub(crate) fn new(sources: Sources) -> Self {
        Self {
            sources,
            watcher: Watcher::new(),
            started: false,
            known: None,
            newly_skipped: Vec::new(),
        }
    }

    /// What was served at the last walk.
    pub fn known(&self) -> Option<&Snapshot> {
        self.known.as_ref()
    }

    /// The files that the last walk found to be not served, other than the walk before: each with
    /// its path and the reason. Empty after the first walk.
    pub fn newly_skipped(&self) -> &[(String, String)] {
        &self.newly_skipped
    }

    /// Waits until files may have changed, walks once, and returns what is served
    /// differently; often nothing. The first call returns at once: what is served then
    /// is the state that later calls compare with. Without patterns it never returns.
    /// A walk that fails changes nothing: the next one compares with the last good one.
    ///
    /// Not cancel safe: a change is lost until the next one if this is dropped while it
    /// walks.
    pub async fn next(&mut self) -> Result<Vec<Change>, Error> {
        if self.sources.is_empty() {
            return std::future::pending().await;
        }
        if std::mem::replace(&mut self.started, true) {
            let folders = self.known.as_ref().map(|known| &*known.folders);
            self.watcher.changed(folders.unwrap_or_default()).await;
        }
        let now = self.sources.snapshot().await;
        self.watcher.scan_failed = now.is_err();
        let now = now?;
        let changes = self.known.as_ref().map(|known| now.changes_since(known));
        let skipped = self.known.as_ref().map(|known| now.newly_skipped(known));
        self.newly_skipped = skipped.unwrap_or_default();
        self.known = Some(now);
        Ok(changes.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
    async fn without_patterns_there_is_nothing_to_follow() {
        let sources = Sources::new(std::path::Path::new(""), &[], &[], &[]);
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
