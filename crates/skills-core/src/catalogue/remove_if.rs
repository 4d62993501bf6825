//! Removing a row only if it is the expected one.

use std::sync::Arc;

use super::version::RemovalNote;
use super::write::{ATTEMPTS, Write, conflict};
use super::{Catalogue, decode};
use crate::image::Need;
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::{Change, Current, EntryName, Error, Failure, Precondition};

/// Why a row was not removed.
#[derive(Debug)]
pub(crate) enum RemoveError {
    Failed(Failure),
    /// The row is gone, and its version is not recorded.
    Unrecorded(Failure),
    /// Something else is registered than expected.
    Conflict(Current),
}

impl RemoveError {
    /// Whether the row is gone all the same.
    pub(crate) const fn is_removed(&self) -> bool {
        matches!(self, Self::Unrecorded(_))
    }

    /// The error for an attempt to do this, such as "unregister", to an entry.
    pub(crate) fn into_error(
        self,
        doing: &str,
        expected: Precondition,
        entry: &EntryName,
    ) -> Error {
        match self {
            Self::Failed(cause) => Error::state(|| format!("{doing} {entry}"))(cause),
            Self::Unrecorded(cause) => Error::state(|| {
                format!("record the removal of {entry}, which is not registered any more")
            })(cause),
            Self::Conflict(current) => Error::Conflict {
                what: entry.to_string(),
                expected,
                current,
            },
        }
    }

    /// The failure of a row that has no precondition.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(cause) | Self::Unrecorded(cause) => cause,
            Self::Conflict(current) => conflict(current),
        }
    }
}

impl From<Failure> for RemoveError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl<T: Row> Catalogue<T> {
    /// Removes a row that has the expected digest and publishes `change`. Returns whether there was
    /// one: a row that is gone already is not a conflict, another row is.
    pub(crate) async fn remove_expected(
        &self,
        key: Arc<str>,
        change: &Change,
        expected: Precondition,
        note: &RemovalNote,
    ) -> Result<bool, RemoveError> {
        let removed = match expected {
            Precondition::Any => return self.remove(key, change, note).await,
            Precondition::Absent => false,
            Precondition::Digest(digest) => {
                let is_expected = |row: &T| row.digest() == digest;
                self.remove_if(Arc::clone(&key), note, is_expected).await?
            }
        };
        if removed {
            return Ok(true);
        }
        // The image may not have what another instance wrote or removed yet.
        match Current::of(self.read_key(&key).await?.as_ref()) {
            Current::Absent => Ok(false),
            current => Err(RemoveError::Conflict(current)),
        }
    }

    /// Removes the row of a key if it is expected, and publishes the change. Returns whether it
    /// was removed. A row that another instance writes in the meantime stays.
    pub(crate) async fn remove_if(
        &self,
        key: Arc<str>,
        note: &RemovalNote,
        is_expected: impl Fn(&T) -> bool,
    ) -> Result<bool, RemoveError> {
        let is_expected = |slot: &RowSlot<T>| match slot {
            RowSlot::Row(row) => is_expected(row),
            RowSlot::Damaged(_) => false,
        };
        let _lock = self.key_locks.lock(&key).await;
        let at = (note.now)().into();
        let mut found = self.read_stored(&key).await?;
        if !found.slot.as_ref().is_some_and(&is_expected) {
            return Ok(false);
        }
        let next = self.plan_removal_of(&key, found.slot.as_ref()).await?;
        let write = Write::begin(self, &key, None);
        let mut attempts = 1;
        let taken = loop {
            match self.state.take_if(&key, Some(found.expected())).await {
                Ok(Some(taken)) => break taken,
                // Another instance removed it; a read finds the change and publishes it.
                Ok(None) => return Ok(self.abandon(write).await?),
                Err(failure) if failure.is_value_changed() && attempts < ATTEMPTS => {
                    attempts += 1;
                    found = self.read_stored(&key).await?;
                    if !found.slot.as_ref().is_some_and(&is_expected) {
                        return Ok(self.abandon(write).await?);
                    }
                }
                Err(failure) => return Err(failure.into()),
            }
        };
        let removed = decode(&key, taken.get());
        if is_expected(&removed) {
            let change = match &removed {
                RowSlot::Row(row) => row.unregistered(),
                RowSlot::Damaged(_) => None,
            };
            let recorded = self.record_removal(&key, next, note, at).await;
            self.acknowledged(write, change.as_ref()).await;
            recorded.map_err(RemoveError::Unrecorded)?;
            return Ok(true);
        }
        // The engine does not compare, and another instance wrote in between.
        self.restore(&key, Some(taken), None).await?;
        Ok(self.abandon(write).await?)
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
