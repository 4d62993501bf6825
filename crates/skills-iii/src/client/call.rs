//! Calls this worker makes, and the answers it waits for.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::Client;
use crate::fresh::fresh_id;
use crate::message::{Action, ErrorBody, InvocationResult, InvokeFunction, Message, Raw};
use crate::queue::NotTaken;

/// The longest an idempotent call waits before it is said again.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often an idempotent call is said at most.
const ATTEMPTS: usize = 5;

/// Why a call has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// No answer came in time.
    #[error("`{function_id}` did not answer within {timeout:?}")]
    TimedOut {
        /// What was called.
        function_id: String,
        /// How long it had.
        timeout: Duration,
    },
    /// There is no connection, or it was lost before the answer came.
    #[error("not connected to an engine")]
    Disconnected,
    /// Nobody offers the function.
    #[error("function not found: {0}")]
    NotFound(String),
    /// The function or the engine failed.
    #[error(transparent)]
    Remote(#[from] ErrorBody),
}

type Answer = Result<Option<Raw>, CallError>;

/// Calls that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<HashMap<Uuid, oneshot::Sender<Answer>>>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, oneshot::Sender<Answer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn answer(&self, answer: InvocationResult) {
        let Some(waiting) = self.lock().remove(&answer.invocation_id) else {
            tracing::debug!(id = %answer.invocation_id, "an answer nobody waits for");
            return;
        };
        let outcome = match answer.error {
            None => Ok(answer.result),
            Some(error) if error.code == "function_not_found" => {
                Err(CallError::NotFound(answer.function_id))
            }
            Some(error) => Err(CallError::Remote(error)),
        };
        let _gave_up = waiting.send(outcome);
    }

    pub(super) fn lose_all(&self) {
        let lost = std::mem::take(&mut *self.lock());
        for (_, waiting) in lost {
            let _gave_up = waiting.send(Err(CallError::Disconnected));
        }
    }
}

/// Takes a call that was given up out of the book.
struct Booked<'a>(&'a Calls, Uuid);

impl Drop for Booked<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl Client {
    /// Calls a function and waits for its answer. A function without a result
    /// answers `None`.
    ///
    /// Fails at once when there is no connection.
    pub async fn call(
        &self,
        function_id: &str,
        payload: Raw,
        timeout_after: Duration,
    ) -> Result<Option<Raw>, CallError> {
        match timeout(timeout_after, self.attempt(function_id, payload)).await {
            Ok(answer) => answer,
            Err(_) => Err(timed_out(function_id, timeout_after)),
        }
    }

    /// Calls a function that may be called twice without harm.
    ///
    /// Engines can lose an answer: the call is said again after a quarter of
    /// the time (at most a second) and whichever answer comes first counts. It
    /// also outlives a reconnect, all within the given time.
    pub async fn call_idempotent(
        &self,
        function_id: &str,
        payload: Raw,
        timeout_after: Duration,
    ) -> Result<Option<Raw>, CallError> {
        match timeout(
            timeout_after,
            self.insist(function_id, &payload, timeout_after),
        )
        .await
        {
            Ok(answer) => answer,
            Err(_) if self.worker_id().is_none() => Err(CallError::Disconnected),
            Err(_) => Err(timed_out(function_id, timeout_after)),
        }
    }

    /// Calls a function without waiting for anything. Never blocks: while there
    /// is no connection, or when too much waits to be sent, the call is dropped
    /// with a line in the log.
    pub fn send(&self, function_id: &str, payload: Raw) {
        let mut call = InvokeFunction::new(function_id, payload);
        call.action = Some(Action::Void);
        let message = Message::InvokeFunction(Box::new(call));
        let taken = match self.inner.outbox() {
            Some(outbox) => outbox.push(message),
            None => Err(NotTaken::Closed),
        };
        match taken {
            Ok(()) => {}
            Err(NotTaken::Full(_)) => {
                tracing::warn!(function_id, "dropped a call: too much waits to be sent");
            }
            Err(NotTaken::Closed) => tracing::warn!(function_id, "dropped a call: not connected"),
        }
    }

    async fn attempt(&self, function_id: &str, payload: Raw) -> Answer {
        let outbox = self.inner.outbox().ok_or(CallError::Disconnected)?;
        let id = fresh_id();
        let mut call = InvokeFunction::new(function_id, payload);
        call.invocation_id = Some(id);
        let (answer, answered) = oneshot::channel();
        // Booked before it is sent: no answer can come first.
        self.inner.calls.lock().insert(id, answer);
        let _booked = Booked(&self.inner.calls, id);
        if outbox
            .send(Message::InvokeFunction(Box::new(call)))
            .await
            .is_err()
        {
            return Err(CallError::Disconnected);
        }
        answered.await.unwrap_or(Err(CallError::Disconnected))
    }

    async fn insist(&self, function_id: &str, payload: &Raw, timeout_after: Duration) -> Answer {
        let mut attempts = FuturesUnordered::new();
        let mut said = 0;
        let mut patience = (timeout_after / 4).min(PATIENCE);
        loop {
            if attempts.is_empty() {
                self.wait_connected().await?;
            }
            attempts.push(self.attempt(function_id, payload.clone()));
            said += 1;
            let pause = sleep(patience);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    Some(answer) = attempts.next() => match answer {
                        Err(CallError::Disconnected) if attempts.is_empty() => break,
                        Err(CallError::Disconnected) => {}
                        answer => return answer,
                    },
                    () = &mut pause, if said < ATTEMPTS => {
                        tracing::debug!(function_id, said, "no answer yet; saying it again");
                        patience *= 2;
                        break;
                    }
                }
            }
        }
    }
}

fn timed_out(function_id: &str, timeout: Duration) -> CallError {
    CallError::TimedOut {
        function_id: function_id.to_owned(),
        timeout,
    }
}
