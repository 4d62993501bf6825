//! State that lasts as long as the process.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Mutex, MutexGuard};

use serde_json::value::{RawValue, to_raw_value};

use super::feed::Feed;
use super::state_store::{StateFuture, StateStore, StoredValue, UpdateFn, Updated};
use super::{Changes, StateChange, StateError, StoreOptions};
use crate::lock::lock;

/// A [`StateStore`] in memory, for tests and for engines that need no durable state.
#[derive(Debug)]
pub struct MemoryState {
    // A std mutex: nothing awaits while it is held.
    scopes: Mutex<BTreeMap<String, Scope>>,
    feed: Feed,
}

#[derive(Debug, Default)]
struct Scope {
    /// Values by position, so that a list keeps the order of insertion.
    values: BTreeMap<u64, Box<RawValue>>,
    positions: HashMap<String, u64>,
    last_position: u64,
}

impl Scope {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.values.get(self.positions.get(key)?).map(AsRef::as_ref)
    }

    fn set(&mut self, key: &str, value: Box<RawValue>) -> StoredValue {
        let position = self.positions.get(key).copied().unwrap_or_else(|| {
            self.last_position += 1;
            self.positions.insert(key.to_owned(), self.last_position);
            self.last_position
        });
        self.values.insert(position, value)
    }

    fn delete(&mut self, key: &str) -> StoredValue {
        self.values.remove(&self.positions.remove(key)?)
    }
}

impl Default for MemoryState {
    fn default() -> Self {
        Self {
            scopes: Mutex::default(),
            feed: Feed::new(&StoreOptions::default()),
        }
    }
}

impl MemoryState {
    fn scopes(&self) -> MutexGuard<'_, BTreeMap<String, Scope>> {
        lock(&self.scopes)
    }

    /// Must be called with the scopes locked, so that changes are published in order.
    fn publish(&self, scope: String, key: String, old: &StoredValue, new: Option<&RawValue>) {
        self.feed.publish(vec![StateChange::Row {
            scope,
            key,
            old: old.clone(),
            new: new.map(ToOwned::to_owned),
        }]);
    }
}

impl StateStore for MemoryState {
    fn set(&self, scope: String, key: String, value: Box<RawValue>) -> StateFuture<StoredValue> {
        let mut scopes = self.scopes();
        let rows = scopes.entry(scope.clone()).or_default();
        let old = rows.set(&key, value.clone());
        self.publish(scope, key, &old, Some(&value));
        Box::pin(ready(Ok(old)))
    }

    fn get(&self, scope: &str, key: &str) -> Result<StoredValue, StateError> {
        let scopes = self.scopes();
        let value = scopes.get(scope).and_then(|rows| rows.get(key));
        Ok(value.map(ToOwned::to_owned))
    }

    fn delete(&self, scope: String, key: String) -> StateFuture<StoredValue> {
        let mut scopes = self.scopes();
        let old = scopes.get_mut(&scope).and_then(|rows| rows.delete(&key));
        self.publish(scope, key, &old, None);
        Box::pin(ready(Ok(old)))
    }

    fn list(&self, scope: &str) -> Result<Box<RawValue>, StateError> {
        let scopes = self.scopes();
        let rows = scopes.get(scope).into_iter();
        let values: Vec<_> = rows.flat_map(|rows| rows.values.values()).collect();
        to_raw_value(&values).map_err(|error| StateError::Rejected {
            message: error.to_string(),
        })
    }

    fn groups(&self) -> Result<Vec<String>, StateError> {
        Ok(self.scopes().keys().cloned().collect())
    }

    fn update(&self, scope: String, key: String, update: UpdateFn) -> StateFuture<Updated> {
        let mut scopes = self.scopes();
        let rows = scopes.entry(scope.clone()).or_default();
        let new = match update(rows.get(&key)) {
            Ok(new) => new,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let old = rows.set(&key, new.clone());
        self.publish(scope, key, &old, Some(&new));
        Box::pin(ready(Ok((old, new))))
    }

    fn changes(&self) -> Changes {
        self.feed.subscribe()
    }
}
