//! An engine in memory, for tests.
//!
//! A [`Memory`] is one engine; each [`Link`] is one worker's connection to it and implements
//! [`Engine`] for a registry. Calls return at once. After [`Memory::by_hand`] a test steps
//! each call itself: a call is first *applied* and then *acknowledged*, in any order, and its
//! event stays in the inbox of each link until the test takes it.

mod pending_call;
mod state;
mod update;

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::Value;
use serde_json::json;
use serde_json::value::to_raw_value;

use pending_call::{PendingCall, cut_off};
use skills_core::{Engine, Failure, Json, Pending};

/// The result of a call.
pub type Outcome = Result<Option<Json>, Failure>;

type Handler = Arc<dyn Fn(Json) -> Outcome + Send + Sync>;

/// An engine in memory.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    rows: BTreeMap<(String, String), Json>,
    functions: HashMap<String, Handler>,
    by_hand: bool,
    shared: bool,
    compares: bool,
    next: u64,
    calls: BTreeMap<u64, Call>,
    connections: Vec<Connection>,
}

/// The engine's side of one connection.
#[derive(Default)]
struct Connection {
    down: bool,
    fail: Option<Failure>,
    inbox: Vec<Json>,
    sent: Vec<(String, Value)>,
    called: Vec<String>,
}

struct Call {
    link: usize,
    function: String,
    payload: Json,
    outcome: Option<Outcome>,
    acknowledged: bool,
    /// Its connection was cut.
    lost: bool,
    waker: Option<Waker>,
}

/// A worker's connection.
pub struct Link {
    memory: Memory,
    number: usize,
}

impl Memory {
    /// An empty engine whose calls return at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new connection.
    pub fn connect(&self) -> Arc<Link> {
        let mut inner = self.inner();
        inner.connections.push(Connection::default());
        Arc::new(Link {
            memory: self.clone(),
            number: inner.connections.len() - 1,
        })
    }

    /// Offers a function.
    pub fn offer(&self, function: &str, handler: impl Fn(Json) -> Outcome + Send + Sync + 'static) {
        self.inner()
            .functions
            .insert(function.into(), Arc::new(handler));
    }

    /// No longer offers a function.
    pub fn withdraw(&self, function: &str) {
        self.inner().functions.remove(function);
    }

    /// From now on calls return at once again.
    pub fn at_once(&self) {
        self.inner().by_hand = false;
    }

    /// From now on calls wait for [`apply`](Self::apply) and
    /// [`acknowledge`](Self::acknowledge).
    pub fn by_hand(&self) {
        self.inner().by_hand = true;
    }

    /// Whether another engine has the same state.
    pub fn share(&self, shared: bool) {
        self.inner().shared = shared;
    }

    /// Whether a write that expects another value than a row has is refused, as the embedded
    /// engine does.
    pub fn compare(&self, compares: bool) {
        self.inner().compares = compares;
    }

    /// The calls that are not applied yet.
    pub fn waiting(&self) -> Vec<u64> {
        let inner = self.inner();
        inner
            .calls
            .iter()
            .filter(|(_, call)| call.outcome.is_none())
            .map(|(&n, _)| n)
            .collect()
    }

    /// The calls that are applied and not acknowledged yet.
    pub fn applied(&self) -> Vec<u64> {
        let ready = |call: &Call| call.outcome.is_some() && !call.acknowledged;
        let inner = self.inner();
        inner
            .calls
            .iter()
            .filter(|(_, call)| ready(call))
            .map(|(&n, _)| n)
            .collect()
    }

    /// Executes a call.
    pub fn apply(&self, number: u64) {
        let mut inner = self.inner();
        let Some(call) = inner
            .calls
            .get(&number)
            .filter(|call| call.outcome.is_none())
        else {
            return;
        };
        let (function, payload) = (call.function.clone(), call.payload.clone());
        let outcome = inner.execute(&function, payload);
        if let Some(call) = inner.calls.get_mut(&number) {
            call.outcome = Some(outcome);
        }
    }

