//! The backend on an engine in memory: the function table, called row by row.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use memory_engine::{Link, Memory, Outcome};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_api::{TRIGGER_TYPES, code, find_function};
use skills_core::{Engine, Failure, Json, Pending, Registry, RegistrySettings};
use skills_test_support::TIMEOUT;
use skills_test_support::memory_source::MemorySource;

use super::backend::{Behaviour, CallFailure, Offered, Problem};

/// How long the registry waits for a function. In memory a function that hangs is
/// known to, so nothing waits that long.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

type ReceivedCalls = Arc<Mutex<Vec<(String, Value)>>>;

/// A registry, the engine it is on, and the workers around it.
pub struct MemoryBackend {
    memory: Memory,
    link: Arc<Link>,
    gates: Arc<Gates>,
    registry: Arc<Registry>,
    pub source: Arc<MemorySource>,
    received: ReceivedCalls,
    vanished: Mutex<BTreeSet<String>>,
    /// Trigger type and function: what workers subscribe to again after an outage.
    subscriptions: BTreeSet<(String, String)>,
}

impl MemoryBackend {
    /// An engine nobody has written to.
    pub fn new() -> Self {
        let memory = Memory::new();
        let link = memory.connect();
        let gates = Arc::new(Gates {
            link: Arc::clone(&link),
            open: Mutex::default(),
        });
        let source = Arc::new(MemorySource::default());
        let settings = RegistrySettings {
            timeout: CALL_TIMEOUT,
            ..RegistrySettings::default()
        };
        let engine = Arc::clone(&gates) as Arc<dyn Engine>;
        let registry = Registry::new(engine, vec![Arc::clone(&source) as _], settings, tick);
        registry.connected(true);
        Self {
            memory,
            link,
            gates,
            registry: Arc::new(registry),
            source,
            received: ReceivedCalls::default(),
            vanished: Mutex::default(),
            subscriptions: BTreeSet::new(),
        }
    }

    pub async fn call(&self, function: &str, mut payload: Value) -> Result<Value, CallFailure> {
        if let Some(fields) = payload.as_object_mut() {
            // As an engine does; the registry must not mind.
            fields.insert("_caller_worker_id".into(), json!("bdd"));
        }
        let row =
            find_function(function).unwrap_or_else(|| panic!("`{function}` is not in the table"));
        let payload = to_raw_value(&payload).expect("a value is JSON");
        let answer = (row.run)(Arc::clone(&self.registry), payload).await;
        self.deliver_events().await;
        match answer {
            Ok(json) => Ok(serde_json::from_str(json.get()).expect("an answer is JSON")),
            Err(error) => Err(CallFailure {
                code: code(error.kind()).into(),
                message: error.to_text(),
            }),
        }
    }

    pub fn offer(&self, function: &str, behaviour: Behaviour) {
        if matches!(behaviour, Behaviour::Vanished) {
            locked(&self.vanished).insert(function.to_owned());
        }
        if let Behaviour::ReturnsOnceTogether { parties, .. } = &behaviour {
            self.gates.close(function, *parties);
        }
        let (id, received) = (function.to_owned(), Arc::clone(&self.received));
        self.memory.offer(function, move |payload| {
            let payload = serde_json::from_str(payload.get()).expect("a payload is JSON");
            locked(&received).push((id.clone(), payload));
            answer(&behaviour)
        });
    }

    pub fn received_calls(&self, function: &str) -> Vec<Value> {
        let received = locked(&self.received);
        received
            .iter()
            .filter(|(id, _)| id == function)
            .map(|(_, payload)| payload.clone())
            .collect()
    }

    pub fn subscribe(&mut self, trigger_type: &str, function: &str) {
        self.subscriptions
            .insert((trigger_type.to_owned(), function.to_owned()));
        let found = TRIGGER_TYPES.iter().find(|t| t.id == trigger_type);
        let found = found.unwrap_or_else(|| panic!("no trigger type `{trigger_type}`"));
        found.subscribe(
            &self.registry,
            &trigger_id(trigger_type, function),
            function,
        );
    }

    pub fn unsubscribe(&mut self, trigger_type: &str, function: &str) {
        self.subscriptions
            .remove(&(trigger_type.to_owned(), function.to_owned()));
        assert!(
            self.registry
                .unsubscribe(&trigger_id(trigger_type, function)),
            "not subscribed"
        );
    }

    pub async fn notices(&self) -> Vec<(String, Value)> {
        self.deliver_events().await;
        let vanished = locked(&self.vanished);
        let reached = |(function, _): &(String, Value)| !vanished.contains(function);
        self.link.take_sent().into_iter().filter(reached).collect()
    }

