//! The backend in memory: operations are called directly.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use memory_engine::{Link, Memory, Outcome};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills::app::remove_expired;
use skills_api::{TRIGGER_TYPES, code, find_function};
use skills_core::{Engine, Failure, Json, Pending, Registry, RegistrySettings};
use skills_files::rfc3339;
use skills_test_support::TIMEOUT;
use skills_test_support::memory_source::MemorySource;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::backend::{Behaviour, CallFailure, ListedFunction, Problem};

/// The timeout of calls. A function that hangs fails at once, so no test waits that long.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

type ReceivedCalls = Arc<Mutex<Vec<(String, Value)>>>;

/// A registry, its engine, and the functions of the scenario.
pub struct MemoryBackend {
    memory: Memory,
    link: Arc<Link>,
    barriers: Arc<BarrierEngine>,
    registry: Arc<Registry>,
    pub source: Arc<MemorySource>,
    received: ReceivedCalls,
    disconnected: Mutex<BTreeSet<String>>,
    /// Trigger type and function, to subscribe again after an outage.
    subscriptions: BTreeSet<(String, String)>,
    /// The task that removes entries past their leases, and what tells it to.
    expiry: AbortHandle,
    _serves: watch::Sender<bool>,
}

impl Drop for MemoryBackend {
    fn drop(&mut self) {
        self.expiry.abort();
    }
}

impl MemoryBackend {
    /// An empty engine.
    pub fn new() -> Self {
        Self::with_settings(Self::settings())
    }

    pub fn settings() -> RegistrySettings {
        RegistrySettings {
            timeout: CALL_TIMEOUT,
            ..RegistrySettings::default()
        }
    }

    /// An empty engine and a registry with these settings.
    pub fn with_settings(settings: RegistrySettings) -> Self {
        Self::start(Memory::new(), settings)
    }

    /// Another registry with these settings on the same state.
    pub fn restarted(&self, settings: RegistrySettings) -> Self {
        Self::start(self.memory.clone(), settings)
    }

    fn start(memory: Memory, settings: RegistrySettings) -> Self {
        let link = memory.connect();
        let barriers = Arc::new(BarrierEngine {
            link: Arc::clone(&link),
            barriers: Mutex::default(),
        });
        let source = Arc::new(MemorySource::default());
        let engine = Arc::clone(&barriers) as Arc<dyn Engine>;
        let registry = Registry::new(engine, vec![Arc::clone(&source) as _], settings, tick);
        registry.connected(true);
        let registry = Arc::new(registry);
        let leased = Arc::clone(&registry);
        let (serves, serving) = watch::channel(true);
        let expiry = tokio::spawn(async move { remove_expired(&leased, serving).await });
        memory.offer("engine::workers::list", |_| {
            let workers = json!({ "workers": [{ "id": "bdd", "name": "bdd-peer" }] });
            Ok(Some(to_raw_value(&workers).expect("a value is JSON")))
        });
        Self {
            expiry: expiry.abort_handle(),
            _serves: serves,
            memory,
            link,
            barriers,
            registry,
            source,
            received: ReceivedCalls::default(),
            disconnected: Mutex::default(),
            subscriptions: BTreeSet::new(),
        }
    }

    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, CallFailure> {
        self.call_as("bdd", function, payload).await
    }

    /// Calls a function as a worker with this id.
    pub async fn call_as(
        &self,
        worker: &str,
        function: &str,
        mut payload: Value,
    ) -> Result<Value, CallFailure> {
        if let Some(fields) = payload.as_object_mut() {
            // As an engine does.
            fields.insert("_caller_worker_id".into(), json!(worker));
        }
        let row =
            find_function(function).unwrap_or_else(|| panic!("`{function}` is not in the table"));
        let payload = to_raw_value(&payload).expect("a value is JSON");
        let result = (row.run)(Arc::clone(&self.registry), payload).await;
        self.deliver_events().await;
        match result {
            Ok(json) => Ok(serde_json::from_str(json.get()).expect("a result is JSON")),
            Err(error) => Err(CallFailure {
                code: code(error.kind()).into(),
                message: error.to_text(),
            }),
        }
    }

