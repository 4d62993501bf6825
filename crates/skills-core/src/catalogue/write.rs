//! Writing rows: one at a time for each key, published after their acknowledgement.

use std::sync::Arc;

use futures_util::future::join;
use serde_json::value::RawValue;

use super::remove_if::RemoveError;
use super::version::RemovalNote;
use super::{Catalogue, Stored, decode};
use crate::history::{Note, Plan};
use crate::image::Need;
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::state_scope::Replaced;
use crate::{Change, Current, Error, Failure, Json, Pending, Precondition};

/// How often a row of another instance is put back when writes follow each other.
const RESTORE_MAX: usize = 8;

/// How often a write with a precondition is tried while other instances register the content that
/// it expects again.
pub(super) const ATTEMPTS: usize = 32;

/// Why a row was not written.
#[derive(Debug)]
pub(crate) enum PutError {
    Failed(Failure),
    /// The row is stored, and its version is not.
    Unrecorded(Failure),
    /// What has to be stored before it is not.
    Unprepared(Failure),
    /// Something else was registered than expected.
    Conflict(Current),
}

impl PutError {
    /// The error for a `what`, such as "skill", of this name.
    pub(crate) fn into_error(self, expected: Precondition, what: &str, name: &str) -> Error {
        match self {
            Self::Failed(cause) => Error::state(|| format!("register {what} `{name}`"))(cause),
            Self::Unrecorded(cause) => Error::state(|| {
                format!("record the version of {what} `{name}`, which is registered without it now")
            })(cause),
            Self::Unprepared(cause) => Error::state(|| {
                format!("store the lease of {what} `{name}`, which was not registered")
            })(cause),
            Self::Conflict(current) => Error::Conflict {
                what: format!("{what} `{name}`"),
                expected,
                current,
            },
        }
    }
}

impl PutError {
    /// The failure of a row that has no precondition.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(cause) | Self::Unrecorded(cause) | Self::Unprepared(cause) => cause,
            Self::Conflict(current) => conflict(current),
        }
    }
}

/// The failure of a row that was expected to be another one.
pub(super) fn conflict(current: Current) -> Failure {
    Failure::Failed {
        code: "conflict".into(),
        message: format!("something else is stored: {current:?}"),
    }
}

impl From<Failure> for PutError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What is stored before a row, given the time of its registration.
type Prepare<'a> = dyn Fn(Arc<str>) -> Pending<'a, Result<(), Failure>> + Send + Sync + 'a;

