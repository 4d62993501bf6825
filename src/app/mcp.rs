//! The registry over the Model Context Protocol: builds the handler wherever the
//! registry is.

use std::sync::Arc;

use serde::Deserialize;
use skills_core::{Change, PromptName, Registry, SkillId, Topic};
use skills_iii::client::Handler as Bell;
use skills_iii::{Client, Event};
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::connect::{self, ConnectError, Connected, Location, Target};
use super::follow::{self, Follower};
use super::{GOODBYE, Stay, scopes, visited_registry};
use crate::config::LoadedConfig;
use crate::engine::ClientEngine;
use skills_mcp::RegistryServer;

/// Speaks the protocol on stdin and stdout until the client or `stop` ends it.
pub async fn mcp(
    place: Target,
    loaded: &LoadedConfig,
    stop: CancellationToken,
) -> Result<(), ConnectError> {
    let mut connected = match place {
        Target::Engine(target) => connect::start(target, loaded, Stay::Long).await?,
        Target::Directory(dir) => connect::start_local(dir, loaded, Stay::Long)?,
    };
    connected.follow_files(loaded);
    let Connected { client, place } = connected;
    let mut tasks = JoinSet::new();
    let registry = match &place {
        Location::Here { data_dir, local } => {
            tracing::info!(data = %data_dir.display(), "ready, on the data directory");
            Arc::clone(&local.registry)
        }
        Location::Engine { url } => {
            tracing::info!(url, "ready, through the engine");
            let registry = visited_registry(&client, &loaded.config);
            follow_documents(&client, &registry);
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
    tasks.spawn(watch_functions(&client, handler.clone()));
    skills_mcp::stdio::serve(handler, stop).await;
    tasks.shutdown().await;
    match place {
        Location::Engine { .. } => client.shutdown(GOODBYE).await,
        Location::Here { local, .. } => local.close().await,
    }
    Ok(())
}

/// The surface on a registry and the engine it lives on.
pub(super) fn handler(
    client: &Client,
    registry: Arc<Registry>,
    loaded: &LoadedConfig,
    stop: CancellationToken,
) -> RegistryServer {
    let engine = Arc::new(ClientEngine::new(client.clone()));
    RegistryServer::new(registry, engine, loaded.config.mcp_settings(), stop)
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
            Ok(Event::ConnectionRefused { status }) => follow::say_turned_away(status),
            Ok(Event::TriggerRejected {
                id,
                trigger_type,
                error,
                ..
            }) => follower.refused(&id, &trigger_type, &error),
            Ok(Event::RegistrationRejected(_)) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Hears from the skills worker on the engine when one of its documents changed; what
/// is in state is followed already.
fn follow_documents(client: &Client, registry: &Arc<Registry>) {
    #[derive(Deserialize)]
    struct Notice {
        op: String,
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        name: Option<String>,
    }
    for topic in Topic::ALL {
        let registry = Arc::clone(registry);
        let ring: Bell = Arc::new(move |notice| {
            let registry = Arc::clone(&registry);
            Box::pin(async move {
                let Ok(Notice { op, id, name }) = serde_json::from_str(notice.get()) else {
                    return Ok(None);
                };
                let here = op == "register";
                let id = id.and_then(|id| id.parse::<SkillId>().ok());
                let name = name.and_then(|name| name.parse::<PromptName>().ok());
                // State rings by itself; which of the two a removal was cannot be told.
                let in_state = match (&id, &name) {
                    _ if !here => Ok(false),
                    (Some(id), _) => registry.is_skill_registered(id).await,
                    (None, Some(name)) => registry.is_prompt_registered(name).await,
                    (None, None) => return Ok(None),
                };
                let change = match (id, name) {
                    (Some(id), _) if here => Change::SkillRegistered(id),
                    (Some(id), _) => Change::SkillUnregistered(id),
                    (None, Some(name)) if here => Change::PromptRegistered(name),
                    (None, Some(name)) => Change::PromptUnregistered(name),
                    (None, None) => return Ok(None),
                };
                if !matches!(in_state, Ok(true)) {
                    registry.publish(&change);
                }
                Ok(None)
            })
        });
        let bell = format!("skills::document-bell-{}", Uuid::new_v4());
        follow::ring_for(client, topic.trigger_type(), &bell, ring);
    }
}

/// Has clients told when the functions on the engine are others. The bell is there when
/// this returns, the rest is for somebody to run.
pub(super) fn watch_functions(
    client: &Client,
    handler: RegistryServer,
) -> impl Future<Output = ()> + use<> {
    let moved = Arc::new(Notify::new());
    let teller = Arc::clone(&moved);
    let ring: Bell = Arc::new(move |_| {
        teller.notify_one();
        Box::pin(std::future::ready(Ok(None)))
    });
    let bell = format!("skills::function-bell-{}", Uuid::new_v4());
    follow::ring_for(client, "engine::functions-available", &bell, ring);
    let mut events = client.events();
    async move {
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
}