    pub fn register_function(&self, function: &str, behaviour: Behaviour) {
        if matches!(behaviour, Behaviour::Disconnected) {
            locked(&self.disconnected).insert(function.to_owned());
        }
        if let Behaviour::ReturnsOnceTogether { parties, .. } = &behaviour {
            self.barriers.hold(function, *parties);
        }
        let (id, received) = (function.to_owned(), Arc::clone(&self.received));
        self.memory.offer(function, move |payload| {
            let payload = serde_json::from_str(payload.get()).expect("a payload is JSON");
            locked(&received).push((id.clone(), payload));
            outcome(&behaviour)
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

    /// Waits for the expected number of events.
    pub async fn events(&self, expected: usize) -> Vec<(String, Value)> {
        let disconnected = locked(&self.disconnected).clone();
        let mut events = Vec::new();
        let all = async {
            loop {
                self.deliver_events().await;
                let reached = |(function, _): &(String, Value)| !disconnected.contains(function);
                events.extend(self.link.take_sent().into_iter().filter(reached));
                if events.len() >= expected {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = tokio::time::timeout(TIMEOUT, all).await;
        events
    }

    pub async fn put_row(&self, scope: &str, key: &str, row: &Value) {
        self.memory.put(scope, key, row);
        self.deliver_events().await;
    }

    pub fn rows(&self, scope: &str) -> BTreeMap<String, Value> {
        self.memory.rows(scope)
    }

    pub async fn problems(&self) -> Vec<Problem> {
        let skipped = self
            .registry
            .skipped()
            .await
            .expect("the engine is connected");
        let problem = |s: skills_core::Skipped| Problem {
            place: s.place,
            reason: s.reason,
        };
        skipped.into_iter().map(problem).collect()
    }

    pub fn functions() -> Vec<ListedFunction> {
        let row = |f: &skills_api::Operation| ListedFunction {
            id: f.id.into(),
            description: f.description.into(),
            label: f.label.map(Into::into),
        };
        skills_api::functions().map(row).collect()
    }

    pub fn trigger_types() -> Vec<ListedFunction> {
        let row = |t: &skills_api::TriggerType| ListedFunction {
            id: t.id.into(),
            description: t.description.into(),
            label: None,
        };
        TRIGGER_TYPES.iter().map(row).collect()
    }

    pub fn disconnect(&self) {
        self.link.cut();
        self.registry.disconnected();
    }

    pub fn reconnect(&mut self) {
        self.link.mend();
        self.registry.connected(true);
        for (trigger_type, function) in self.subscriptions.clone() {
            self.subscribe(&trigger_type, &function);
        }
    }

    /// Delivers the event of every written row, as the engine's `state` trigger does.
    async fn deliver_events(&self) {
        while let Some(event) = self.link.take_event(0) {
            // The next read of the key reports a failure.
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

fn outcome(behaviour: &Behaviour) -> Outcome {
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
        Behaviour::Disconnected => Err(Failure::Absent),
    }
}

fn trigger_id(trigger_type: &str, function: &str) -> String {
    format!("{trigger_type} to {function}")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock that never returns the same time twice.
fn tick() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let since_1970 = SystemTime::UNIX_EPOCH.elapsed().expect("a time after 1970");
    let now = u64::try_from(since_1970.as_micros()).expect("microseconds of today");
    let next = |last: u64| Some(now.max(last + 1));
    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
    let last = LAST.fetch_update(set, fetch, next).unwrap_or(now);
    let moment = SystemTime::UNIX_EPOCH + Duration::from_micros(now.max(last + 1));
    rfc3339(moment).expect("a year of today")
}

/// A connection that holds the calls of some functions back until a number of them are in
/// progress: sequential callers never get through.
struct BarrierEngine {
    link: Arc<Link>,
    barriers: Mutex<HashMap<String, Arc<CallBarrier>>>,
}

struct CallBarrier {
    waiting: AtomicUsize,
    parties: usize,
}

impl BarrierEngine {
    /// Functions with the same number of parties share a barrier.
    fn hold(&self, function: &str, parties: usize) {
        let mut barriers = locked(&self.barriers);
        let barrier = barriers
            .values()
            .find(|barrier| barrier.parties == parties)
            .cloned();
        let barrier = barrier.unwrap_or_else(|| {
            Arc::new(CallBarrier {
                waiting: AtomicUsize::new(0),
                parties,
            })
        });
        barriers.insert(function.to_owned(), barrier);
    }
}

impl Engine for BarrierEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Outcome> {
        let barrier = locked(&self.barriers).get(function).cloned();
        let Some(barrier) = barrier else {
            return self.link.call(function, payload, timeout);
        };
        Box::pin(async move {
            barrier.waiting.fetch_add(1, Ordering::SeqCst);
            let enough = poll_fn(|context| {
                if barrier.waiting.load(Ordering::SeqCst) >= barrier.parties {
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
