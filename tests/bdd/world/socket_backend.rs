//! The backend over a socket: a skills worker on an engine, and a peer that calls it.
//!
//! Each scenario has an embedded engine, unless `III_ENGINE_WS_URL` names a running one. There,
//! scenarios run one after the other, each with its own scopes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills::config::Scopes;
use skills_api::TRIGGER_TYPES;
use skills_core::{LeaseSettings, Registry};
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::{Client, ClientOptions, ErrorBody};
use skills_test_support::TIMEOUT;
use skills_test_support::engine::TestEngine;
use tokio::sync::{Barrier, OwnedMutexGuard};
use tokio::time::timeout;
use uuid::Uuid;

use super::backend::{Behaviour, CallFailure, ListedFunction};
use super::received_calls::ReceivedCalls;
use super::socket_worker::{SocketWorker, ask};

/// An engine, a skills worker, and a peer for the scenario.
pub struct SocketBackend {
    url: String,
    peer: Client,
    scopes: Scopes,
    received: ReceivedCalls,
    /// The ids of subscriptions, by trigger type and function.
    triggers: BTreeMap<(String, String), String>,
    subscribers: BTreeSet<String>,
    disconnected: Mutex<BTreeSet<String>>,
    taken_events: usize,
    together: Mutex<BTreeMap<usize, Arc<Barrier>>>,
    worker: Option<SocketWorker>,
    shared_engine: Option<OwnedMutexGuard<()>>,
    _engine: Option<TestEngine>,
}

/// The lock of an engine that all scenarios share.
async fn shared_engine() -> OwnedMutexGuard<()> {
    static LOCK: std::sync::OnceLock<Arc<tokio::sync::Mutex<()>>> = std::sync::OnceLock::new();
    Arc::clone(LOCK.get_or_init(Arc::default))
        .lock_owned()
        .await
}

impl SocketBackend {
    pub async fn new() -> Self {
        let (url, engine, shared_engine) = if let Ok(url) = std::env::var("III_ENGINE_WS_URL") {
            (url, None, Some(shared_engine().await))
        } else {
            let engine = TestEngine::start().await;
            (engine.url.clone(), Some(engine), None)
        };
        let me = Uuid::new_v4();
        let scopes = Scopes {
            skills: format!("skills-{me}"),
            prompts: format!("prompts-{me}"),
        };
        let worker = SocketWorker::start(&url, &scopes, LeaseSettings::default());
        let peer = Client::connect(&url, ClientOptions::named(format!("bdd-{me}")));
        let peer = peer.expect("an engine's address");
        let backend = Self {
            url,
            peer,
            scopes,
            received: ReceivedCalls::default(),
            triggers: BTreeMap::new(),
            subscribers: BTreeSet::new(),
            disconnected: Mutex::default(),
            taken_events: 0,
            together: Mutex::default(),
            worker: Some(worker),
            shared_engine,
            _engine: engine,
        };
        backend.wait_until_serving().await;
        backend
    }

    /// Ends the worker and starts another one with these settings on the same state.
    pub async fn restart_worker(&mut self, leases: LeaseSettings) {
        let worker = self.worker.take().expect("a worker");
        worker.stop().await;
        self.worker = Some(SocketWorker::start(&self.url, &self.scopes, leases));
        self.wait_until_serving().await;
    }

