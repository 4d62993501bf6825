//! A skills worker on an engine.

use skills::app;
use skills::config::{Config, LeaseConfig, LoadedConfig, Scopes};
use skills::engine::remote;
use skills_core::LeaseSettings;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The timeout of the registry for a function.
const CALL_TIMEOUT_MS: u64 = 4000;

/// A running worker.
pub struct SocketWorker {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl SocketWorker {
    /// Starts a worker with these scopes.
    pub fn start(url: &str, scopes: &Scopes, leases: LeaseSettings) -> Self {
        let grace_ms = u64::try_from(leases.grace.as_millis()).expect("a short time");
        let config = Config {
            scopes: scopes.clone(),
            state_timeout_ms: CALL_TIMEOUT_MS,
            leases: LeaseConfig {
                remove: leases.remove,
                grace_ms,
            },
            ..Config::default()
        };
        let loaded = LoadedConfig {
            config,
            ..LoadedConfig::default()
        };
        let max_message_bytes = loaded.config.limits.engine_message_bytes;
        let worker = remote::connect_worker(url, None, max_message_bytes);
        let worker = worker.expect("an engine's address");
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            app::work(worker, &loaded, async { drop(stopped.await) }).await;
        });
        Self { stop, task }
    }

    /// Ends it, and waits until it has disconnected.
    pub async fn stop(self) {
        drop(self.stop);
        let _ = self.task.await;
    }
}
