//! The registry as a worker: offers the operations on a connection and follows state.
//!
//! The first operation of the table is the lock: of several instances on one engine, the
//! one that owns it offers the others and the trigger types. The rest stand by and take
//! over when the owner disconnects.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use skills_api::{OPERATIONS, Operation, TRIGGER_TYPES, TriggerType, code, functions};
use skills_core::{Error, Registry};
use skills_iii::client::{FunctionSpec, Handler, TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_iii::{CallError, Client, ErrorBody};
use tokio::sync::{Notify, watch};

use super::engine_events::{EngineListener, follow_connection};
use super::metrics::{Metrics, Surface};
use super::state_follower::StateFollower;
use super::triggers::{RETRY_MAX, RETRY_PAUSE, ask, raw, subscribe};

/// How often a standby asks for the owner if no event arrives.
const STANDBY_POLL: Duration = Duration::from_secs(2);

/// A worker that serves a registry on a client.
pub struct Worker {
    client: Client,
    registry: Arc<Registry>,
    follower: StateFollower,
    /// Notified when a worker connects or disconnects.
    workers_changed: Arc<Notify>,
    metrics: Option<Arc<Metrics>>,
    serving: watch::Sender<bool>,
}

/// What an instance is on its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Owner,
    Standby { owner: String },
}

impl Worker {
    /// Offers the registry on `client` and follows these scopes of state. Calls are counted in
    /// `metrics`.
    pub fn new(
        client: Client,
        registry: Arc<Registry>,
        scopes: &[String],
        metrics: Option<Arc<Metrics>>,
    ) -> Self {
        let workers_changed = Arc::new(Notify::new());
        let notify = Arc::clone(&workers_changed);
        let handler: Handler = Arc::new(move |_| {
            notify.notify_one();
            Box::pin(std::future::ready(Ok(None)))
        });
        let trigger_type = "engine::workers-available";
        subscribe(
            &client,
            "workers-changed",
            trigger_type,
            &json!({}),
            handler,
        );
        let worker = Self {
            follower: StateFollower::new(client.clone(), Arc::clone(&registry), scopes),
            client,
            registry,
            workers_changed,
            metrics,
            serving: watch::Sender::new(false),
        };
        worker.offer(lock());
        worker
    }

    /// Whether everything is registered, now and later.
    pub fn serving(&self) -> watch::Receiver<bool> {
        self.serving.subscribe()
    }

    /// Follows the connection for as long as the client lives.
    pub async fn run(self) {
        follow_connection(&self.client, &self).await;
    }

    /// This instance owns the lock: offer everything.
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
        // The engine processes messages in order: after this answer it knows everything
        // above. A lost connection is noticed elsewhere.
        let last = json!({ "function_id": functions().next_back().map(|last| last.id) });
        let _ = ask::<Value>(&self.client, "engine::functions::info", &last).await;
        let (functions, types) = (functions().count(), TRIGGER_TYPES.len());
        tracing::debug!("serving: {functions} functions and {types} trigger types registered");
        self.serving.send_replace(true);
    }

    async fn wait_for_owner_to_go(&self, owner: &str) {
        loop {
            let changed = self.workers_changed.notified();
            let _ = tokio::time::timeout(STANDBY_POLL, changed).await;
            self.client.retry_rejected_functions();
            match self.role().await {
                Ok(Role::Standby { owner: still }) if still == owner => {}
                _ => return,
            }
        }
    }

    /// Who owns the lock. The engine processes registrations asynchronously, so an answer
    /// without an owner is asked for again.
    async fn role(&self) -> Result<Role, CallError> {
        #[derive(Deserialize)]
        struct Info {
            #[serde(default)]
            worker_name: Option<String>,
        }
        let lock = lock().id;
        for _ in 0..RETRY_MAX {
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
                // The engine has no such function: then no rejection means ownership.
                Err(CallError::NotFound(_)) if self.client.rejected_functions().is_empty() => {
                    return Ok(Role::Owner);
                }
                Ok(_) | Err(CallError::NotFound(_) | CallError::Remote(_)) => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(RETRY_PAUSE).await;
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
        let metrics = self.metrics.as_ref();
        let metrics = metrics.map(|metrics| metrics.operation(Surface::Engine, function.id));
        let handler: Handler = Arc::new(move |payload| {
            let (registry, metrics) = (Arc::clone(&registry), metrics.clone());
            Box::pin(async move {
                let start = Instant::now();
                let answer = (function.run)(registry, payload).await;
                if let Some(metrics) = metrics {
                    let failure = answer.as_ref().err().map(Error::kind);
                    metrics.answered(start.elapsed(), failure);
                }
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
}

impl EngineListener for Worker {
    async fn connected(&self) {
        self.follower.connected().await;
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
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    fn disconnected(&self) {
        self.follower.disconnected();
        self.serving.send_replace(false);
        // On the next connection only the lock is offered until it is owned.
        for operation in functions().skip(1) {
            self.client.unregister_function(operation.id);
        }
        for kind in TRIGGER_TYPES {
            self.client.unregister_trigger_type(kind.id);
        }
    }

    fn trigger_refused(&self, id: &str, trigger_type: &str, error: &ErrorBody) {
        self.follower.trigger_refused(id, trigger_type, error);
    }
}

/// The subscribers of one trigger type.
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

/// The function whose owner serves.
fn lock() -> &'static Operation {
    &OPERATIONS[0]
}
