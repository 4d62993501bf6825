//! A log of changes that every client's session reads at its own pace.
//!
//! Entries are numbered. A reader keeps a [`Cursor`] and takes everything after it at once, so that a
//! slow client gets one notification of each kind for a thousand changes. A reader whose cursor is
//! older than the log is told that everything changed.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skills_core::{Change, FilePath, ResourceUri, SKILL_MD, SkillId};
use tokio::sync::watch;

/// How many changes the log holds.
const MAX_ENTRIES: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Skill(SkillId),
    Prompts,
    Tools,
}

/// A position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(u64);

/// Everything that changed between two cursors.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a notification of its own"
)]
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangesSince {
    /// The list of tools changed.
    pub tools: bool,
    /// The list of prompts changed.
    pub prompts: bool,
    /// The list of resources changed.
    pub resources: bool,
    /// The skills whose content changed.
    skills: BTreeSet<SkillId>,
    /// The log is shorter than what changed: any resource may have.
    everything: bool,
}

impl ChangesSince {
    /// Whether the content of a resource changed. A skill owns every file below its id.
    pub fn includes(&self, uri: &str) -> bool {
        if self.everything {
            return true;
        }
        uri.parse().is_ok_and(|uri| self.includes_resource(&uri))
    }

    fn includes_resource(&self, uri: &ResourceUri) -> bool {
        match uri {
            ResourceUri::Index | ResourceUri::IndexPart(_) => !self.skills.is_empty(),
            ResourceUri::Skill(id) | ResourceUri::SkillFrom(_, id) => {
                // Markdown in the folder of a skill has an address like a skill.
                let file = FilePath::in_skill(id, SKILL_MD).ok();
                file.is_some_and(|path| self.owns(&path))
            }
            ResourceUri::File(path) => self.owns(path),
            ResourceUri::Part { of, .. } => self.includes_resource(of),
            // A version never changes.
            ResourceUri::Version(..) | ResourceUri::Section(_) => false,
        }
    }

    fn owns(&self, path: &FilePath) -> bool {
        path.splits().any(|(id, _)| self.skills.contains(&id))
    }
}

/// The log.
pub struct ChangeLog {
    // A std mutex: nothing awaits while it is held.
    entries: Mutex<Entries>,
    /// The number after the newest entry.
    end: watch::Sender<u64>,
}

#[derive(Default)]
struct Entries {
    /// The number of the oldest entry.
    first: u64,
    entries: VecDeque<Entry>,
}

impl Entries {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }
}

impl ChangeLog {
    /// An empty log.
    pub fn new() -> Self {
        Self {
            entries: Mutex::default(),
            end: watch::Sender::new(0),
        }
    }

    /// Appends a change of the registry.
    pub fn registry_changed(&self, change: &Change) {
        self.push(match change {
            Change::SkillRegistered(id) | Change::SkillUnregistered(id) => Entry::Skill(id.clone()),
            Change::PromptRegistered(_) | Change::PromptUnregistered(_) => Entry::Prompts,
        });
    }

    /// Appends a change of the tools on the engine.
    pub fn tools_changed(&self) {
        self.push(Entry::Tools);
    }

    fn push(&self, entry: Entry) {
        let mut log = self.lock();
        log.entries.push_back(entry);
        if log.entries.len() > MAX_ENTRIES {
            log.entries.pop_front();
            log.first += 1;
        }
        self.end.send_replace(log.end());
    }

    /// The current end of the log.
    pub fn end(&self) -> Cursor {
        Cursor(self.lock().end())
    }

    /// Waits for entries after `cursor`; returns them and the cursor after them.
    pub async fn after(&self, cursor: Cursor) -> (ChangesSince, Cursor) {
        let mut end = self.end.subscribe();
        // Fails only when the sender is dropped, and `self` holds it.
        let _ = end.wait_for(|end| *end > cursor.0).await;
        self.since(cursor)
    }

    fn since(&self, Cursor(from): Cursor) -> (ChangesSince, Cursor) {
        let log = self.lock();
        let mut changes = ChangesSince::default();
        if from < log.first {
            changes.everything = true;
            (changes.tools, changes.prompts, changes.resources) = (true, true, true);
        } else {
            // Never more than the log is long.
            let skip = usize::try_from(from - log.first).unwrap_or(usize::MAX);
            for entry in log.entries.iter().skip(skip) {
                match entry {
                    Entry::Tools => changes.tools = true,
                    Entry::Prompts => changes.prompts = true,
                    Entry::Skill(id) => {
                        changes.resources = true;
                        changes.skills.insert(id.clone());
                    }
                }
            }
        }
        (changes, Cursor(log.end()))
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: &str) -> Change {
        Change::SkillRegistered(id.parse().unwrap())
    }

    #[tokio::test]
    async fn many_changes_are_reported_as_one() {
        let log = ChangeLog::new();
        let start = log.end();
        log.registry_changed(&skill("a"));
        log.registry_changed(&skill("a"));
        log.registry_changed(&skill("b"));
        let (changes, end) = log.after(start).await;
        for uri in ["iii://a", "iii://b", "iii://skills", "skill://b/SKILL.md"] {
            assert!(changes.includes(uri), "{uri}");
        }
        assert!(changes.resources && !changes.prompts && !changes.tools && !changes.everything);
        for uri in ["iii://c", "skill://c/SKILL.md", "iii://fn/a", "other://a"] {
            assert!(!changes.includes(uri), "{uri}");
        }
        log.tools_changed();
        let (changes, _) = log.after(end).await;
        assert!(changes.tools && !changes.resources);
    }

    #[tokio::test]
    async fn a_reader_that_falls_behind_is_told_that_everything_changed() {
        let log = ChangeLog::new();
        let start = log.end();
        for _ in 0..=MAX_ENTRIES {
            log.tools_changed();
        }
        let (changes, end) = log.after(start).await;
        assert!(changes.everything && changes.prompts && changes.includes("iii://anything"));
        assert_eq!(end, log.end());
    }

    #[tokio::test]
    async fn a_waiting_reader_wakes_up() {
        let log = std::sync::Arc::new(ChangeLog::new());
        let (start, reader) = (log.end(), std::sync::Arc::clone(&log));
        let waiting = tokio::spawn(async move { reader.after(start).await.0 });
        log.registry_changed(&Change::PromptUnregistered("p".parse().unwrap()));
        assert!(waiting.await.unwrap().prompts);
    }
}
