//! Removing versions that are not needed any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Catalogue;
use crate::Failure;
use crate::history::{Kept, Tombstone};
use crate::registry::StoredHistory;
use crate::row::Row;

/// What was removed of one entry.
#[derive(Default)]
pub(crate) struct Collected {
    pub versions: usize,
    pub bytes: u64,
    pub is_registered: bool,
}

impl<T: Row> Catalogue<T> {
    /// Removes the versions of an entry that are not needed: all texts if it is not registered,
    /// otherwise those beyond the texts that are kept.
    pub(crate) async fn collect_versions(
        &self,
        id: &Arc<str>,
        history: &StoredHistory,
        dry_run: bool,
    ) -> Result<Collected, Failure> {
        let Some(store) = self.versions() else {
            return Ok(Collected::default());
        };
        // No write of this process may come in between.
        let _lock = self.key_locks.lock(id).await;
        let is_registered = self.read_key(id).await?.is_some();
        let keep = if is_registered { store.keep() } else { 0 };
        let places: Vec<_> = history.versions.iter().map(|(one, ..)| *one).collect();
        let kept = Kept::new(&places, keep);
        let first_row = Tombstone::key(id);
        let mut rows: BTreeMap<&Arc<str>, Vec<u64>> = BTreeMap::new();
        let mut collected = Collected {
            is_registered,
            ..Collected::default()
        };
        for (one, key, bytes) in &history.versions {
            if kept.has(*one) {
                continue;
            }
            // Without a text it takes next to nothing, and the first row must not be empty.
            if bytes.is_none() && **key == *first_row {
                continue;
            }
            rows.entry(key).or_default().push(one.version);
            // What only moves is not given back.
            if bytes.is_some() || one.version < history.newest {
                collected.versions += 1;
                collected.bytes += bytes.unwrap_or(0);
            }
        }
        if dry_run || rows.is_empty() {
            return Ok(collected);
        }
        // The newest one always stays, unless none does.
        let is_marked = keep == 0;
        if is_marked && !store.mark_last(id, history.newest).await? {
            // Another instance has just registered it: the next collection finds out.
            return Ok(Collected::default());
        }
        for (key, versions) in rows {
            if **key != *first_row {
                store.remove_versions(key, &versions).await?;
            } else if is_marked {
                let older: Vec<_> = versions
                    .into_iter()
                    .filter(|n| *n < history.newest)
                    .collect();
                store.remove_versions(key, &older).await?;
            } else {
                store.remove_texts(key, &versions).await?;
            }
        }
        store.forget(id);
        Ok(collected)
    }
}
