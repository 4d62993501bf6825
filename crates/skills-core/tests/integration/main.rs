//! The registry on an engine in memory: what readers see, whose write wins, routing, counts of use.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod backup;
mod browsing;
mod call_arguments;
mod compare_and_set;
mod cutting;
mod folding;
mod garbage;
mod history;
mod history_gc;
mod history_lag;
mod history_lengths;
mod history_log;
mod history_races;
mod history_reads;
mod history_removals;
mod interleavings;
mod leases;
mod leases_in_flight;
mod local_state;
mod reads;
mod rollback;
mod routing;
mod searching;
mod stats;
mod writes;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use memory_engine::{Link, Memory, now};
use serde_json::json;
use skills_core::{Change, Kind, Registry, RegistrySettings, ResourceUri};

struct Fixture {
    memory: Memory,
    link: Arc<Link>,
    registry: Registry,
    changes: Arc<Mutex<Vec<Change>>>,
}

fn fixture_on(memory: &Memory, watched: bool) -> Fixture {
    let link = memory.connect();
    let settings = without_history();
    let registry = Registry::new(link.clone(), Vec::new(), settings, || "now".into());
    registry.connected(watched);
    let changes = Arc::new(Mutex::new(Vec::new()));
    let published = Arc::clone(&changes);
    registry.listen(Arc::new(move |change| {
        published.lock().unwrap().push(change.clone());
    }));
    Fixture {
        memory: memory.clone(),
        link,
        registry,
        changes,
    }
}

/// Versions have tests of their own; in the others every call counts.
fn without_history() -> RegistrySettings {
    RegistrySettings {
        history_versions: 0,
        ..RegistrySettings::default()
    }
}

fn fixture() -> Fixture {
    fixture_on(&Memory::new(), true)
}

impl Fixture {
    fn register(&self, id: &str, body: &str) {
        now(self
            .registry
            .register_skill(id.parse().unwrap(), body.into()))
        .unwrap();
    }

    fn read(&self, id: &str) -> Result<String, Kind> {
        let uri: ResourceUri = format!("iii://{id}").parse().unwrap();
        now(self.registry.read(&uri))
            .map(|c| c.text().unwrap().to_string())
            .map_err(|e| e.kind())
    }

    fn ids(&self) -> Vec<String> {
        let listing = now(self.registry.skills()).unwrap();
        listing
            .entries
            .iter()
            .map(|skill| skill.id.to_string())
            .collect()
    }

    /// Delivers every event, oldest first.
    fn deliver(&self) {
        while let Some(event) = self.link.take_event(0) {
            now(self.registry.apply_state_event(&event)).unwrap();
        }
    }

    fn take_changes(&self) -> usize {
        std::mem::take(&mut *self.changes.lock().unwrap()).len()
    }
}

fn row(id: &str, body: &str) -> serde_json::Value {
    json!({ "id": id, "skill": body, "registered_at": "then" })
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<Arc<str>, skills_core::Error>> + 'a>>;

fn poll(work: &mut Work<'_>) -> bool {
    matches!(
        work.as_mut().poll(&mut Context::from_waker(Waker::noop())),
        Poll::Ready(Ok(_))
    )
}
