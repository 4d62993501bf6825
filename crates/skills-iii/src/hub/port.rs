//! What the hub needs of a store.

use std::pin::Pin;

use futures_util::stream::BoxStream;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::state::StateChange;

/// An answer that comes later.
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What an update makes of the value there is.
pub type Change = Box<dyn FnOnce(Option<&RawValue>) -> Result<Box<RawValue>, StoreError> + Send>;

/// A value before an update, and the value after.
pub type Updated = (Option<Box<RawValue>>, Box<RawValue>);

/// Durable rows of JSON by scope and key. Reads are fast and answer at once;
/// a write answers when it is durable.
pub trait StateStore: Send + Sync + 'static {
    /// Writes a row; answers the value it had.
    fn set(
        &self,
        scope: String,
        key: String,
        value: Box<RawValue>,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>>;
    /// Reads a row.
    fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StoreError>;
    /// Deletes a row; answers the value it had.
    fn delete(
        &self,
        scope: String,
        key: String,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>>;
    /// Every value of a scope as one JSON list, in the order the rows were made.
    fn list(&self, scope: &str) -> Result<Box<RawValue>, StoreError>;
    /// Every scope ever written to, sorted.
    fn groups(&self) -> Result<Vec<String>, StoreError>;
    /// Replaces a row by what `change` makes of it, with no write in between.
    fn update(
        &self,
        scope: String,
        key: String,
        change: Change,
    ) -> Pending<Result<Updated, StoreError>>;
    /// Every write from now on, in order, also those of other processes.
    fn changes(&self) -> BoxStream<'static, StateChange>;
}

/// Why the store did not do what it was asked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoreError {
    /// A scope, key or value is larger than the store takes.
    #[error("{0}")]
    TooLarge(String),
    /// Anything else; what the store said, causes included.
    #[error("{0}")]
    Failed(String),
}
