//! Removing a row only if it is the expected one.

use std::sync::Arc;

use super::version::RemovalNote;
use super::write::Write;
use super::{Catalogue, decode};
use crate::Failure;
use crate::image::Need;
use crate::row::Row;
use crate::row_slot::RowSlot;

impl<T: Row> Catalogue<T> {
    /// Removes the row of a key if it is expected, and publishes the change. Returns whether it
    /// was removed. A row that another instance writes in the meantime stays.
    pub(crate) async fn remove_if(
        &self,
        key: Arc<str>,
        note: &RemovalNote,
        is_expected: impl Fn(&T) -> bool,
    ) -> Result<bool, Failure> {
        let is_expected = |slot: &RowSlot<T>| match slot {
            RowSlot::Row(row) => is_expected(row),
            RowSlot::Damaged(_) => false,
        };
        let _lock = self.key_locks.lock(&key).await;
        let found = self.read_key(&key).await?;
        if !found.as_ref().is_some_and(&is_expected) {
            return Ok(false);
        }
        let next = self.plan_removal_of(&key, found.as_ref()).await?;
        let write = Write::begin(self, &key, None);
        let Some(taken) = self.state.take(&key).await? else {
            // Another instance removed it; a read finds the change and publishes it.
            return self.abandon(write).await;
        };
        let removed = decode(&key, taken.get());
        if is_expected(&removed) {
            let change = match &removed {
                RowSlot::Row(row) => row.unregistered(),
                RowSlot::Damaged(_) => None,
            };
            self.acknowledged(write, change.as_ref()).await;
            self.record_removal(&key, next, note).await?;
            return Ok(true);
        }
        // State has no compare and delete: another instance wrote in between.
        self.restore(&key, Some(taken), None).await?;
        self.abandon(write).await
    }

    /// Another instance wrote the key: reads what it has now.
    async fn abandon(&self, write: Write<'_, T>) -> Result<bool, Failure> {
        let key = Arc::clone(&write.key);
        drop(write);
        if self.is_watched() {
            self.refresh_until_fresh(Need::Key(&key)).await?;
        }
        Ok(false)
    }
}
