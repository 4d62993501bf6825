//! State that lasts as long as the process.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::port::{Change, Pending, StateStore, StoreError, Updated};
use crate::state::StateChange;

/// A [`StateStore`] in memory, for tests and for those who want nothing kept.
#[derive(Debug)]
pub struct MemoryState {
    // A std mutex: nothing awaits while it is held.
    scopes: Mutex<BTreeMap<String, Scope>>,
    changes: broadcast::Sender<StateChange>,
}

#[derive(Debug, Default)]
struct Scope {
    rows: BTreeMap<u64, Box<RawValue>>,
    places: HashMap<String, u64>,
    next: u64,
}

impl Scope {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.rows.get(self.places.get(key)?).map(AsRef::as_ref)
    }

    fn set(&mut self, key: &str, value: Box<RawValue>) -> Option<Box<RawValue>> {
        let place = self.places.get(key).copied().unwrap_or_else(|| {
            self.next += 1;
            self.places.insert(key.to_owned(), self.next);
            self.next
        });
        self.rows.insert(place, value)
    }
}

impl Default for MemoryState {
    fn default() -> Self {
        Self {
            scopes: Mutex::default(),
            changes: broadcast::Sender::new(4096),
        }
    }
}

impl MemoryState {
    fn scopes(&self) -> MutexGuard<'_, BTreeMap<String, Scope>> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called with the scopes locked, so that changes are told in order.
    fn tell(&self, scope: String, key: String, old: Option<&RawValue>, new: Option<&RawValue>) {
        let (old, new) = (old.map(ToOwned::to_owned), new.map(ToOwned::to_owned));
        let _nobody_listens = self.changes.send(StateChange::Row {
            scope,
            key,
            old,
            new,
        });
    }
}

impl StateStore for MemoryState {
    fn set(
        &self,
        scope: String,
        key: String,
        value: Box<RawValue>,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>> {
        let mut scopes = self.scopes();
        let old = scopes
            .entry(scope.clone())
            .or_default()
            .set(&key, value.clone());
        self.tell(scope, key, old.as_deref(), Some(&value));
        Box::pin(ready(Ok(old)))
    }

    fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StoreError> {
        Ok(self
            .scopes()
            .get(scope)
            .and_then(|scope| scope.get(key))
            .map(ToOwned::to_owned))
    }

    fn delete(
        &self,
        scope: String,
        key: String,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>> {
        let mut scopes = self.scopes();
        let old = scopes.get_mut(&scope).and_then(|rows| {
            let place = rows.places.remove(&key)?;
            rows.rows.remove(&place)
        });
        self.tell(scope, key, old.as_deref(), None);
        Box::pin(ready(Ok(old)))
    }

    fn list(&self, scope: &str) -> Result<Box<RawValue>, StoreError> {
        let scopes = self.scopes();
        let rows = scopes.get(scope).into_iter();
        let rows: Vec<_> = rows.flat_map(|scope| scope.rows.values()).collect();
        to_raw_value(&rows).map_err(|error| StoreError::Failed(error.to_string()))
    }

    fn groups(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.scopes().keys().cloned().collect())
    }

    fn update(
        &self,
        scope: String,
        key: String,
        change: Change,
    ) -> Pending<Result<Updated, StoreError>> {
        let mut scopes = self.scopes();
        let rows = scopes.entry(scope.clone()).or_default();
        let new = match change(rows.get(&key)) {
            Ok(new) => new,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let old = rows.set(&key, new.clone());
        self.tell(scope, key, old.as_deref(), Some(&new));
        Box::pin(ready(Ok((old, new))))
    }

    fn changes(&self) -> BoxStream<'static, StateChange> {
        let changes = self.changes.subscribe();
        stream::unfold(changes, |mut changes| async move {
            match changes.recv().await {
                Ok(change) => Some((change, changes)),
                Err(RecvError::Lagged(_)) => Some((StateChange::Reload, changes)),
                Err(RecvError::Closed) => None,
            }
        })
        .boxed()
    }
}
