//! One scope of state, served from memory.
//!
//! The scope is loaded with one `state::list`, kept current by state events, and read again
//! after a reconnect. The [image](crate::image) has the rules; this file makes the calls.

mod collect;
mod null_rows;
mod remove_if;
mod version;
mod write;

pub(crate) use remove_if::RemoveError;
pub(crate) use version::RemovalNote;
pub(crate) use write::PutError;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::lock::Mutex as AsyncMutex;
use serde_json::value::RawValue;

use crate::change::ChangePublisher;
use crate::engine::{StoredRow, VALUE_DAMAGED};
use crate::history::VersionStore;
use crate::image::{EventValue, Image, Need, ReadPlan};
use crate::key_locks::KeyLocks;
use crate::row::Row;
use crate::row_slot::{RowSlot, Snapshot};
use crate::state_scope::{Expected, StateScope};
use crate::{Engine, Failure, Json};

pub(crate) struct Catalogue<T: Row> {
    state: StateScope,
    publisher: Arc<ChangePublisher>,
    /// Whether the engine sends events for this scope. If not, every read calls it.
    watched: AtomicBool,
    // A std mutex: it is never held across an await.
    image: Mutex<Image<T>>,
    refreshing: AsyncMutex<()>,
    key_locks: KeyLocks,
    /// Whether a row is served, or turned off.
    is_served: IsServed<T>,
    /// What the rows said before; none for rows without a history.
    versions: Option<VersionStore<T>>,
}

/// Decides whether a row is served.
pub(crate) type IsServed<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

impl<T: Row> Catalogue<T> {
    pub(crate) fn new(
        (engine, publisher): (Arc<dyn Engine>, Arc<ChangePublisher>),
        scope: String,
        timeout: Duration,
        is_served: IsServed<T>,
    ) -> Self {
        Self {
            is_served,
            state: StateScope::new(engine, scope, timeout),
            publisher,
            watched: AtomicBool::new(false),
            image: Mutex::new(Image::new()),
            refreshing: AsyncMutex::new(()),
            key_locks: KeyLocks::default(),
            versions: None,
        }
    }

    /// The same, which keeps this many versions of each row in a scope beside its own.
    pub(crate) fn with_versions(self, keep: usize) -> Self {
        let StateScope { engine, name, .. } = &self.state;
        let scope = versions_scope(name);
        let state = StateScope::new(Arc::clone(engine), scope, self.state.timeout());
        Self {
            versions: Some(VersionStore::new(state, keep)),
            ..self
        }
    }

    /// The versions of the rows.
    pub(crate) const fn versions(&self) -> Option<&VersionStore<T>> {
        self.versions.as_ref()
    }

    pub(crate) fn scope(&self) -> &str {
        &self.state.name
    }

    /// A connection begins: the image may be out of date.
    pub(crate) fn connected(&self, watched: bool) {
        let mut image = self.image();
        image.invalidate();
        self.watched.store(watched, Ordering::Release);
    }

    /// The connection is gone. Until the next one, reads fail rather than return old values.
    pub(crate) fn disconnected(&self) {
        self.image().invalidate();
    }

