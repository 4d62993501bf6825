//! The registry as a worker: offers the table of functions on a connection, follows
//! state, and steps in when another instance goes.
//!
//! The first function of the table is the lock: of several instances on one engine,
//! whoever has it offers the rest and the trigger types. The others say who it is,
//! wait, and take over when it is gone.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use skills_core::Registry;
use skills_iii::client::{FunctionSpec, Handler, TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_iii::{CallError, Client, ErrorBody, Event};
use tokio::sync::{Notify, broadcast, watch};
use uuid::Uuid;

use super::follow::{self, Follower, ask, raw};
use skills_api::{OPERATIONS, Operation, TRIGGER_TYPES, TriggerType, code, functions};

/// The pause before asking again whether the engine has taken what we said.
const AGAIN: Duration = Duration::from_millis(20);
/// How often that is asked before the answer counts.
const ATTEMPTS: usize = 50;
/// How often a standby looks by itself, should it not be told.
const LOOK: Duration = Duration::from_secs(2);

/// A worker that serves a registry on a client until told to stop.
pub struct Worker {
    client: Client,
    registry: Arc<Registry>,
    /// None where every read asks state.
    follower: Option<Follower>,
    /// Ours alone: another instance has its own.
    bell: String,
    /// Rung when some worker came or went.
    moved: Arc<Notify>,
    serving: watch::Sender<bool>,
}

type Work<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What an instance is on its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Owner,
    Standby { owner: String },
}

impl Worker {
    /// Offers the registry on `client`, and follows these scopes of state, if any.
    pub fn new(client: Client, registry: Arc<Registry>, scopes: Option<&[&str]>) -> Self {
        let follow = |scopes| Follower::new(client.clone(), Arc::clone(&registry), scopes);
        let worker = Self {
            follower: scopes.map(follow),
            client,
            registry,
            bell: format!("skills::worker-bell-{}", Uuid::new_v4()),
            moved: Arc::new(Notify::new()),
            serving: watch::Sender::new(false),
        };
        worker.follow_workers();
        worker.offer(&OPERATIONS[0]);
        worker
    }

    /// Whether everything is registered, now and from now on.
    pub fn serving(&self) -> watch::Receiver<bool> {
        self.serving.subscribe()
    }

