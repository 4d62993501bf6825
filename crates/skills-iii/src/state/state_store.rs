//! The interface of every state store: the hub and `state::*` use state through it only.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::{Changes, StateError};

/// The value of a row; none if the row does not exist.
pub type StoredValue = Option<Box<RawValue>>;

/// A row before and after an update.
pub type Updated = (StoredValue, Box<RawValue>);

/// Computes the next value of a row from its present value.
pub type UpdateFn = Box<dyn FnOnce(Option<&RawValue>) -> Result<Box<RawValue>, StateError> + Send>;

/// The completion of a write.
pub type StateFuture<T> = BoxFuture<'static, Result<T, StateError>>;

/// Rows of JSON by scope and key. Reads return at once; a write completes when it is durable.
pub trait StateStore: Send + Sync + 'static {
    /// Writes a row and returns its previous value. A new row goes to the end of its scope; an
    /// existing row keeps its position.
    fn set(&self, scope: String, key: String, value: Box<RawValue>) -> StateFuture<StoredValue>;
    /// Reads a row.
    fn get(&self, scope: &str, key: &str) -> Result<StoredValue, StateError>;
    /// Deletes a row and returns its previous value.
    fn delete(&self, scope: String, key: String) -> StateFuture<StoredValue>;
    /// Reads every value of a scope as one JSON list, in the order of insertion.
    fn list(&self, scope: &str) -> Result<Box<RawValue>, StateError>;
    /// Lists every scope that was ever written to, sorted, including the empty ones.
    fn groups(&self) -> Result<Vec<String>, StateError>;
    /// Replaces a row by the result of `update`, with no other write in between. Returns the
    /// values before and after.
    fn update(&self, scope: String, key: String, update: UpdateFn) -> StateFuture<Updated>;
    /// Every write committed from now on, once each and in commit order, including those of
    /// other processes.
    fn changes(&self) -> Changes;
}
