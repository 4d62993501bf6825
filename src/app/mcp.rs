//! The registry over the Model Context Protocol: builds the handler wherever the
//! registry is.

use std::sync::Arc;

use skills_core::Registry;
use skills_iii::client::Handler as Bell;
use skills_iii::{Client, Event};
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::follow::{self, Follower};
use super::reach::{self, Place, ReachError, Reached, Reaching};
use super::{GOODBYE, registry, scopes};
use crate::config::Loaded;
use crate::engine::Wire;
use crate::mcp::Handler;

/// Speaks the protocol on stdin and stdout until the client or `stop` ends it.
pub async fn mcp(
    reaching: Reaching,
    loaded: &Loaded,
    stop: CancellationToken,
) -> Result<(), ReachError> {
    let Reached { client, place } = reach::approach(reaching, loaded).await?;
    let mut tasks = JoinSet::new();
    let registry = match &place {
        Place::Here { data_dir, home } => {
            tracing::info!(data = %data_dir.display(), "ready, on the data directory");
            Arc::clone(&home.registry)
        }
        Place::Engine { url } => {
            tracing::info!(url, "ready, through the engine");
            let registry = registry(&client, &loaded.config, None);
            let follower = Follower::new(
                client.clone(),
                Arc::clone(&registry),
                &scopes(&loaded.config),
            );
            tasks.spawn(follow(client.clone(), follower));
            registry
        }
    };
    let handler = handler(&client, registry, loaded, stop.clone());
    tasks.spawn(watch_functions(client.clone(), handler.clone()));
    if let Err(error) = crate::mcp::stdio::serve(handler, stop).await {
        tracing::error!(%error, "the conversation ended");
    }
    tasks.shutdown().await;
    match place {
        Place::Engine { .. } => client.shutdown(GOODBYE).await,
        Place::Here { home, .. } => home.close().await,
    }
    Ok(())
}

/// The surface on a registry and the engine it lives on.
pub(super) fn handler(
    client: &Client,
    registry: Arc<Registry>,
    loaded: &Loaded,
    stop: CancellationToken,
) -> Handler {
    let engine = Arc::new(Wire::new(client.clone()));
    Handler::new(registry, engine, loaded.config.mcp_settings(), stop)
}

/// Follows state on an engine that somebody else runs, offering nothing there.
async fn follow(client: Client, follower: Follower) {
    let mut events = client.events();
    // Connected before anybody listened; the event may or may not follow.
    let mut known = client.worker_id();
    if known.is_some() {
        follower.arrived().await;
    }
    loop {
        match events.recv().await {
            Ok(Event::Connected { worker_id }) if known.as_ref() == Some(&worker_id) => {}
            Ok(Event::Connected { worker_id }) => {
                known = Some(worker_id);
                follower.arrived().await;
            }
            Ok(Event::Disconnected { reason }) => {
                tracing::warn!(reason, "the engine is gone; trying again");
                follower.left();
            }
            Ok(Event::TriggerRefused {
                id,
                trigger_type,
                error,
                ..
            }) => follower.refused(&id, &trigger_type, &error),
            Ok(Event::Rejected(_)) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Has clients told when the functions on the engine are others.
pub(super) async fn watch_functions(client: Client, handler: Handler) {
    let moved = Arc::new(Notify::new());
    let rung = Arc::clone(&moved);
    let ring: Bell = Arc::new(move |_| {
        rung.notify_one();
        Box::pin(std::future::ready(Ok(None)))
    });
    let bell = format!("skills::function-bell-{}", Uuid::new_v4());
    follow::ring_for(&client, "engine::functions-available", &bell, ring);
    let mut events = client.events();
    loop {
        tokio::select! {
            () = moved.notified() => {}
            event = events.recv() => match event {
                // Another engine, perhaps, with other functions.
                Ok(Event::Connected { .. }) => {}
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            },
        }
        handler.functions_changed().await;
    }
}
