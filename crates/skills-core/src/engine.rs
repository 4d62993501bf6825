//! The port to an engine: the only way for the rules to reach state and functions.
//!
//! Rows live in the engine's `state::*` functions, so every store is reached by the same
//! calls.

use std::pin::Pin;
use std::time::Duration;

use serde_json::value::RawValue;

/// JSON text that is passed on without being decoded.
pub type Json = Box<RawValue>;

/// A future that a port returns.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A row of state: its key, and its text or why it is not text.
pub type StoredRow<'a> = (&'a str, Result<&'a str, String>);

/// The code of [`Failure::Failed`] for a row whose value is not JSON.
pub(crate) const VALUE_DAMAGED: &str = "VALUE_DAMAGED";

/// The code of [`Failure::Failed`] for a write that expects another value than the row has. Only
/// engines that compare return it.
const VALUE_CHANGED: &str = "VALUE_CHANGED";

/// What the registry needs from an engine.
pub trait Engine: Send + Sync {
    /// Calls a function and waits for its result; none if it returned nothing.
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>>;

    /// Visits every row of a scope of state without copying it, if state is in this process.
    /// None if it is not: then `state::list` has to be called.
    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        let _ = (scope, visit);
        None
    }

    /// Gives the space of removed rows back to the system, if state is in this process. Returns by
    /// how many bytes it is smaller; none if state is not in this process.
    fn compact(&self) -> Pending<'_, Result<Option<u64>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Whether another engine that has the same state may run, and have workers that this one does
    /// not know of.
    fn shares_state(&self) -> bool {
        false
    }

    /// Sends a call without waiting for a result. Never blocks; failures are not reported.
    fn send(&self, function: &str, payload: Json);
}

impl Failure {
    /// Whether a write was refused because the row does not have the expected value.
    pub(crate) fn is_value_changed(&self) -> bool {
        matches!(self, Self::Failed { code, .. } if code == VALUE_CHANGED)
    }
}

/// Why a call returned no result. Each message completes "function `x` ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The timeout passed.
    #[error("was too slow: no answer within {} ms", after.as_millis())]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// No worker offers the function.
    #[error("is absent: no worker offers it")]
    Absent,
    /// The engine cannot be reached.
    #[error("could not be reached: {reason}")]
    Unreachable {
        /// The error of the connection.
        reason: String,
    },
    /// The function returned an error.
    #[error("failed: {message}")]
    Failed {
        /// The code of the engine or the worker.
        code: String,
        /// Its message.
        message: String,
    },
}