    /// Waits until the worker of this scenario serves. On a shared engine that of the
    /// scenario before can still be disconnecting.
    async fn wait_until_serving(&self) {
        let ready = async {
            self.peer.wait_connected().await.expect("connected");
            loop {
                let types = self.ask("engine::triggers::list", json!({})).await;
                let offered =
                    types.is_ok_and(|types| types.to_string().contains("prompts::on-change"));
                if offered
                    && self.ask("prompts::list", json!({})).await == Ok(json!({ "prompts": [] }))
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(TIMEOUT, ready).await.expect("the worker serves");
    }

    /// Calls a function as a worker that disconnects after it.
    pub async fn call_and_leave(
        &self,
        function: &str,
        payload: Value,
    ) -> Result<Value, CallFailure> {
        let name = format!("leaves-{}", Uuid::new_v4());
        let worker = Client::connect(&self.url, ClientOptions::named(&name));
        let worker = worker.expect("an engine's address");
        worker.wait_connected().await.expect("connected");
        let answer = ask(&worker, function, payload).await;
        worker.shutdown(TIMEOUT).await;
        let left = async {
            loop {
                let workers = self.ask("engine::workers::list", json!({})).await;
                if !workers.expect("a list").to_string().contains(&name) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, left).await.expect("the worker has left");
        answer
    }

    async fn ask(&self, function: &str, payload: Value) -> Result<Value, CallFailure> {
        ask(&self.peer, function, payload).await
    }

    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, CallFailure> {
        self.ask(function, payload).await
    }
    pub async fn register_function(&self, function: &str, behaviour: Behaviour) {
        if matches!(behaviour, Behaviour::Disconnected) {
            self.disconnected
                .lock()
                .expect("not poisoned")
                .insert(function.to_owned());
            self.peer.unregister_function(function);
            return self.wait_for_function(function, false).await;
        }
        let handler = self.handler(function, behaviour);
        let spec = FunctionSpec {
            id: function.into(),
            ..FunctionSpec::default()
        };
        self.peer.register_function(spec, handler);
        self.wait_for_function(function, true).await;
    }

    fn handler(&self, function: &str, behaviour: Behaviour) -> Handler {
        let (id, received) = (function.to_owned(), self.received.clone());
        let barrier = match &behaviour {
            Behaviour::ReturnsOnceTogether { parties, .. } => {
                let mut together = self.together.lock().expect("not poisoned");
                let barrier = together
                    .entry(*parties)
                    .or_insert_with(|| Arc::new(Barrier::new(*parties)));
                Some(Arc::clone(barrier))
            }
            _ => None,
        };
        Arc::new(move |payload| {
            received.push(&id, payload.get());
            let (behaviour, barrier) = (behaviour.clone(), barrier.clone());
            Box::pin(async move {
                if let Some(barrier) = barrier {
                    barrier.wait().await;
                }
                let raw = |value: &Value| to_raw_value(value).expect("a value is JSON");
                match behaviour {
                    Behaviour::Returns(value) => Ok(Some(raw(&value))),
                    Behaviour::ReturnsOnceTogether { text, .. } => Ok(Some(raw(&json!(text)))),
                    Behaviour::Fails(message) => Err(ErrorBody::new("handler_error", message)),
                    Behaviour::Hangs | Behaviour::Disconnected => std::future::pending().await,
                }
            })
        })
    }

    /// Waits until the engine lists a function, or no longer does.
    async fn wait_for_function(&self, function: &str, there: bool) {
        let seen = async {
            while self.function_info(function).await.is_ok() != there {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, seen).await.expect("the engine lists it");
    }

    pub fn received_calls(&self, function: &str) -> Vec<Value> {
        let received = self.received.of(|id| id == function);
        received.into_iter().map(|(_, payload)| payload).collect()
    }

    pub async fn subscribe(&mut self, trigger_type: &str, function: &str) {
        self.subscribers.insert(function.to_owned());
        let gone = self
            .disconnected
            .lock()
            .expect("not poisoned")
            .contains(function);
        if !gone && self.function_info(function).await.is_err() {
            self.register_function(function, Behaviour::Returns(Value::Null))
                .await;
        }
        let id = Uuid::new_v4().to_string();
        self.peer.register_trigger(TriggerSpec {
            id: id.clone(),
            trigger_type: trigger_type.into(),
            function_id: function.into(),
            config: to_raw_value(&json!({})).expect("JSON"),
            metadata: None,
            ..TriggerSpec::default()
        });
        self.wait_for_trigger(&id, true).await;
        self.triggers
            .insert((trigger_type.into(), function.into()), id);
    }

    pub async fn unsubscribe(&mut self, trigger_type: &str, function: &str) {
        let key = (trigger_type.to_owned(), function.to_owned());
        let id = self.triggers.remove(&key).expect("subscribed");
        self.peer.unregister_trigger(&id);
        self.wait_for_trigger(&id, false).await;
    }

    async fn function_info(&self, function: &str) -> Result<Value, CallFailure> {
        self.ask(
            "engine::functions::info",
            json!({ "function_id": function }),
        )
        .await
    }

    async fn wait_for_trigger(&self, id: &str, there: bool) {
        let seen = async {
            loop {
                let all = self
                    .ask("engine::registered-triggers::list", json!({}))
                    .await;
                if all
                    .expect("the engine lists triggers")
                    .to_string()
                    .contains(id)
                    == there
                {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, seen).await.expect("the engine lists it");
        // The worker handles the trigger before this call.
        let _ = self.ask("prompts::list", json!({})).await;
    }

    /// Waits for the expected number of events, then for those sent before the result of a
    /// later call.
    pub async fn events(&mut self, expected: usize) -> Vec<(String, Value)> {
        let connected = || self.received.of(|id| self.subscribers.contains(id));
        let all = async {
            loop {
                let more = self.received.another();
                if connected().len() >= self.taken_events + expected {
                    break;
                }
                let _ = timeout(Duration::from_millis(50), more).await;
            }
        };
        let _ = timeout(TIMEOUT, all).await;
        for _ in 0..3 {
            let _ = self.ask("skills::list", json!({})).await;
        }
        let events = connected().split_off(self.taken_events);
        self.taken_events += events.len();
        events
    }

    /// The name of a scope, the key field of its rows, and the function that lists them.
    fn names(&self, scope: &str) -> (&str, &str, &str) {
        match scope {
            "skills" => (&self.scopes.skills, "id", "skills::list"),
            _ => (&self.scopes.prompts, "name", "prompts::list"),
        }
    }

    pub async fn rows(&self, scope: &str) -> BTreeMap<String, Value> {
        let leases = Registry::leases_scope(&self.scopes.skills);
        let (scope, key) = match scope {
            "skills.leases" => (&*leases, "id"),
            _ => (self.names(scope).0, self.names(scope).1),
        };
        let rows = self
            .ask("state::list", json!({ "scope": scope }))
            .await
            .expect("state");
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| (row[key].as_str().unwrap_or("?").to_owned(), row.clone()))
            .collect()
    }

    /// Writes a row, and waits until the worker has handled its event.
    pub async fn put_row(&self, scope: &str, key: &str, row: &Value) {
        let (scope, _, list) = self.names(scope);
        let set = json!({ "scope": scope, "key": key, "value": row });
        self.ask("state::set", set).await.expect("state");
        let quoted = json!(key).to_string();
        let received = async {
            loop {
                let listed = self.ask(list, json!({})).await.expect("a list");
                if listed.to_string().contains(&quoted) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, received).await.expect("the row is served");
    }

    pub async fn functions(&self) -> Vec<ListedFunction> {
        let all = self
            .ask("engine::functions::list", json!({}))
            .await
            .expect("a list");
        self.listed(&all["functions"], "function_id")
    }

    pub async fn trigger_types(&self) -> Vec<ListedFunction> {
        let all = self
            .ask("engine::triggers::list", json!({}))
            .await
            .expect("a list");
        self.listed(&all["triggers"], "id")
    }

    #[expect(clippy::unused_self, reason = "reads like its siblings")]
    fn listed(&self, all: &Value, key: &str) -> Vec<ListedFunction> {
        let ours = |id: &str| {
            ["skills::", "skill::", "prompts::"]
                .iter()
                .any(|p| id.starts_with(p))
        };
        let mut offered: Vec<ListedFunction> = all
            .as_array()
            .expect("a list")
            .iter()
            .map(|line| ListedFunction {
                id: line[key].as_str().unwrap_or_default().into(),
                description: line["description"].as_str().unwrap_or_default().into(),
                label: line["metadata"]["label"].as_str().map(Into::into),
            })
            .filter(|line| ours(&line.id))
            .collect();
        // The order of the engine is not that of the table.
        let functions = skills_api::functions().map(|function| function.id);
        let order: Vec<_> = functions
            .chain(TRIGGER_TYPES.iter().map(|kind| kind.id))
            .collect();
        offered.sort_by_key(|line| order.iter().position(|id| *id == line.id));
        offered
    }
}

impl Drop for SocketBackend {
    fn drop(&mut self) {
        let (worker, shared_engine) = (self.worker.take(), self.shared_engine.take());
        tokio::spawn(async move {
            // The worker disconnects before the next scenario gets the engine.
            if let Some(worker) = worker {
                worker.stop().await;
            }
            drop(shared_engine);
        });
    }
}

impl fmt::Debug for SocketBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketBackend")
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
