//! The [`Engine`] port on a data directory, for commands that run without an engine.
//!
//! `state::*` runs on the store, the operations of the registry run on the registry
//! itself. There are no workers here, so every other function is absent and nothing that
//! is sent has a receiver.

use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_core::{Engine, Failure, Json, Pending, Registry};
use skills_iii::state::{SqliteState, StateError, StoreOptions};
use skills_iii::{CallError, StateStore, call_state};

use super::{failure, for_each_row};

/// The state and the operations of one data directory.
pub struct LocalEngine {
    store: Arc<SqliteState>,
    state: Arc<dyn StateStore>,
    /// Weak: the registry holds this engine.
    registry: OnceLock<Weak<Registry>>,
}

impl LocalEngine {
    /// Opens the data directory, creating it if necessary.
    pub fn open(data_dir: &Path) -> Result<Arc<Self>, StateError> {
        let store = Arc::new(SqliteState::open(data_dir, StoreOptions::default())?);
        Ok(Arc::new(Self {
            state: Arc::clone(&store) as _,
            store,
            registry: OnceLock::new(),
        }))
    }

    /// The rows.
    pub fn store(&self) -> &SqliteState {
        &self.store
    }

    /// Makes the operations of `registry` callable. Only the first registry counts.
    pub fn serve(&self, registry: &Arc<Registry>) {
        self.registry.get_or_init(|| Arc::downgrade(registry));
    }

    /// Calls a function other than an operation of the registry.
    pub async fn call_function(
        &self,
        function: &str,
        payload: &Json,
    ) -> Result<Option<Json>, CallError> {
        match function {
            "engine::functions::list" => Ok(Some(functions())),
            _ => match call_state(&self.state, function, payload).await {
                Err(error) if error.code == "function_not_found" => {
                    Err(CallError::NotFound(function.to_owned()))
                }
                result => Ok(result?),
            },
        }
    }

    /// Calls any function.
    async fn run(&self, function: &str, payload: Json) -> Result<Option<Json>, Failure> {
        let registry = self.registry.get().and_then(Weak::upgrade);
        if let (Some(operation), Some(registry)) = (skills_api::find_function(function), registry) {
            let result = (operation.run)(registry, payload).await;
            return result.map(Some).map_err(|error| Failure::Failed {
                code: skills_api::code(error.kind()).into(),
                message: error.to_text(),
            });
        }
        self.call_function(function, &payload)
            .await
            .map_err(failure)
    }
}

impl Engine for LocalEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        Box::pin(async move {
            let called = tokio::time::timeout(timeout, self.run(function, payload)).await;
            called.unwrap_or(Err(Failure::TimedOut { after: timeout }))
        })
    }

    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Option<Result<(), Failure>> {
        Some(for_each_row(&self.store, scope, visit))
    }

    fn send(&self, _: &str, _: Json) {}
}

/// The answer of `engine::functions::list`.
fn functions() -> Json {
    let operations = skills_api::functions().map(|operation| {
        json!({
            "function_id": operation.id,
            "namespace": "default",
            "worker_name": "skills",
            "description": operation.description,
        })
    });
    let functions: Vec<_> = operations.collect();
    to_raw_value(&json!({ "functions": functions })).expect("a value is JSON")
}