    /// Follows the connection for as long as it is polled.
    pub async fn run(self) {
        let mut events = self.client.events();
        // Connected before anybody listened; the event may or may not follow.
        let mut known = self.client.worker_id();
        // What is to be done on this connection: dropped with it, or a standby that still
        // waits would go on on the next one with what it knew of the last.
        let mut work: Work<'_> = match known {
            Some(_) => Box::pin(self.arrived()),
            None => Box::pin(pending()),
        };
        loop {
            let event = tokio::select! {
                biased;
                event = events.recv() => event,
                () = &mut work => {
                    work = Box::pin(pending());
                    continue;
                }
            };
            match event {
                Ok(Event::Connected { worker_id }) if known.as_ref() == Some(&worker_id) => {}
                Ok(Event::Connected { worker_id }) => {
                    known = Some(worker_id);
                    work = Box::pin(self.arrived());
                }
                Ok(Event::Disconnected { reason }) => {
                    tracing::warn!(reason, "the engine is gone; trying again");
                    work = Box::pin(pending());
                    self.left();
                }
                Ok(Event::RegistrationRejected(rejected)) if rejected.function_id.is_none() => {
                    tracing::warn!(name = rejected.worker_name, "another worker has our name");
                }
                Ok(Event::ConnectionRefused { status }) => follow::say_turned_away(status),
                Ok(Event::TriggerRejected {
                    id,
                    trigger_type,
                    error,
                    ..
                }) => {
                    if let Some(follower) = &self.follower {
                        follower.refused(&id, &trigger_type, &error);
                    }
                }
                // Which functions are taken shows when asking who serves.
                Ok(Event::RegistrationRejected(_))
                | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    /// A connection begins: look whether state can be followed, load, and find out
    /// who serves.
    async fn arrived(&self) {
        if let Some(follower) = &self.follower {
            follower.arrived().await;
        }
        while self.client.worker_id().is_some() {
            match self.role().await {
                Ok(Role::Owner) => {
                    self.serve().await;
                    return;
                }
                Ok(Role::Standby { owner }) => {
                    tracing::warn!(owner, "another instance serves; standing by until it goes");
                    self.wait_for_owner_to_go(&owner).await;
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot ask the engine who serves");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    fn left(&self) {
        self.registry.disconnected();
        self.serving.send_replace(false);
        // The next engine is asked for the lock alone again.
        for function in functions().skip(1) {
            self.client.unregister_function(function.id);
        }
        for kind in TRIGGER_TYPES {
            self.client.unregister_trigger_type(kind.id);
        }
    }

    /// We have the lock: offer everything.
    async fn serve(&self) {
        for function in functions().skip(1) {
            self.offer(function);
        }
        for kind in TRIGGER_TYPES {
            let spec = TriggerTypeSpec {
                id: kind.id.into(),
                description: kind.description.into(),
                ..TriggerTypeSpec::default()
            };
            let subscribers = Subscribers {
                registry: Arc::clone(&self.registry),
                kind,
            };
            self.client
                .register_trigger_type(spec, Arc::new(subscribers));
        }
        // The engine takes what we say in order: once it has answered, it has everything, and
        // whoever is let in now finds it. An engine that is gone is noticed elsewhere.
        let last = json!({ "function_id": functions().next_back().map(|last| last.id) });
        let _ = ask::<serde_json::Value>(&self.client, "engine::functions::info", &last).await;
        let (functions, types) = (functions().count(), TRIGGER_TYPES.len());
        tracing::info!("serving: {functions} functions and {types} trigger types registered");
        self.serving.send_replace(true);
    }

    async fn wait_for_owner_to_go(&self, owner: &str) {
        loop {
            let told = self.moved.notified();
            let _ = tokio::time::timeout(LOOK, told).await;
            self.client.retry_rejected_functions();
            match self.role().await {
                Ok(Role::Standby { owner: still }) if still == owner => {}
                _ => return,
            }
        }
    }

    /// Who has the lock. The engine takes registrations in its own time, so nobody
    /// having it is asked again.
    async fn role(&self) -> Result<Role, CallError> {
        #[derive(Deserialize)]
        struct Info {
            #[serde(default)]
            worker_name: Option<String>,
        }
        let lock = OPERATIONS[0].id;
        for _ in 0..ATTEMPTS {
            let asked = json!({ "function_id": lock });
            match ask::<Info>(&self.client, "engine::functions::info", &asked).await {
                Ok(Some(Info {
                    worker_name: Some(name),
                })) if name == self.client.name() => {
                    return Ok(Role::Owner);
                }
                Ok(Some(Info {
                    worker_name: Some(owner),
                })) => return Ok(Role::Standby { owner }),
                // An engine that cannot tell: no rejection is the only sign there is.
                Err(CallError::NotFound(_)) if self.client.rejected_functions().is_empty() => {
                    return Ok(Role::Owner);
                }
                Ok(_) | Err(CallError::NotFound(_) | CallError::Remote(_)) => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(AGAIN).await;
        }
        let owner = self
            .client
            .rejected_functions()
            .into_iter()
            .find_map(|rejected| rejected.owner_worker_id);
        Ok(owner.map_or(Role::Owner, |owner| Role::Standby { owner }))
    }

    fn offer(&self, function: &'static Operation) {
        let registry = Arc::clone(&self.registry);
        let handler: Handler = Arc::new(move |payload| {
            let registry = Arc::clone(&registry);
            Box::pin(async move {
                let answer = (function.run)(registry, payload).await;
                answer
                    .map(Some)
                    .map_err(|e| ErrorBody::new(code(e.kind()), e.to_text()))
            })
        });
        let metadata = function
            .label
            .map(|label| raw(&json!({ "label": label, "title": label })));
        let spec = FunctionSpec {
            id: function.id.into(),
            description: Some(function.description.into()),
            request_format: Some(raw(&function.request_schema())),
            response_format: Some(raw(&function.response_schema())),
            metadata,
            ..FunctionSpec::default()
        };
        self.client.register_function(spec, handler);
    }

    /// Has the engine tell us when some worker comes or goes.
    fn follow_workers(&self) {
        let moved = Arc::clone(&self.moved);
        let ring: Handler = Arc::new(move |_| {
            moved.notify_one();
            Box::pin(std::future::ready(Ok(None)))
        });
        follow::ring_for(&self.client, "engine::workers-available", &self.bell, ring);
    }
}

/// Those who subscribed to one trigger type.
struct Subscribers {
    registry: Arc<Registry>,
    kind: &'static TriggerType,
}

impl TriggerProvider for Subscribers {
    fn on_register(&self, trigger: TriggerSpec) -> Result<(), ErrorBody> {
        self.kind
            .subscribe(&self.registry, &trigger.id, &trigger.function_id);
        Ok(())
    }

    fn on_unregister(&self, trigger_id: &str) {
        self.registry.unsubscribe(trigger_id);
    }
}
