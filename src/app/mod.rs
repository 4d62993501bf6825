//! The only place that knows every room: builds the registry, joins it to an engine
//! and to its surfaces, and shuts everything down again.

mod address;
mod agents;
mod checkup;
mod connect;
mod data_dir;
mod files;
mod follow;
mod http;
mod local_registry;
mod mcp;
mod serve;
mod signal;
mod worker;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use skills_core::{Engine, Registry, Source};
use skills_iii::Client;

pub use checkup::{Checkup, EngineHealth, Shadowed, StoreHealth, checkup};
pub use connect::{ConnectError, Connected, EngineTarget, Location, Target, connect, open_local};
pub use data_dir::data_dir;
pub use local_registry::{LocalRegistry, Stay};
pub use mcp::mcp;
pub use serve::{ServeError, ServeOptions, serve};
pub use signal::stop_signal;

use crate::config::{Config, LoadedConfig};
use crate::engine::ClientEngine;
use crate::engine::peer::Peer;
use skills_files::{Folder, rfc3339};
use worker::Worker;

/// How long calls that are being answered may take when the program stops.
const GOODBYE: Duration = Duration::from_secs(5);

/// Says what is wrong with a configuration.
pub fn warn_about(loaded: &LoadedConfig) {
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
}

/// Serves the registry on `client` until `stop`, then finishes what is in flight.
pub async fn work(client: Client, loaded: &LoadedConfig, stop: impl Future<Output = ()>) {
    let folder = files::folder(loaded);
    let registry = registry(ClientEngine::new(client.clone()), loaded, folder.as_ref());
    let scopes = scopes(&loaded.config);
    let worker = Worker::new(client.clone(), Arc::clone(&registry), Some(&scopes));
    let report = files::boot_report(folder.clone(), Arc::clone(&registry), worker.serving());
    let agents = agents::boot_report(agents::agents(loaded));
    let follow = files::follow(folder, agents::agents(loaded), registry);
    let files = async {
        tokio::join!(report, agents, follow);
        // Without files all end at once, and the work goes on.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = worker.run() => {}
        () = files => {}
        () = stop => tracing::info!("stopping"),
    }
    client.shutdown(GOODBYE).await;
}

fn registry(engine: ClientEngine, loaded: &LoadedConfig, folder: Option<&Folder>) -> Arc<Registry> {
    let source = |folder: &Folder| Arc::new(folder.clone()) as Arc<dyn Source>;
    let mut sources: Vec<_> = folder.map(source).into_iter().collect();
    sources.extend(agents::source(loaded));
    let settings = loaded.config.settings();
    Arc::new(Registry::new(Arc::new(engine), sources, settings, now))
}

/// The registry of an engine that somebody else runs, with the documents that the
/// skills worker there serves.
fn visited_registry(client: &Client, config: &Config) -> Arc<Registry> {
    let engine: Arc<dyn Engine> = Arc::new(ClientEngine::new(client.clone()));
    let settings = config.settings();
    let peer = Peer::new(Arc::clone(&engine), settings.timeout);
    let sources: Vec<Arc<dyn Source>> = vec![Arc::new(peer)];
    Arc::new(Registry::new(engine, sources, settings, now))
}

/// The scopes of state that a worker follows.
fn scopes(config: &Config) -> [&str; 2] {
    [&config.scopes.skills, &config.scopes.prompts]
}

/// The time as RFC 3339 in UTC, with microseconds.
fn now() -> String {
    rfc3339(SystemTime::now()).expect("the clock shows a year that RFC 3339 can express")
}
