//! Giving back the space of versions that are not needed any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Registry;
use crate::catalogue::Catalogue;
use crate::history::VersionPlace;
use crate::row::Row;
use crate::{EntryName, Error};

/// What was given back, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryGarbage {
    /// The entries that are not registered and lost their texts, and how many of them.
    pub entries: Vec<(EntryName, usize)>,
    /// All versions, also those of registered entries beyond `history.versions`.
    pub versions: usize,
    /// The length of their texts.
    pub bytes: u64,
    /// By how many bytes the file of the store is smaller, if it is in this process.
    pub freed: Option<u64>,
}

/// The stored versions of one entry.
#[derive(Default)]
pub(crate) struct StoredHistory {
    pub newest: u64,
    /// The version, the key of its row, and the length of its text; none if it has no text.
    pub versions: Vec<(VersionPlace, Arc<str>, Option<u64>)>,
}

impl Registry {
    /// Removes the texts of entries that are not registered, and versions beyond the number that
    /// is kept. The number of the last version stays, so that numbers go on. With `dry_run` nothing
    /// is removed.
    pub async fn collect_history(&self, dry_run: bool) -> Result<HistoryGarbage, Error> {
        let mut garbage = HistoryGarbage::default();
        let skill = |id: &str| id.parse().ok().map(EntryName::Skill);
        collect(&self.skills, dry_run, &mut garbage, skill).await?;
        let prompt = |name: &str| name.parse().ok().map(EntryName::Prompt);
        collect(&self.prompts, dry_run, &mut garbage, prompt).await?;
        if !dry_run {
            let compacted = self.engine.compact().await;
            garbage.freed =
                compacted.map_err(Error::state(|| "make the file of the store smaller"))?;
        }
        Ok(garbage)
    }
}

async fn collect<T: Row>(
    catalogue: &Catalogue<T>,
    dry_run: bool,
    garbage: &mut HistoryGarbage,
    name: fn(&str) -> Option<EntryName>,
) -> Result<(), Error> {
    let Some(store) = catalogue.versions() else {
        return Ok(());
    };
    let failed = || Error::state(|| "give back versions");
    let mut histories: BTreeMap<Arc<str>, StoredHistory> = BTreeMap::new();
    let visited = store.for_each(|stored| {
        let history = histories.entry(Arc::clone(&stored.id)).or_default();
        history.newest = history.newest.max(stored.version);
        let bytes = stored.bytes.and_then(|bytes| u64::try_from(bytes).ok());
        let bytes = bytes.filter(|_| stored.row.is_some());
        let key = stored.key().into();
        history.versions.push((stored.version_place(), key, bytes));
    });
    visited.await.map_err(failed())?;
    for (id, history) in histories {
        let removed = catalogue.collect_versions(&id, &history, dry_run).await;
        let removed = removed.map_err(failed())?;
        garbage.versions += removed.versions;
        garbage.bytes += removed.bytes;
        if removed.versions > 0
            && !removed.is_registered
            && let Some(entry) = name(&id)
        {
            garbage.entries.push((entry, removed.versions));
        }
    }
    Ok(())
}
