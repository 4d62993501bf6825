//! The registry with an engine of its own, all in this process.

use std::path::Path;
use std::sync::Arc;

use skills_core::Registry;
use skills_iii::Client;
use skills_iii::state::StateError;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::worker::Worker;
use super::{GOODBYE, files, registry, scopes};
use crate::config::LoadedConfig;
use crate::engine::ClientEngine;
use crate::engine::embedded::Embedded;
use skills_files::Folder;
use skills_files::agents::Agents;

/// How long whoever opens the registry means to use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// For a question or two: each is put to state, and nothing is loaded.
    Short,
    /// For thousands: state is loaded and followed, and answers come from memory.
    Busy,
    /// Until further notice: files are followed too.
    Long,
}

/// An engine on a data directory and the registry that serves there.
pub struct LocalRegistry {
    /// The engine and its store.
    pub embedded: Embedded,
    /// The registry's own connection.
    pub client: Client,
    /// What it serves.
    pub registry: Arc<Registry>,
    serving: watch::Receiver<bool>,
    working: Option<JoinHandle<()>>,
    following: Option<JoinHandle<()>>,
}

impl LocalRegistry {
    /// Opens the data directory and starts serving on it. `token` is required of
    /// whoever is let in from outside.
    pub fn open(
        data_dir: &Path,
        token: Option<String>,
        loaded: &LoadedConfig,
        folder: Option<&Folder>,
        stay: Stay,
    ) -> Result<Self, StateError> {
        let embedded = Embedded::open(data_dir, token)?;
        let client = embedded.attach();
        let engine = ClientEngine::beside(Arc::clone(&embedded.store), client.clone());
        let registry = registry(engine, loaded, folder);
        let scopes = scopes(&loaded.config);
        let followed = (stay != Stay::Short).then_some(&scopes[..]);
        let worker = Worker::new(client.clone(), Arc::clone(&registry), followed);
        Ok(Self {
            embedded,
            client,
            registry,
            serving: worker.serving(),
            working: Some(tokio::spawn(worker.run())),
            following: None,
        })
    }

    /// Whether every function is registered, now and from now on.
    pub fn serving(&self) -> watch::Receiver<bool> {
        self.serving.clone()
    }

    /// Waits until every function is registered; false if that will never be.
    pub async fn ready(&mut self) -> bool {
        self.serving.wait_for(|serving| *serving).await.is_ok()
    }

    /// Announces what changes in the files from now on. Not for whoever asks once and
    /// goes: it looks at every file.
    pub fn follow(&mut self, folder: Option<Folder>, agents: Option<Agents>) {
        let follow = files::follow(folder, agents, Arc::clone(&self.registry));
        if let Some(before) = self.following.replace(tokio::spawn(follow)) {
            before.abort();
        }
    }

    /// Finishes the calls that are being answered; the engine goes on.
    pub async fn leave(&mut self) {
        for task in [self.following.take(), self.working.take()] {
            let Some(task) = task else { continue };
            task.abort();
            // Cancelled by ourselves: there is nothing to learn from how it ended. But it
            // must have, or it would take our leaving for an outage.
            let _ = task.await;
        }
        self.client.shutdown(GOODBYE).await;
    }

    /// Writes what is to be written and lets go of the data directory.
    pub async fn close(mut self) {
        self.leave().await;
        self.embedded.store.close();
    }
}
