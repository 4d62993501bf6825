//! The calls that functions of a scenario received over a socket.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Notify;

/// Calls in the order in which they arrived.
#[derive(Clone, Default)]
pub struct ReceivedCalls(Arc<Calls>);

#[derive(Default)]
struct Calls {
    all: Mutex<Vec<(String, Value)>>,
    another: Notify,
}

impl ReceivedCalls {
    pub fn push(&self, function: &str, payload: &str) {
        let mut payload: Value = serde_json::from_str(payload).expect("a payload is JSON");
        if let Some(fields) = payload.as_object_mut() {
            fields.remove("_caller_worker_id");
        }
        let mut all = self.0.all.lock().expect("not poisoned");
        all.push((function.to_owned(), payload));
        self.0.another.notify_waiters();
    }

    /// The calls of matching functions.
    pub fn of(&self, matches: impl Fn(&str) -> bool) -> Vec<(String, Value)> {
        let all = self.0.all.lock().expect("not poisoned");
        all.iter().filter(|(id, _)| matches(id)).cloned().collect()
    }

    /// Completes when another call arrives.
    pub async fn another(&self) {
        self.0.another.notified().await;
    }
}
