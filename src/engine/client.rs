//! The [`Engine`] port over an iii client.

use std::sync::Arc;
use std::time::Duration;

use skills_core::{Engine, Failure, Json, Pending, StoredRow};
use skills_iii::state::SqliteState;
use skills_iii::{CallError, Client};

use super::{Presence, compact, failure, for_each_row, is_idempotent};

/// An engine at the other end of a client.
pub struct ClientEngine {
    client: Client,
    /// The engine's state, if the engine is in this process.
    store: Option<Arc<SqliteState>>,
    /// The other engines on its data directory.
    presence: Option<Arc<Presence>>,
}

impl ClientEngine {
    /// The engine behind `client`.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            store: None,
            presence: None,
        }
    }

    /// The same for an engine in this process that keeps its state in `store`, in the data
    /// directory of `presence`.
    pub fn with_store(client: Client, store: Arc<SqliteState>, presence: Arc<Presence>) -> Self {
        Self {
            client,
            store: Some(store),
            presence: Some(presence),
        }
    }
}

impl Engine for ClientEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        Box::pin(async move {
            let result = if is_idempotent(function) {
                self.client
                    .call_idempotent(function, payload, timeout)
                    .await
            } else {
                self.client.call(function, payload, timeout).await
            };
            result.map_err(failure)
        })
    }

    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        let store = self.store.as_ref()?;
        // The rows belong to the engine: without it, reads fail.
        if self.client.worker_id().is_none() {
            return Some(Err(failure(CallError::Disconnected)));
        }
        Some(for_each_row(store, scope, visit))
    }

    fn compact(&self) -> Pending<'_, Result<Option<u64>, Failure>> {
        Box::pin(async move {
            match &self.store {
                Some(store) => compact(store).await,
                None => Ok(None),
            }
        })
    }

    fn shares_state(&self) -> bool {
        self.presence
            .as_ref()
            .is_some_and(|presence| presence.has_others())
    }

    fn send(&self, function: &str, payload: Json) {
        self.client.send(function, payload);
    }
}