    /// Returns the result of an applied call to its caller.
    pub fn acknowledge(&self, number: u64) {
        let mut inner = self.inner();
        if let Some(call) = inner
            .calls
            .get_mut(&number)
            .filter(|call| call.outcome.is_some())
        {
            call.acknowledged = true;
            if let Some(waker) = call.waker.take() {
                waker.wake();
            }
        }
    }

    /// Writes a row directly, as a worker without a registry does.
    pub fn put(&self, scope: &str, key: &str, value: &Value) {
        let input = json!({ "scope": scope, "key": key, "value": value });
        let input = to_raw_value(&input).expect("a value is JSON");
        let _ = self.inner().execute("state::set", input);
    }

    /// Every row of a scope by key.
    pub fn rows(&self, scope: &str) -> BTreeMap<String, Value> {
        let inner = self.inner();
        let rows = inner.rows.iter().filter(|((s, _), _)| s == scope);
        rows.map(|((_, k), v)| (k.clone(), serde_json::from_str(v.get()).unwrap_or_default()))
            .collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// Cuts the connection: calls in progress fail, although they may still be executed, and
    /// events are lost.
    pub fn cut(&self) {
        let mut inner = self.memory.inner();
        let connection = &mut inner.connections[self.number];
        connection.down = true;
        connection.inbox.clear();
        for call in inner
            .calls
            .values_mut()
            .filter(|call| call.link == self.number)
        {
            call.lost = true;
            if let Some(waker) = call.waker.take() {
                waker.wake();
            }
        }
    }

    /// Connects again.
    pub fn mend(&self) {
        self.memory.inner().connections[self.number].down = false;
    }

    /// Makes every call fail with `failure`; none restores normal operation.
    pub fn fail(&self, failure: Option<Failure>) {
        self.memory.inner().connections[self.number].fail = failure;
    }

    /// The number of events in the inbox.
    pub fn events(&self) -> usize {
        self.memory.inner().connections[self.number].inbox.len()
    }

    /// Removes the event at index `at` from the inbox.
    pub fn take_event(&self, at: usize) -> Option<Json> {
        let inbox = &mut self.memory.inner().connections[self.number].inbox;
        (at < inbox.len()).then(|| inbox.remove(at))
    }

    /// The calls sent without waiting since the last call of this function.
    pub fn take_sent(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.memory.inner().connections[self.number].sent)
    }

    /// The functions called since the last call of this function.
    pub fn take_called(&self) -> Vec<String> {
        std::mem::take(&mut self.memory.inner().connections[self.number].called)
    }
}

impl Engine for Link {
    fn call<'a>(&'a self, function: &'a str, payload: Json, _: Duration) -> Pending<'a, Outcome> {
        let mut inner = self.memory.inner();
        let connection = &mut inner.connections[self.number];
        connection.called.push(function.into());
        if connection.down {
            return Box::pin(std::future::ready(Err(cut_off())));
        }
        if let Some(failure) = connection.fail.clone() {
            return Box::pin(std::future::ready(Err(failure)));
        }
        if !inner.by_hand {
            return Box::pin(std::future::ready(inner.execute(function, payload)));
        }
        inner.next += 1;
        let number = inner.next;
        inner.calls.insert(
            number,
            Call {
                link: self.number,
                function: function.into(),
                payload,
                outcome: None,
                acknowledged: false,
                lost: false,
                waker: None,
            },
        );
        Box::pin(PendingCall { link: self, number })
    }

    fn shares_state(&self) -> bool {
        self.memory.inner().shared
    }

    fn send(&self, function: &str, payload: Json) {
        let payload = serde_json::from_str(payload.get()).unwrap_or_default();
        self.memory.inner().connections[self.number]
            .sent
            .push((function.into(), payload));
    }
}

/// The result of a future that completes on its first poll.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future is not ready"),
    }
}