    pub async fn put_row(&self, scope: &str, key: &str, row: &Value) {
        self.memory.put(scope, key, row);
        self.deliver_events().await;
    }

    pub fn rows(&self, scope: &str) -> BTreeMap<String, Value> {
        self.memory.rows(scope)
    }

    pub async fn problems(&self) -> Vec<Problem> {
        let skipped = self.registry.skipped().await.expect("the engine is there");
        let problem = |s: skills_core::Skipped| Problem {
            place: s.place,
            reason: s.reason,
        };
        skipped.into_iter().map(problem).collect()
    }

    pub fn functions() -> Vec<Offered> {
        let row = |f: &skills_api::Operation| Offered {
            id: f.id.into(),
            about: f.description.into(),
            label: f.label.map(Into::into),
        };
        skills_api::functions().map(row).collect()
    }

    pub fn trigger_types() -> Vec<Offered> {
        let row = |t: &skills_api::TriggerType| Offered {
            id: t.id.into(),
            about: t.description.into(),
            label: None,
        };
        TRIGGER_TYPES.iter().map(row).collect()
    }

    pub fn cut(&self) {
        self.link.cut();
        self.registry.disconnected();
    }

    pub fn mend(&mut self) {
        self.link.mend();
        self.registry.connected(true);
        for (trigger_type, function) in self.subscriptions.clone() {
            self.subscribe(&trigger_type, &function);
        }
    }

    /// Rings the registry for every row that was written, as the engine's `state`
    /// trigger does.
    async fn deliver_events(&self) {
        while let Some(event) = self.link.take_event(0) {
            // A failure stays with the key: whoever reads it next is told.
            let _ = self.registry.apply_state_event(&event).await;
        }
    }
}

impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend")
            .field("skills", &self.memory.rows("skills"))
            .field("prompts", &self.memory.rows("prompts"))
            .field("subscriptions", &self.subscriptions)
            .finish_non_exhaustive()
    }
}

fn answer(behaviour: &Behaviour) -> Outcome {
    match behaviour {
        Behaviour::Returns(value) => Ok(Some(to_raw_value(value).expect("a value is JSON"))),
        Behaviour::ReturnsOnceTogether { text, .. } => {
            Ok(Some(to_raw_value(text).expect("a text is JSON")))
        }
        Behaviour::Fails(message) => Err(Failure::Failed {
            code: "handler_error".into(),
            message: message.clone(),
        }),
        Behaviour::Hangs => Err(Failure::TimedOut {
            after: CALL_TIMEOUT,
        }),
        Behaviour::Vanished => Err(Failure::Absent),
    }
}

fn trigger_id(trigger_type: &str, function: &str) -> String {
    format!("{trigger_type} to {function}")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock on which no two moments are the same.
fn tick() -> String {
    static MOMENT: AtomicU64 = AtomicU64::new(0);
    let moment = MOMENT.fetch_add(1, Ordering::Relaxed);
    let (seconds, micros) = (moment / 1_000_000, moment % 1_000_000);
    format!(
        "2026-01-01T{:02}:{:02}:{:02}.{micros:06}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The connection, with gates that open once enough calls stand before them: only
/// callers that do not wait for one another get through.
struct Gates {
    link: Arc<Link>,
    open: Mutex<HashMap<String, Arc<Gate>>>,
}

struct Gate {
    waiting: AtomicUsize,
    parties: usize,
}

impl Gates {
    /// Functions with as many parties stand before the same gate.
    fn close(&self, function: &str, parties: usize) {
        let mut open = locked(&self.open);
        let gate = open.values().find(|gate| gate.parties == parties).cloned();
        let gate = gate.unwrap_or_else(|| {
            Arc::new(Gate {
                waiting: AtomicUsize::new(0),
                parties,
            })
        });
        open.insert(function.to_owned(), gate);
    }
}

impl Engine for Gates {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Outcome> {
        let gate = locked(&self.open).get(function).cloned();
        let Some(gate) = gate else {
            return self.link.call(function, payload, timeout);
        };
        Box::pin(async move {
            gate.waiting.fetch_add(1, Ordering::SeqCst);
            let enough = poll_fn(|context| {
                if gate.waiting.load(Ordering::SeqCst) >= gate.parties {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            });
            if tokio::time::timeout(TIMEOUT, enough).await.is_err() {
                return Err(Failure::TimedOut { after: TIMEOUT });
            }
            self.link.call(function, payload, timeout).await
        })
    }

    fn send(&self, function: &str, payload: Json) {
        self.link.send(function, payload);
    }
}
