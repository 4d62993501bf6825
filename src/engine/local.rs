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
use skills_core::{Engine, Failure, Json, Pending, Registry, StoredRow};
use skills_iii::state::{SqliteState, StateError, StoreOptions};
use skills_iii::{CallError, call_state};

use super::{compact, failure, for_each_row};

/// The state and the operations of one data directory.
pub struct LocalEngine {
    store: Arc<SqliteState>,
    /// Weak: the registry holds this engine.
    registry: OnceLock<Weak<Registry>>,
}

impl LocalEngine {
    /// Opens the data directory, creating it if necessary.
    pub fn open(data_dir: &Path) -> Result<Arc<Self>, StateError> {
        let store = Arc::new(SqliteState::open(data_dir, StoreOptions::default())?);
        Ok(Arc::new(Self {
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
            _ => match call_state(&self.store, function, payload).await {
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
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        Some(for_each_row(&self.store, scope, visit))
    }

    fn compact(&self) -> Pending<'_, Result<Option<u64>, Failure>> {
        Box::pin(compact(&self.store))
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

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use skills_core::RegistrySettings;

    use super::*;

    fn open() -> (tempfile::TempDir, Arc<LocalEngine>, Arc<Registry>) {
        let dir = tempfile::tempdir().unwrap();
        let engine = LocalEngine::open(dir.path()).unwrap();
        let now = || "2026-01-01T00:00:00Z".to_owned();
        let settings = RegistrySettings::default();
        let registry = Registry::new(Arc::clone(&engine) as _, Vec::new(), settings, now);
        let registry = Arc::new(registry);
        engine.serve(&registry);
        (dir, engine, registry)
    }

    async fn call(
        engine: &LocalEngine,
        function: &str,
        input: Value,
    ) -> Result<Option<Json>, Failure> {
        let payload = to_raw_value(&input).unwrap();
        engine
            .call(function, payload, Duration::from_secs(30))
            .await
    }

    async fn put(engine: &LocalEngine, key: &str, value: Value) {
        let input = json!({ "scope": "skills", "key": key, "value": value });
        call(engine, "state::set", input).await.unwrap();
    }

    #[tokio::test]
    async fn a_list_leaves_out_damaged_rows_and_rows_with_the_id_of_another() {
        let (_dir, engine, registry) = open();
        put(&engine, "a", json!({ "id": "a", "skill": "# A\n" })).await;
        put(&engine, "b", json!({ "id": "b", "skill": "\u{fc}" })).await;
        let ids = async || {
            let listing = registry.skills().await.unwrap();
            let entries = listing.entries.iter();
            let entries: Vec<_> = entries.map(|s| (s.id.to_string(), s.bytes)).collect();
            (entries, listing.skipped.len())
        };
        let both = vec![("a".to_owned(), 4), ("b".to_owned(), 2)];
        assert_eq!(ids().await, (both.clone(), 0));
        put(&engine, "c", json!({ "id": "c" })).await;
        assert_eq!(ids().await, (both.clone(), 1));
        put(&engine, "c", json!({ "id": "b", "skill": "\u{fc}" })).await;
        assert_eq!(ids().await.0, both);
    }

    #[tokio::test]
    async fn operations_and_state_can_be_called_and_nothing_else() {
        let (_dir, engine, _registry) = open();
        let input = json!({ "id": "a", "skill": "A" });
        call(&engine, "skills::register", input).await.unwrap();
        let fetched = call(&engine, "skill::fetch", json!({ "uri": "iii://a" })).await;
        assert!(fetched.unwrap().unwrap().get().contains("iii://a"));
        let refused = call(&engine, "skills::register", json!({})).await;
        assert!(matches!(refused, Err(Failure::Failed { code, .. }) if code == "invalid_input"));
        for absent in ["w::greet", "state::nothing", "engine::workers::list"] {
            let result = call(&engine, absent, json!({})).await;
            assert_eq!(result.unwrap_err(), Failure::Absent, "{absent}");
        }
    }
}
