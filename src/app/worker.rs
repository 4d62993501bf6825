//! The registry as a worker: offers the table of functions on a connection, follows
//! state, and steps in when another instance goes.
//!
//! The first function of the table is the lock: of several instances on one engine,
//! whoever has it offers the rest and the trigger types. The others say who it is,
//! wait, and take over when it is gone.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::Registry;
use skills_iii::client::{
    FunctionSpec, Handler, Trigger, TriggerProvider, TriggerSpec, TriggerTypeSpec,
};
use skills_iii::{CallError, Client, ErrorBody, Event};
use tokio::sync::{Notify, broadcast, watch};
use uuid::Uuid;

use crate::functions::{FUNCTIONS, Function, TRIGGER_TYPES, TriggerType, code};

/// How long the engine may take to answer a question about itself.
const PATIENCE: Duration = Duration::from_secs(5);
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
    /// Ours alone: another instance has its own.
    doorbell: String,
    bell: String,
    state_triggers: Vec<String>,
    /// Rung when some worker came or went.
    moved: Arc<Notify>,
    serving: watch::Sender<bool>,
}

/// What an instance is on its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Owner,
    Standby { owner: String },
}

impl Worker {
    /// Offers the registry on `client`.
    pub fn new(client: Client, registry: Arc<Registry>, scopes: &[&str]) -> Self {
        let me = Uuid::new_v4();
        let worker = Self {
            client,
            registry,
            doorbell: format!("skills::doorbell-{me}"),
            bell: format!("skills::worker-bell-{me}"),
            state_triggers: scopes.iter().map(|_| Uuid::new_v4().to_string()).collect(),
            moved: Arc::new(Notify::new()),
            serving: watch::Sender::new(false),
        };
        worker.follow_state(scopes);
        worker.follow_workers();
        worker.offer(&FUNCTIONS[0]);
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
        if known.is_some() {
            self.arrived().await;
        }
        loop {
            match events.recv().await {
                Ok(Event::Connected { worker_id }) if known.as_ref() == Some(&worker_id) => {}
                Ok(Event::Connected { worker_id }) => {
                    known = Some(worker_id);
                    self.arrived().await;
                }
                Ok(Event::Disconnected { reason }) => {
                    tracing::warn!(reason, "the engine is gone; trying again");
                    self.left();
                }
                Ok(Event::Rejected(rejected)) if rejected.function_id.is_none() => {
                    tracing::warn!(name = rejected.worker_name, "another worker has our name");
                }
                Ok(Event::TriggerRefused {
                    trigger_type,
                    error,
                    ..
                }) => {
                    tracing::warn!(trigger_type, %error, "refused; every read will ask the engine");
                    self.registry.connected(false);
                }
                // Which functions are taken shows when asking who serves.
                Ok(Event::Rejected(_)) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    /// A connection begins: look whether state can be followed, load, and find out
    /// who serves.
    async fn arrived(&self) {
        let watched = self.state_is_followed().await;
        if !watched {
            tracing::warn!("the engine does not ring for state; every read will ask it");
        }
        self.registry.connected(watched);
        if let Err(error) = self.registry.load().await {
            tracing::warn!("{}", error.to_text());
        }
        while self.client.worker_id().is_some() {
            match self.role().await {
                Ok(Role::Owner) => {
                    self.serve();
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
        for function in &FUNCTIONS[1..] {
            self.client.unregister_function(function.id);
        }
        for kind in TRIGGER_TYPES {
            self.client.unregister_trigger_type(kind.id);
        }
    }

    /// We have the lock: offer everything.
    fn serve(&self) {
        for function in &FUNCTIONS[1..] {
            self.offer(function);
        }
        for kind in TRIGGER_TYPES {
            let spec = TriggerTypeSpec {
                id: kind.id.into(),
                description: kind.about.into(),
                ..TriggerTypeSpec::default()
            };
            let subscribers = Subscribers {
                registry: Arc::clone(&self.registry),
                kind,
            };
            self.client
                .register_trigger_type(spec, Arc::new(subscribers));
        }
        let (functions, types) = (FUNCTIONS.len(), TRIGGER_TYPES.len());
        tracing::info!("serving: {functions} functions and {types} trigger types registered");
        self.serving.send_replace(true);
    }

    async fn wait_for_owner_to_go(&self, owner: &str) {
        loop {
            let told = self.moved.notified();
            let _ = tokio::time::timeout(LOOK, told).await;
            self.client.reclaim();
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
        let lock = FUNCTIONS[0].id;
        for _ in 0..ATTEMPTS {
            let asked = json!({ "function_id": lock });
            match self.ask::<Info>("engine::functions::info", &asked).await {
                Ok(Some(Info {
                    worker_name: Some(name),
                })) if name == self.client.name() => {
                    return Ok(Role::Owner);
                }
                Ok(Some(Info {
                    worker_name: Some(owner),
                })) => return Ok(Role::Standby { owner }),
                // An engine that cannot tell: no rejection is the only sign there is.
                Err(CallError::NotFound(_)) if self.client.rejected().is_empty() => {
                    return Ok(Role::Owner);
                }
                Ok(_) | Err(CallError::NotFound(_) | CallError::Remote(_)) => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(AGAIN).await;
        }
        let owner = self
            .client
            .rejected()
            .into_iter()
            .find_map(|rejected| rejected.owner_worker_id);
        Ok(owner.map_or(Role::Owner, |owner| Role::Standby { owner }))
    }

    fn offer(&self, function: &'static Function) {
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
            description: Some(function.about.into()),
            request_format: Some(raw(&(function.request)())),
            response_format: Some(raw(&(function.response)())),
            metadata,
        };
        self.client.register_function(spec, handler);
    }

    /// Has the engine call our doorbell for every write to the two scopes.
    fn follow_state(&self, scopes: &[&str]) {
        let registry = Arc::clone(&self.registry);
        let ring: Handler = Arc::new(move |event| {
            let registry = Arc::clone(&registry);
            Box::pin(async move {
                if let Err(error) = registry.doorbell(&event).await {
                    tracing::warn!("{}", error.to_text());
                }
                Ok(None)
            })
        });
        self.offer_bell(&self.doorbell, "A row of state changed.", ring);
        for (scope, id) in scopes.iter().zip(&self.state_triggers) {
            self.client.register_trigger(TriggerSpec {
                id: id.clone(),
                trigger_type: "state".into(),
                function_id: self.doorbell.clone(),
                config: raw(&json!({ "scope": scope })),
                metadata: None,
            });
        }
    }

    /// Has the engine tell us when some worker comes or goes.
    fn follow_workers(&self) {
        let moved = Arc::clone(&self.moved);
        let ring: Handler = Arc::new(move |_| {
            moved.notify_one();
            Box::pin(std::future::ready(Ok(None)))
        });
        self.offer_bell(&self.bell, "A worker came or went.", ring);
        self.client.register_trigger(TriggerSpec {
            id: Uuid::new_v4().to_string(),
            trigger_type: "engine::workers-available".into(),
            function_id: self.bell.clone(),
            config: raw(&json!({})),
            metadata: None,
        });
    }

    /// A function for the engine to call, not for anybody else.
    fn offer_bell(&self, id: &str, about: &str, ring: Handler) {
        let spec = FunctionSpec {
            id: id.into(),
            description: Some(about.into()),
            metadata: Some(raw(&json!({ "internal": true }))),
            ..FunctionSpec::default()
        };
        self.client.register_function(spec, ring);
    }

    /// Whether the engine has taken our triggers on state.
    async fn state_is_followed(&self) -> bool {
        #[derive(Deserialize)]
        struct Listed {
            id: String,
        }
        #[derive(Deserialize)]
        struct Types {
            triggers: Vec<Listed>,
        }
        #[derive(Deserialize)]
        struct Registered {
            #[serde(alias = "triggers")]
            registered_triggers: Vec<Listed>,
        }
        for _ in 0..ATTEMPTS {
            let nothing = json!({});
            if let Ok(Some(types)) = self.ask::<Types>("engine::triggers::list", &nothing).await
                && !types.triggers.iter().any(|kind| kind.id == "state")
            {
                return false;
            }
            let registered = self
                .ask::<Registered>("engine::registered-triggers::list", &nothing)
                .await;
            match registered {
                Ok(Some(Registered {
                    registered_triggers: all,
                })) => {
                    let known = |id: &String| all.iter().any(|trigger| trigger.id == *id);
                    if self.state_triggers.iter().all(known) {
                        return true;
                    }
                }
                Ok(None) | Err(CallError::Remote(_)) => {}
                Err(_) => return false,
            }
            tokio::time::sleep(AGAIN).await;
        }
        false
    }

    async fn ask<T: for<'de> Deserialize<'de>>(
        &self,
        function: &str,
        input: &serde_json::Value,
    ) -> Result<Option<T>, CallError> {
        let answer = self
            .client
            .call_idempotent(function, raw(input), PATIENCE)
            .await?;
        Ok(answer.and_then(|answer| serde_json::from_str(answer.get()).ok()))
    }
}

/// Those who subscribed to one trigger type.
struct Subscribers {
    registry: Arc<Registry>,
    kind: &'static TriggerType,
}

impl TriggerProvider for Subscribers {
    fn on_register(&self, trigger: Trigger) -> Result<(), ErrorBody> {
        self.kind
            .subscribe(&self.registry, &trigger.id, &trigger.function_id);
        Ok(())
    }

    fn on_unregister(&self, trigger_id: &str) {
        self.registry.unsubscribe(trigger_id);
    }
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value is JSON")
}
