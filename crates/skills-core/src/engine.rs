//! The port to an engine: the one way out of the rules.
//!
//! Rows live in the engine's `state::*` functions, so a store is nothing but calls,
//! and every engine is the same code path.

use std::pin::Pin;
use std::time::Duration;

use serde_json::value::RawValue;

/// JSON text that is passed on without being taken apart.
pub type Json = Box<RawValue>;

/// A future that some port returns.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the registry needs of an engine.
pub trait Engine: Send + Sync {
    /// Calls a function and waits for its answer; none where it returned nothing.
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>>;

    /// Shows every row of a scope of state, one after the other, where state is in this
    /// process: nothing is copied on the way. None where it is not; then `state::list`
    /// has to be called.
    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Option<Result<(), Failure>> {
        let _ = (scope, visit);
        None
    }

    /// Sends a call without waiting: never blocks, and a failure is nobody's.
    fn send(&self, function: &str, payload: Json);
}

/// Why a call had no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Nothing came back in time.
    #[error("was too slow: no answer within {} ms", after.as_millis())]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// No worker offers the function.
    #[error("is absent: no worker offers it")]
    Absent,
    /// The engine cannot be reached.
    #[error("could not be reached: {reason}")]
    Unreachable {
        /// What the connection said.
        reason: String,
    },
    /// The function answered with an error.
    #[error("failed: {message}")]
    Failed {
        /// The engine's or the worker's code.
        code: String,
        /// What it said.
        message: String,
    },
}