    /// Whether the engine sends events for this scope, so that it can be served from memory.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Acquire)
    }

    /// Everything in the scope.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot<T>>, Failure> {
        self.refresh_until_fresh(Need::Scope).await?;
        Ok(self.image().snapshot(&self.state.name, &self.is_served))
    }

    /// Waits until the scope is at least as new as the moment of this call.
    pub(crate) async fn refresh_scope(&self) -> Result<(), Failure> {
        self.refresh_until_fresh(Need::Scope).await
    }

    /// The keys that changed since the last call, with their rows; at first all keys.
    pub(crate) fn take_changes(&self) -> Vec<(Arc<str>, Option<Arc<T>>)> {
        self.image().take_changes()
    }

    /// The value of one key.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<RowSlot<T>>, Failure> {
        if !self.is_watched() {
            return self.read_key(key).await;
        }
        self.refresh_until_fresh(Need::Key(key)).await?;
        Ok(self.image().get(key))
    }

    /// Applies an event: the key was written, or, without a key, any key may have been.
    /// `value` is the new value, if the event contains it. Reads the key again if needed.
    pub(crate) async fn apply_state_event(
        &self,
        key: Option<Arc<str>>,
        value: Option<&RawValue>,
    ) -> Result<(), Failure> {
        let Some(key) = key else {
            self.image().invalidate();
            return self.refresh_until_fresh(Need::Scope).await;
        };
        let value = match value.map(RawValue::get) {
            None => EventValue::Unknown,
            Some("null") => EventValue::Deleted,
            Some(text) => EventValue::Set(decode(&key, text)),
        };
        if self.image().record_event(&key, &value) && self.is_watched() {
            self.refresh_until_fresh(Need::Key(&key)).await?;
        }
        Ok(())
    }

    /// The value of one key, as far as this process has heard.
    pub(crate) fn peek(&self, key: &str) -> Option<RowSlot<T>> {
        self.image().get(key)
    }

    fn image(&self) -> MutexGuard<'_, Image<T>> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the image is at least as new as the moment of this call.
    async fn refresh_until_fresh(&self, need: Need<'_>) -> Result<(), Failure> {
        let since = self.image().tick();
        let is_fresh = || self.image().is_fresh(since, need, self.is_watched());
        while !is_fresh() {
            // One refresh at a time; those who waited usually find the image fresh.
            let _refreshing = self.refreshing.lock().await;
            if !is_fresh() {
                self.refresh().await?;
            }
        }
        Ok(())
    }

    /// Reads everything that is not settled, once.
    async fn refresh(&self) -> Result<(), Failure> {
        let read = Read::begin(self);
        match &read.plan {
            ReadPlan::Scope => {
                let (rows, keyless) = self.load().await?;
                let changes = self.image().apply_list(read.ticket, rows, keyless);
                self.publisher.publish_all(&changes);
                Ok(())
            }
            ReadPlan::Keys(keys) => {
                let reads = keys.iter();
                let reads = reads.map(|key| async move { (key, self.read_key(key).await) });
                let mut outcome = Ok(());
                for (key, found) in join_all(reads).await {
                    match found {
                        Ok(slot) => {
                            let change = self.image().apply(key, read.ticket, slot);
                            self.publisher.publish_all(&change);
                        }
                        Err(failure) => outcome = Err(failure),
                    }
                }
                outcome
            }
        }
    }

    /// Reads a key from state.
    pub(crate) async fn read_key(&self, key: &str) -> Result<Option<RowSlot<T>>, Failure> {
        Ok(self.read_stored(key).await?.slot)
    }

    /// Reads a key from state, with its text.
    async fn read_stored(&self, key: &str) -> Result<Stored<T>, Failure> {
        let stored = match self.state.get(key).await {
            Ok(raw) => Stored {
                slot: raw.as_ref().map(|raw| decode(key, raw.get())),
                raw,
            },
            Err(Failure::Failed { code, message }) if code == VALUE_DAMAGED => Stored {
                slot: Some(RowSlot::Damaged(message.into())),
                raw: None,
            },
            Err(failure) => return Err(failure),
        };
        if let Some(RowSlot::Damaged(problem)) = &stored.slot {
            self.warn_damaged(key, problem);
        }
        Ok(stored)
    }

    /// Visits every row without keeping it. `None` if the rows are in memory anyway, or not in
    /// this process.
    pub(crate) fn for_each_row(
        &self,
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        if self.is_watched() {
            return None;
        }
        self.state.engine.for_each_row(&self.state.name, visit)
    }

    /// Everything in the scope: rows with a key, and the problems of rows without one.
    async fn load(&self) -> Result<(Vec<(Arc<str>, RowSlot<T>)>, Vec<Arc<str>>), Failure> {
        let (mut rows, mut keyless) = (Vec::new(), Vec::new());
        let visited = self
            .state
            .engine
            .for_each_row(&self.state.name, &mut |(key, text)| {
                if text.as_deref().is_ok_and(Self::is_null_row) {
                    return;
                }
                let slot = match text {
                    Ok(text) => decode::<T>(key, text),
                    Err(problem) => RowSlot::Damaged(problem.into()),
                };
                let key = match &slot {
                    RowSlot::Row(row) => row.key(),
                    RowSlot::Damaged(problem) => {
                        self.warn_damaged(key, problem);
                        key.into()
                    }
                };
                rows.push((key, slot));
            });
        if let Some(visited) = visited {
            visited?;
            return Ok((rows, keyless));
        }
        let list = self.state.list().await?;
        let text = list.as_deref().map_or("null", RawValue::get);
        let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| Failure::Failed {
            code: "unexpected_answer".into(),
            message: format!("`state::list` did not return a list: {e}"),
        })?;
        for value in values {
            if Self::is_null_row(value.get()) {
                continue;
            }
            match T::from_json(value.get()) {
                Ok(row) => rows.push((row.key(), RowSlot::Row(Arc::new(row)))),
                Err(bad) => {
                    self.warn_damaged(bad.key.as_deref().unwrap_or("?"), &bad.problem);
                    match bad.key {
                        Some(key) => rows.push((key, RowSlot::Damaged(bad.problem.into()))),
                        None => keyless.push(bad.problem.into()),
                    }
                }
            }
        }
        Ok((rows, keyless))
    }

    fn warn_damaged(&self, key: &str, problem: &str) {
        let scope = &*self.state.name;
        tracing::warn!(scope, key, "stored {} cannot be read: {problem}", T::WHAT);
    }
}

/// The scope that holds the versions of the rows of a scope.
pub(crate) fn versions_scope(scope: &str) -> String {
    format!("{scope}.versions")
}

fn decode<T: Row>(key: &str, text: &str) -> RowSlot<T> {
    match T::from_json(text) {
        Ok(row) if *row.key() == *key => RowSlot::Row(Arc::new(row)),
        Ok(row) => RowSlot::Damaged(format!("the row contains the key `{}`", row.key()).into()),
        Err(bad) => RowSlot::Damaged(bad.problem.into()),
    }
}

/// What state has under a key.
struct Stored<T> {
    slot: Option<RowSlot<T>>,
    /// The text of the slot.
    raw: Option<Json>,
}

impl<T> Stored<T> {
    /// The value that a write expects which was decided by this one.
    fn expected(&self) -> Expected<'_> {
        Expected(self.raw.as_deref())
    }
}

/// A read in progress. Dropped early, it still ends.
struct Read<'a, T: Row> {
    catalogue: &'a Catalogue<T>,
    plan: ReadPlan,
    ticket: u64,
}

impl<'a, T: Row> Read<'a, T> {
    fn begin(catalogue: &'a Catalogue<T>) -> Self {
        let (plan, ticket) = catalogue.image().begin_read(catalogue.is_watched());
        Self {
            catalogue,
            plan,
            ticket,
        }
    }
}

impl<T: Row> Drop for Read<'_, T> {
    fn drop(&mut self) {
        self.catalogue.image().end_read();
    }
}
