//! Builds the registry, connects it to an engine and to its surfaces, and shuts everything
//! down again. The only module that knows every other one.
//!
//! Start at [`serve`] (everything in one process), [`work`] (a worker on an engine
//! elsewhere), [`mcp`] (one MCP client) or [`LocalRegistry`] (one command on a data
//! directory).

mod address;
mod backup;
mod checks;
mod checkup;
mod connect;
mod data_dir;
mod embedded_registry;
mod engine_events;
mod file_handles;
mod http;
mod leases;
mod lint;
mod local_registry;
mod mcp;
mod memory;
mod metrics;
mod metrics_route;
mod page;
mod registration_findings;
mod serve;
mod served;
mod sources;
mod state_follower;
mod stop_signal;
mod tar_gz;
mod triggers;
mod usage;
mod well_known;
mod worker;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use skills_core::{Engine, Registry, Source};
use skills_files::agents::file::absolute;
use skills_files::{Folders, Sources, clock_time, places};
use skills_iii::Client;
use tokio::sync::watch;
use tracing::Level;

pub use backup::{Archive, ArchiveRow};
pub use checkup::{Checkup, Subject, checkup};
pub use connect::{ConnectError, EngineTarget, Location, Target, locate};
pub use data_dir::data_dir;
pub use embedded_registry::EmbeddedRegistry;
pub use leases::remove_expired;
pub use lint::{lint_collection, lint_file, registered_skill};
pub use local_registry::LocalRegistry;
pub use mcp::mcp;
pub use memory::give_back_memory;
pub use metrics::METRICS;
pub use serve::{Ready, ServeError, ServeOptions, serve};
pub use stop_signal::stop_signal;
pub use triggers::{NotSubscribed, subscribe, wait_subscribed};
pub use usage::finish_usage;

use crate::config::{Config, LoadedConfig};
use crate::engine::{ClientEngine, WorkerSource};
use registration_findings::{finish_findings, keep_findings};
use sources::FileCounts;
use usage::keep_usage;
use worker::Worker;

/// How long calls in progress may take when the program stops.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Logs the warnings about a configuration.
pub fn log_warnings(loaded: &LoadedConfig) {
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
}

/// Serves the registry on `client` until `stop`, then finishes what is in flight.
pub async fn work(client: Client, loaded: &LoadedConfig, stop: impl Future<Output = ()>) {
    let sources = file_sources(loaded);
    let engine = Arc::new(ClientEngine::new(client.clone()));
    let registry = registry(engine, loaded, sources.for_registry());
    checks::add_checks(&registry, loaded, &sources);
    checks::add_engine_check(&registry, &client);
    let worker = Worker::new(
        client.clone(),
        Arc::clone(&registry),
        &scopes(&loaded.config),
        None,
    );
    let report = sources::report(&sources, &registry, worker.serving(), Level::INFO);
    let serving = log_serving(worker.serving());
    let leases = remove_expired(&registry, worker.serving());
    let counts = FileCounts::default();
    let files = sources::publish_changes(sources.changes(), &registry, &counts);
    tokio::select! {
        () = worker.run() => {}
        // The second never ends.
        ((), (), (), ()) = async { tokio::join!(report, files, serving, leases) } => {}
        () = keep_usage(&registry) => {}
        () = keep_findings(&registry) => {}
        () = stop => tracing::info!("stopping"),
    }
    finish_usage(&registry).await;
    finish_findings(&registry).await;
    client.shutdown(SHUTDOWN_TIMEOUT).await;
}

/// Logs whenever the worker begins to serve: at start-up, and after an interruption.
async fn log_serving(mut serving: watch::Receiver<bool>) {
    while serving.wait_for(|serving| *serving).await.is_ok() {
        tracing::info!("serving on the engine");
        if serving.wait_for(|serving| !*serving).await.is_err() {
            return;
        }
    }
}

/// The files that a configuration names. Built once per process: a clone shares the caches.
fn file_sources(loaded: &LoadedConfig) -> Sources {
    let Config {
        skills,
        prompts,
        agents,
        visibility,
        ..
    } = &loaded.config;
    Sources::with_folders(&loaded.base, [skills, prompts, agents], &folders(loaded))
        .with_visibility(visibility.clone())
}

/// The folders that are served without a pattern.
fn folders(loaded: &LoadedConfig) -> Folders {
    let project = loaded.discover_in.as_ref();
    Folders {
        named: loaded.paths.clone(),
        places: project.map_or_else(Vec::new, |project| {
            let project = absolute(project);
            places(&project, std::env::home_dir().as_deref())
        }),
    }
}

fn registry(
    engine: Arc<dyn Engine>,
    loaded: &LoadedConfig,
    sources: Vec<Arc<dyn Source>>,
) -> Arc<Registry> {
    let settings = loaded.config.settings();
    Arc::new(Registry::new(engine, sources, settings, now))
}

/// The registry of an engine elsewhere, with `sources` and the documents of the skills worker
/// there.
fn remote_registry(
    client: &Client,
    loaded: &LoadedConfig,
    mut sources: Vec<Arc<dyn Source>>,
) -> Arc<Registry> {
    let engine: Arc<dyn Engine> = Arc::new(ClientEngine::new(client.clone()));
    let timeout = loaded.config.settings().timeout;
    let documents = WorkerSource::new(Arc::clone(&engine), timeout);
    sources.push(Arc::new(documents));
    registry(engine, loaded, sources)
}

/// The scopes of state that hold the registry.
fn scopes(config: &Config) -> [String; 3] {
    let skills = config.scopes.skills.clone();
    let leases = Registry::leases_scope(&skills);
    [skills, config.scopes.prompts.clone(), leases]
}

/// The time as RFC 3339 in UTC, with microseconds.
pub fn now() -> String {
    clock_time(SystemTime::now())
}
