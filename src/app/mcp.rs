//! The MCP surface: one handler on the registry, wherever the registry is.

use std::sync::Arc;

use serde_json::json;
use skills_core::{Change, Registry, Topic};
use skills_files::Sources;
use skills_iii::client::Handler;
use skills_iii::{Client, Event};
use skills_mcp::{McpSettings, RegistryServer};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connect::{ConnectError, Location, Target, locate};
use super::embedded_registry::EmbeddedRegistry;
use super::engine_events::follow_connection;
use super::sources::{FileCounts, publish_changes, publish_unless_registered};
use super::state_follower::StateFollower;
use super::triggers::subscribe;
use super::usage::{finish_usage, keep_usage};
use super::{SHUTDOWN_TIMEOUT, folders, remote_registry, scopes};
use crate::config::LoadedConfig;
use crate::engine::ClientEngine;

/// Serves one client on stdin and stdout until the client or `stop` ends it.
pub async fn mcp(
    target: Target,
    loaded: &LoadedConfig,
    stop: CancellationToken,
) -> Result<(), ConnectError> {
    match locate(target).await? {
        Location::Directory(data_dir) => {
            let embedded = EmbeddedRegistry::without_workers(&data_dir, loaded)?;
            tracing::info!(data = %data_dir.display(), "ready, on the data directory");
            let registry = Arc::clone(&embedded.registry);
            serve_stdio(&embedded.client, registry, loaded, stop).await;
            embedded.close().await;
        }
        Location::Engine { client, url } => {
            // The worker on the engine serves the patterns of its own configuration.
            let files = Sources::with_folders(&loaded.base, [&[]; 3], &folders(loaded));
            let registry = remote_registry(&client, loaded, files.for_registry());
            follow_documents(&client, &registry);
            let counts = FileCounts::default();
            let follow_files = publish_changes(files.changes(), &registry, &counts);
            let scopes = scopes(&loaded.config);
            let follower = StateFollower::new(client.clone(), Arc::clone(&registry), &scopes);
            tracing::info!(url, "ready, through the engine");
            tokio::select! {
                () = follow_connection(&client, &follower) => {}
                () = follow_files => {}
                () = keep_usage(&registry) => {}
                () = serve_stdio(&client, Arc::clone(&registry), loaded, stop) => {}
            }
            finish_usage(&registry).await;
            client.shutdown(SHUTDOWN_TIMEOUT).await;
        }
    }
    Ok(())
}

async fn serve_stdio(
    client: &Client,
    registry: Arc<Registry>,
    loaded: &LoadedConfig,
    stop: CancellationToken,
) {
    let server = server(client, registry, loaded, stop.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(watch_functions(client, server.clone()));
    skills_mcp::stdio::serve(server, stop).await;
    tasks.shutdown().await;
}

/// The handler on a registry and its engine.
pub(super) fn server(
    client: &Client,
    registry: Arc<Registry>,
    loaded: &LoadedConfig,
    stop: CancellationToken,
) -> RegistryServer {
    let engine = Arc::new(ClientEngine::new(client.clone()));
    let settings = McpSettings {
        hide: loaded.config.mcp.hide.clone(),
        require_expose: loaded.config.mcp.require_expose,
        no_functions: loaded.config.mcp.no_functions,
        ..McpSettings::default()
    };
    RegistryServer::new(registry, engine, settings, stop)
}

/// Publishes the changes of documents that the skills worker on the engine serves. Changes
/// of state have events of their own.
fn follow_documents(client: &Client, registry: &Arc<Registry>) {
    let registry = Arc::clone(registry);
    let handler: Handler = Arc::new(move |notice| {
        let registry = Arc::clone(&registry);
        Box::pin(async move {
            if let Some(change) = Change::from_payload(&notice) {
                publish_unless_registered(&registry, &change).await;
            }
            Ok(None)
        })
    });
    for topic in Topic::ALL {
        let handler = Arc::clone(&handler);
        let trigger_type = topic.trigger_type();
        subscribe(
            client,
            "document-changed",
            trigger_type,
            &json!({}),
            handler,
        );
    }
}

/// Notifies clients when the functions on the engine change. Subscribes at once; the
/// returned future does the rest.
pub(super) fn watch_functions(
    client: &Client,
    server: RegistryServer,
) -> impl Future<Output = ()> + use<> {
    let changed = Arc::new(Notify::new());
    let notify = Arc::clone(&changed);
    let on_change: Handler = Arc::new(move |_| {
        notify.notify_one();
        Box::pin(std::future::ready(Ok(None)))
    });
    let trigger_type = "engine::functions-available";
    subscribe(
        client,
        "functions-changed",
        trigger_type,
        &json!({}),
        on_change,
    );
    let mut events = client.events();
    async move {
        loop {
            tokio::select! {
                () = changed.notified() => {}
                () = server.called_functions_changed() => {}
                event = events.recv() => match event {
                    // Perhaps another engine, with other functions.
                    Ok(Event::Connected { .. }) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                },
            }
            server.functions_changed().await;
        }
    }
}
