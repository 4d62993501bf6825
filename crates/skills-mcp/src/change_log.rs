//! What changed, for every conversation to tell its client.
//!
//! A log with numbered entries: whoever listens remembers where it stopped reading and
//! takes everything since then at once, so that a thousand changes become one notice of
//! each sort for a client that is slow. Who falls behind the log is told that all changed.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skills_core::{Change, ResourceUri};
use tokio::sync::watch;

/// How many changes are remembered.
const MEMORY: usize = 4096;

/// One thing a client can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Notice {
    Skill(ResourceUri),
    Prompts,
    Tools,
}

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(u64);

/// Everything that changed between two places.
#[expect(clippy::struct_excessive_bools, reason = "each is a notice of its own")]
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangesSince {
    /// The list of tools.
    pub tools: bool,
    /// The list of prompts.
    pub prompts: bool,
    /// The list of resources.
    pub resources: bool,
    /// The resources that have another content.
    pub uris: BTreeSet<String>,
    /// More changed than is remembered: any resource may have.
    pub lost: bool,
}

impl ChangesSince {
    /// Whether a resource has another content.
    pub fn concerns(&self, uri: &str) -> bool {
        self.lost || self.uris.contains(uri)
    }
}

/// The log.
pub struct ChangeLog {
    // A std mutex: nothing awaits while it is held.
    log: Mutex<Log>,
    end: watch::Sender<u64>,
}

#[derive(Default)]
struct Log {
    /// The number of the oldest entry.
    first: u64,
    notices: VecDeque<Notice>,
}

impl Log {
    fn end(&self) -> u64 {
        self.first + self.notices.len() as u64
    }
}

impl ChangeLog {
    /// An empty log.
    pub fn new() -> Self {
        Self {
            log: Mutex::default(),
            end: watch::Sender::new(0),
        }
    }

    /// The registry changed.
    pub fn registry(&self, change: &Change) {
        self.note(match change {
            Change::SkillRegistered(id) | Change::SkillUnregistered(id) => {
                Notice::Skill(ResourceUri::Skill(id.clone()))
            }
            Change::PromptRegistered(_) | Change::PromptUnregistered(_) => Notice::Prompts,
        });
    }

    /// Functions on the engine came or went.
    pub fn tools(&self) {
        self.note(Notice::Tools);
    }

    fn note(&self, notice: Notice) {
        let mut log = self.lock();
        log.notices.push_back(notice);
        if log.notices.len() > MEMORY {
            log.notices.pop_front();
            log.first += 1;
        }
        self.end.send_replace(log.end());
    }

    /// The end of the log as it is now.
    pub fn here(&self) -> Cursor {
        Cursor(self.lock().end())
    }

    /// Waits until there is something after `place`; answers it and where it ends.
    pub async fn after(&self, place: Cursor) -> (ChangesSince, Cursor) {
        let mut end = self.end.subscribe();
        // Fails only when the log is gone, and we hold it.
        let _ = end.wait_for(|end| *end > place.0).await;
        self.since(place)
    }

    fn since(&self, Cursor(from): Cursor) -> (ChangesSince, Cursor) {
        let log = self.lock();
        let mut heard = ChangesSince::default();
        if from < log.first {
            heard.lost = true;
            (heard.tools, heard.prompts, heard.resources) = (true, true, true);
        } else {
            // Never more than the log is long.
            let skip = usize::try_from(from - log.first).unwrap_or(usize::MAX);
            for notice in log.notices.iter().skip(skip) {
                match notice {
                    Notice::Tools => heard.tools = true,
                    Notice::Prompts => heard.prompts = true,
                    Notice::Skill(uri) => {
                        heard.resources = true;
                        heard.uris.insert(uri.to_string());
                        heard.uris.insert(ResourceUri::Index.to_string());
                    }
                }
            }
        }
        (heard, Cursor(log.end()))
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: &str) -> Change {
        Change::SkillRegistered(id.parse().unwrap())
    }

    #[tokio::test]
    async fn many_changes_are_heard_as_one() {
        let changes = ChangeLog::new();
        let start = changes.here();
        changes.registry(&skill("a"));
        changes.registry(&skill("a"));
        changes.registry(&skill("b"));
        let (heard, end) = changes.after(start).await;
        let uris: Vec<_> = heard.uris.iter().map(String::as_str).collect();
        assert_eq!(uris, ["iii://a", "iii://b", "iii://skills"]);
        assert!(heard.resources && !heard.prompts && !heard.tools && !heard.lost);
        assert!(!heard.concerns("iii://c"));
        changes.tools();
        let (heard, _) = changes.after(end).await;
        assert!(heard.tools && !heard.resources);
    }

    #[tokio::test]
    async fn who_falls_behind_hears_that_all_changed() {
        let changes = ChangeLog::new();
        let start = changes.here();
        for _ in 0..=MEMORY {
            changes.tools();
        }
        let (heard, end) = changes.after(start).await;
        assert!(heard.lost && heard.prompts && heard.concerns("iii://anything"));
        assert_eq!(end, changes.here());
    }

    #[tokio::test]
    async fn a_listener_wakes_up() {
        let changes = std::sync::Arc::new(ChangeLog::new());
        let (start, log) = (changes.here(), std::sync::Arc::clone(&changes));
        let waiting = tokio::spawn(async move { log.after(start).await.0 });
        changes.registry(&Change::PromptUnregistered("p".parse().unwrap()));
        assert!(waiting.await.unwrap().prompts);
    }
}
