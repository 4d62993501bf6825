//! What functions that a scenario offers over a socket were called with.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Notify;

/// What offered functions were called with, in order, and a bell for each.
#[derive(Clone, Default)]
pub struct ReceivedCalls(Arc<Calls>);

#[derive(Default)]
struct Calls {
    all: Mutex<Vec<(String, Value)>>,
    another: Notify,
}

impl ReceivedCalls {
    pub fn note(&self, function: &str, payload: &str) {
        let mut payload: Value = serde_json::from_str(payload).expect("a payload is JSON");
        if let Some(fields) = payload.as_object_mut() {
            fields.remove("_caller_worker_id");
        }
        let mut all = self.0.all.lock().expect("nobody panics with it");
        all.push((function.to_owned(), payload));
        self.0.another.notify_waiters();
    }

    /// Those whose function is wanted.
    pub fn of(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, Value)> {
        let all = self.0.all.lock().expect("nobody panics with it");
        all.iter().filter(|(id, _)| wanted(id)).cloned().collect()
    }

    /// Completes when another call arrives.
    pub async fn another(&self) {
        self.0.another.notified().await;
    }
}
