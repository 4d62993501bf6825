//! A skills worker on an engine, and calls through a connection.

use serde_json::Value;
use serde_json::value::to_raw_value;
use skills::app;
use skills::config::{Config, LeaseConfig, LoadedConfig, Scopes};
use skills::engine::remote;
use skills_core::LeaseSettings;
use skills_iii::{CallError, Client, ErrorBody};
use skills_test_support::TIMEOUT;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::backend::CallFailure;

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

/// Calls a function through this connection.
pub async fn ask(client: &Client, function: &str, payload: Value) -> Result<Value, CallFailure> {
    let payload = to_raw_value(&payload).expect("a value is JSON");
    match client.call(function, payload, TIMEOUT).await {
        Ok(Some(answer)) => Ok(serde_json::from_str(answer.get()).expect("a result is JSON")),
        Ok(None) => Ok(Value::Null),
        Err(CallError::Remote(ErrorBody { code, message, .. })) => {
            Err(CallFailure { code, message })
        }
        Err(error) => Err(CallFailure {
            code: "no answer".into(),
            message: error.to_string(),
        }),
    }
}
