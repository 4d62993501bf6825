//! The registry on a data directory, without an engine: what commands use when no engine
//! is running.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Engine, Error, Json, Registry};
use skills_files::Sources;
use skills_iii::state::{Changes, FILE_NAME, StateChange, StateError};

use super::checks::{add_checks, add_store_check};
use super::sources::{self, FileCounts};
use super::{file_sources, registry, scopes};
use crate::config::LoadedConfig;
use crate::engine::{EmptyEngine, LocalEngine};

/// A registry that reads and writes the rows of a data directory itself.
pub struct LocalRegistry {
    /// Where the rows are.
    pub data_dir: PathBuf,
    /// The functions that are not operations of the registry.
    pub engine: Arc<LocalEngine>,
    /// The registry. Every read asks the store unless [`follow`](Self::follow) runs.
    pub registry: Arc<Registry>,
    sources: Sources,
    scopes: [String; 3],
}

impl LocalRegistry {
    /// Opens the data directory, creating it if necessary.
    pub fn open(data_dir: PathBuf, loaded: &LoadedConfig) -> Result<Self, StateError> {
        let engine = LocalEngine::open(&data_dir)?;
        let sources = file_sources(loaded);
        let registry = registry(Arc::clone(&engine) as _, loaded, sources.for_registry());
        engine.serve(&registry);
        add_store_check(&registry, data_dir.clone());
        add_checks(&registry, loaded, &sources);
        Ok(Self {
            data_dir,
            engine,
            registry,
            sources,
            scopes: scopes(&loaded.config),
        })
    }

    /// The registry of a data directory that is not created: without one, the files alone.
    pub fn existing(data_dir: &Path, loaded: &LoadedConfig) -> Result<Arc<Registry>, StateError> {
        let engine: Arc<dyn Engine> = if data_dir.join(FILE_NAME).is_file() {
            LocalEngine::open(data_dir)?
        } else {
            Arc::new(EmptyEngine)
        };
        Ok(registry(
            engine,
            loaded,
            file_sources(loaded).for_registry(),
        ))
    }

    /// Loads the registry and returns a future that publishes every later change: of rows,
    /// also by other processes, and of files.
    pub async fn follow(&self) -> Result<impl Future<Output = ()> + use<'_>, Error> {
        let changes = self.engine.store().changes();
        self.registry.connected(true);
        self.registry.load().await?;
        let mut files = self.sources.changes();
        if !self.sources.is_empty() {
            // The first call returns at once: it records what is served now.
            files.next().await?;
        }
        Ok(async move {
            let counts = FileCounts::default();
            let files = sources::publish_changes(files, &self.registry, &counts);
            tokio::join!(self.follow_rows(changes), files);
        })
    }

    async fn follow_rows(&self, mut changes: Changes) {
        while let Some(change) = changes.recv().await {
            for event in self.events(&change) {
                if let Err(error) = self.registry.apply_state_event(&event).await {
                    tracing::warn!("{}", error.to_text());
                }
            }
        }
    }

    /// A change of the store in the form of an engine's `state` trigger.
    fn events(&self, change: &StateChange) -> Vec<Json> {
        #[derive(Serialize)]
        struct Event<'a> {
            scope: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            key: Option<&'a str>,
            new_value: Option<&'a RawValue>,
        }
        let event = |scope, key, new_value| {
            let event = Event {
                scope,
                key,
                new_value,
            };
            to_raw_value(&event).expect("an event is JSON")
        };
        match change {
            StateChange::Row {
                scope, key, new, ..
            } => vec![event(scope, Some(key), new.as_deref())],
            StateChange::Reload => {
                let scopes = self.scopes.iter();
                scopes.map(|scope| event(scope, None, None)).collect()
            }
        }
    }

    /// Waits until every write is on disk and closes the store.
    pub fn close(&self) {
        self.engine.store().close();
    }
}
