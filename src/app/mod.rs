//! The only place that knows every room: builds the registry, joins it to an engine
//! and to its surfaces, and shuts everything down again.

mod data_dir;
mod http;
mod serve;
mod signal;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use skills_core::Registry;
use skills_iii::Client;

pub use data_dir::data_dir;
pub use serve::{ServeError, Serving, serve};
pub use signal::stop_signal;

use crate::config::{Config, Loaded};
use crate::engine::Wire;
use worker::Worker;

/// How long calls that are being answered may take when the program stops.
const GOODBYE: Duration = Duration::from_secs(5);

/// Says what is wrong with a configuration.
pub fn warn_about(loaded: &Loaded) {
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    if !loaded.config.skills.is_empty() || !loaded.config.prompts.is_empty() {
        tracing::warn!("`skills` and `prompts` patterns are read, but files are not served yet");
    }
}

/// Serves the registry on `client` until `stop`, then finishes what is in flight.
pub async fn work(client: Client, config: &Config, stop: impl Future<Output = ()>) {
    let registry = registry(&client, config);
    let scopes = [
        config.scopes.skills.as_str(),
        config.scopes.prompts.as_str(),
    ];
    let worker = Worker::new(client.clone(), registry, &scopes);
    tokio::select! {
        () = worker.run() => {}
        () = stop => tracing::info!("stopping"),
    }
    client.shutdown(GOODBYE).await;
}

fn registry(client: &Client, config: &Config) -> Arc<Registry> {
    let engine = Arc::new(Wire::new(client.clone()));
    Arc::new(Registry::new(engine, Vec::new(), config.settings(), now))
}

/// The time as RFC 3339 in UTC, with microseconds.
fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string()
}