impl<T: Row> Catalogue<T> {
    /// Writes a row and its version, publishes the change, and returns the row. `make` runs under
    /// the lock of the key, so that later acknowledgements carry later times.
    pub(crate) async fn put(
        &self,
        key: Arc<str>,
        expected: Precondition,
        note: &Note,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<T>, PutError> {
        self.put_prepared(key, expected, note, make, None).await
    }

    /// The same, with something that is stored before the row.
    pub(crate) async fn put_prepared(
        &self,
        key: Arc<str>,
        expected: Precondition,
        note: &Note,
        make: impl FnOnce() -> T,
        prepare: Option<&Prepare<'_>>,
    ) -> Result<Arc<T>, PutError> {
        let _lock = self.key_locks.lock(&key).await;
        let before = match expected {
            Precondition::Any => None,
            // The image may not have the last write of another instance yet.
            Precondition::Absent | Precondition::Digest(_) => {
                Some(self.expect(&key, expected).await?)
            }
        };
        let row = Arc::new(make());
        let json = row.to_json();
        let plan = self.plan_version(&row, before.as_ref()).await?;
        let is_unchanged = matches!(plan, Some(Plan::Unchanged));
        if let Some(prepare) = prepare {
            let prepared = prepare(row.registered_at()).await;
            prepared.map_err(PutError::Unprepared)?;
        }
        let write = Write::begin(self, &key, Some(Arc::clone(&row)));
        let record = self.record_version(plan, &row, &json, note);
        let recorded = match before {
            None => {
                // Together, so that the second one costs no time.
                let (replaced, recorded) = join(self.state.set(&key, &json), record).await;
                let replaced = replaced?;
                if is_unchanged {
                    self.record_if_changed(&replaced, &row, &json, note).await
                } else {
                    recorded
                }
            }
            Some(before) => {
                self.replace(&row, &json, before, expected).await?;
                record.await
            }
        };
        self.acknowledged(write, row.registered().as_ref()).await;
        recorded.map_err(PutError::Unrecorded)?;
        Ok(row)
    }

    /// Applies operations of `state::update` to a row that several instances change in one step.
    /// `change` does the same to the row that this process knows. Returns the new row.
    pub(crate) async fn update(
        &self,
        key: &Arc<str>,
        ops: &RawValue,
        change: impl FnOnce(Option<&T>) -> T,
    ) -> Result<Option<RowSlot<T>>, Failure> {
        let _lock = self.key_locks.lock(key).await;
        let known = match self.peek(key) {
            Some(RowSlot::Row(known)) => Some(known),
            Some(RowSlot::Damaged(_)) | None => None,
        };
        let row = Arc::new(change(known.as_deref()));
        let write = Write::begin(self, key, Some(Arc::clone(&row)));
        let updated = self.state.update(key, ops).await?;
        let new = Replaced(updated)
            .new_value()
            .map(|new| decode(key, new.get()));
        // Otherwise this process did not know what it changed: the key is read again.
        if new == Some(RowSlot::Row(row)) {
            self.acknowledged(write, None).await;
        }
        Ok(new)
    }

    /// Reads a key that must have what is expected.
    async fn expect(&self, key: &str, expected: Precondition) -> Result<Stored<T>, PutError> {
        let found = self.read_stored(key).await?;
        let current = Current::of(found.slot.as_ref());
        if expected.allows(current) {
            return Ok(found);
        }
        Err(PutError::Conflict(current))
    }

    /// Writes a row over the one that was read before it.
    async fn replace(
        &self,
        row: &T,
        json: &RawValue,
        mut before: Stored<T>,
        expected: Precondition,
    ) -> Result<(), PutError> {
        let key = row.key();
        let mut attempts = 1;
        loop {
            match self.state.set_if(&key, json, Some(before.expected())).await {
                Ok(replaced) => {
                    let before = before.slot.as_ref();
                    return self.check_replaced(row, before, replaced).await;
                }
                // Another instance wrote in between. It may have registered what is expected
                // again.
                Err(failure) if failure.is_value_changed() && attempts < ATTEMPTS => {
                    before = self.expect(&key, expected).await?;
                    attempts += 1;
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// Checks that a write with a precondition replaced what was read before it, for an engine
    /// that does not compare: another instance may have written in between. Its write was
    /// acknowledged first, so its row is put back and this write is refused.
    async fn check_replaced(
        &self,
        row: &T,
        before: Option<&RowSlot<T>>,
        replaced: Replaced,
    ) -> Result<(), PutError> {
        let key = row.key();
        let slot = |raw: &RawValue| decode::<T>(&key, raw.get());
        let found = replaced.value().map(slot);
        if found.as_ref() == before {
            return Ok(());
        }
        let current = Current::of(found.as_ref());
        let theirs = replaced.value().map(ToOwned::to_owned);
        self.restore(&key, theirs, Some(slot(&row.to_json())))
            .await?;
        Err(PutError::Conflict(current))
    }

    /// Puts back what another instance wrote and this one replaced by `written`.
    pub(super) async fn restore(
        &self,
        key: &str,
        mut theirs: Option<Json>,
        mut written: Option<RowSlot<T>>,
    ) -> Result<(), Failure> {
        let slot = |raw: &RawValue| decode::<T>(key, raw.get());
        // What is written meanwhile is put back in the same way.
        for _ in 0..RESTORE_MAX {
            let Some(restored) = theirs else {
                self.state.delete(key).await?;
                break;
            };
            let replaced = self.state.set(key, &restored).await?;
            if replaced.value().map(slot) == written {
                break;
            }
            written = Some(slot(&restored));
            theirs = replaced.value().map(ToOwned::to_owned);
        }
        Ok(())
    }

    /// Removes a row and, if there was one, records that and publishes the change. Returns
    /// whether there was.
    pub(crate) async fn remove(
        &self,
        key: Arc<str>,
        change: &Change,
        note: &RemovalNote,
    ) -> Result<bool, RemoveError> {
        let _lock = self.key_locks.lock(&key).await;
        let at = (note.now)().into();
        let next = self.plan_removal(&key).await?;
        let write = Write::begin(self, &key, None);
        let removed = self.state.delete(&key).await?;
        // Recorded first, so that a subscriber to the change finds its version.
        let recorded = if removed {
            self.record_removal(&key, next, note, at).await
        } else {
            Ok(())
        };
        self.acknowledged(write, removed.then_some(change)).await;
        recorded.map_err(RemoveError::Unrecorded)?;
        Ok(removed)
    }

    /// A write is in state: publishes it, and makes sure that later reads see it or what was
    /// written after it.
    pub(super) async fn acknowledged(&self, mut write: Write<'_, T>, change: Option<&Change>) {
        write.acknowledged = true;
        let applied = self.image().acknowledge(&write.key, write.began);
        self.publisher.publish_all(change);
        if !applied {
            // The write itself has succeeded. If this read fails, the key stays dirty and the
            // next reader gets the error.
            let _ = self.refresh_until_fresh(Need::Key(&write.key)).await;
        }
    }
}

/// A write in progress. Dropped before its acknowledgement, its key has to be read.
pub(super) struct Write<'a, T: Row> {
    catalogue: &'a Catalogue<T>,
    pub(super) key: Arc<str>,
    began: u64,
    acknowledged: bool,
}

impl<'a, T: Row> Write<'a, T> {
    pub(super) fn begin(catalogue: &'a Catalogue<T>, key: &Arc<str>, row: Option<Arc<T>>) -> Self {
        Self {
            catalogue,
            key: Arc::clone(key),
            began: catalogue.image().begin_write(key, row),
            acknowledged: false,
        }
    }
}

impl<T: Row> Drop for Write<'_, T> {
    fn drop(&mut self) {
        if self.acknowledged {
            self.catalogue.image().end_write(&self.key);
        } else {
            let change = self.catalogue.image().abandon(&self.key);
            self.catalogue.publisher.publish_all(&change);
        }
    }
}
