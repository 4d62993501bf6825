//! Who changed what and when, from the versions.

use std::sync::Arc;

use super::Registry;
use super::entry_versions::all_versions;
use crate::catalogue::Catalogue;
use crate::limits::MAX_LOG_ENTRIES;
use crate::row::Row;
use crate::timestamp::to_unix_ms;
use crate::{EntryName, Error, VersionHead};

/// Which changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// The skill or prompt; none for all.
    pub entry: Option<EntryName>,
    /// The time of the oldest change, RFC 3339 in UTC.
    pub since: Option<Arc<str>>,
    /// The most changes, newest first.
    pub limit: Option<usize>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What was changed.
    pub entry: EntryName,
    /// How, when and by whom.
    pub change: VersionHead,
}

/// The changes, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// As many as were asked for.
    pub entries: Vec<LogEntry>,
    /// How many there are.
    pub total: usize,
}

impl Registry {
    /// The changes of skills and prompts that their versions tell of, newest first. Their texts are
    /// read too, without being kept in memory.
    pub async fn log(&self, request: &LogRequest) -> Result<Log, Error> {
        let limit = request.limit.unwrap_or(MAX_LOG_ENTRIES);
        if limit == 0 || limit > MAX_LOG_ENTRIES {
            let problem = format!("must be 1 to {MAX_LOG_ENTRIES}, not {limit}");
            return Err(Error::invalid("limit", problem));
        }
        let since = match &request.since {
            None => 0,
            Some(text) => to_unix_ms(text).ok_or_else(|| {
                Error::invalid_hint(
                    format!("since {text:?}"),
                    "is not a time",
                    "write RFC 3339 in UTC, such as `2026-01-31T12:00:00Z`",
                )
            })?,
        };
        let mut entries = Vec::new();
        if let Some(entry) = &request.entry {
            entries = self.log_of(entry).await?;
        } else {
            let skill = |id: &str| id.parse().ok().map(EntryName::Skill);
            add_all(&self.skills, &mut entries, skill).await?;
            let prompt = |name: &str| name.parse().ok().map(EntryName::Prompt);
            add_all(&self.prompts, &mut entries, prompt).await?;
        }
        entries.retain(|entry| to_unix_ms(&entry.change.at).unwrap_or(u64::MAX) >= since);
        // Those of one entry alone are in the order of their numbers: a clock may be set back, and
        // other instances have other clocks.
        if request.entry.is_none() {
            let key = |entry: &LogEntry| (to_unix_ms(&entry.change.at), entry.change.version);
            entries.sort_by_key(|entry| std::cmp::Reverse(key(entry)));
        }
        let total = entries.len();
        entries.truncate(limit);
        Ok(Log { entries, total })
    }

    async fn log_of(&self, entry: &EntryName) -> Result<Vec<LogEntry>, Error> {
        let heads: Vec<VersionHead> = match entry {
            EntryName::Skill(id) => self.skill_history(id).await?,
            EntryName::Prompt(name) => {
                let versions = self.prompt_history(name).await?;
                versions.into_iter().map(|version| version.head).collect()
            }
        };
        let change = |change| LogEntry {
            entry: entry.clone(),
            change,
        };
        Ok(heads.into_iter().map(change).collect())
    }
}

/// Adds the versions of all entries.
async fn add_all<T: Row>(
    catalogue: &Catalogue<T>,
    entries: &mut Vec<LogEntry>,
    name: fn(&str) -> Option<EntryName>,
) -> Result<(), Error> {
    let all = all_versions(catalogue).await;
    for (id, versions) in all.map_err(Error::state(|| "read the versions"))? {
        let Some(entry) = name(&id) else { continue };
        let changes = versions.list.into_iter();
        entries.extend(changes.map(|version| LogEntry {
            entry: entry.clone(),
            change: version.head,
        }));
    }
    Ok(())
}
