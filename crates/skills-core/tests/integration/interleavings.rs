//! Two workers with a registry and one without share a store; calls, acknowledgements and
//! events arrive in random order. Once everything has ended, every reader sees what is in the
//! store; and no reader ever misses a write that its own worker acknowledged before the read
//! began.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use memory_engine::{Link, Memory};
use proptest::prelude::*;
use serde_json::json;
use skills_core::{Registry, SkillId};

use crate::without_history;

const KEYS: [&str; 3] = ["a", "b", "c"];

/// One step as (action, worker, key, pick); `pick` chooses among the possible calls or events.
type Step = (u8, usize, usize, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_u8..12, 0_usize..2, 0..KEYS.len(), 0_usize..8);
    prop::collection::vec(step, 1..120)
}

/// The result of a finished operation.
enum Done {
    Wrote {
        who: usize,
        key: usize,
        body: Option<String>,
    },
    Read {
        who: usize,
        floor: Vec<usize>,
        seen: BTreeMap<String, String>,
    },
    Nothing,
}

type Work = Pin<Box<dyn Future<Output = Done>>>;

struct Worker {
    link: Arc<Link>,
    registry: Arc<Registry>,
    /// By key: the oldest entry of the store's history that this worker may still read.
    floor: Vec<usize>,
}

struct World {
    memory: Memory,
    workers: Vec<Worker>,
    work: Vec<Work>,
    /// By key: every value that was in the store, in order.
    history: Vec<Vec<Option<String>>>,
    bodies: usize,
}

impl World {
    fn new(watched: bool) -> Self {
        let memory = Memory::new();
        memory.by_hand();
        let worker = || {
            let link = memory.connect();
            let settings = without_history();
            let registry = Registry::new(link.clone(), Vec::new(), settings, String::new);
            registry.connected(watched);
            Worker {
                link,
                registry: Arc::new(registry),
                floor: vec![0; KEYS.len()],
            }
        };
        let workers = vec![worker(), worker()];
        Self {
            memory,
            workers,
            work: Vec::new(),
            history: vec![vec![None]; KEYS.len()],
            bodies: 0,
        }
    }

    fn body(&mut self) -> String {
        self.bodies += 1;
        format!("v{}", self.bodies)
    }

    fn step(&mut self, (what, who, key, pick): Step, watched: bool) {
        match what {
            0 | 1 => self.register(who, key),
            2 => self.unregister(who, key),
            3 => self.list(who),
            4 | 5 => {
                let waiting = self.memory.waiting();
                if let Some(&call) = waiting.get(pick % waiting.len().max(1)) {
                    self.apply(call);
                }
            }
            6 | 7 => {
                let applied = self.memory.applied();
                if let Some(&call) = applied.get(pick % applied.len().max(1)) {
                    self.memory.acknowledge(call);
                }
            }
            8 => self.event(who, pick),
            9 => self.poll(pick),
            10 => {
                let body = self.body();
                let row = json!({ "id": KEYS[key], "skill": body, "registered_at": "" });
                self.memory.put("skills", KEYS[key], &row);
                self.record();
            }
            _ => {
                let worker = &self.workers[who];
                worker.link.cut();
                worker.registry.disconnected();
                worker.link.mend();
                worker.registry.connected(watched);
            }
        }
    }

    fn register(&mut self, who: usize, key: usize) {
        let body = self.body();
        let registry = Arc::clone(&self.workers[who].registry);
        self.work.push(Box::pin(async move {
            match registry
                .register_skill(KEYS[key].parse().unwrap(), body.clone())
                .await
            {
                Ok(_) => Done::Wrote {
                    who,
                    key,
                    body: Some(body),
                },
                Err(_) => Done::Nothing,
            }
        }));
    }

    fn unregister(&mut self, who: usize, key: usize) {
        let registry = Arc::clone(&self.workers[who].registry);
        let id: SkillId = KEYS[key].parse().unwrap();
        self.work.push(Box::pin(async move {
            match registry.unregister_skill(&id).await {
                Ok(_) => Done::Wrote {
                    who,
                    key,
                    body: None,
                },
                Err(_) => Done::Nothing,
            }
        }));
    }

    fn list(&mut self, who: usize) {
        let registry = Arc::clone(&self.workers[who].registry);
        let floor = self.workers[who].floor.clone();
        self.work.push(Box::pin(async move {
            match read_all(&registry).await {
                Ok(seen) => Done::Read { who, floor, seen },
                Err(_) => Done::Nothing,
            }
        }));
    }

    fn may_see(&self, who: usize, key: usize, floor: usize, value: Option<&str>) {
        let (name, allowed) = (KEYS[key], &self.history[key][floor..]);
        assert!(
            allowed.iter().any(|allowed| allowed.as_deref() == value),
            "worker {who} read {value:?} of {name}, older than its own write: {allowed:?}",
        );
    }

    fn event(&mut self, who: usize, pick: usize) {
        let worker = &self.workers[who];
        if let Some(event) = worker.link.take_event(pick % worker.link.events().max(1)) {
            let registry = Arc::clone(&worker.registry);
            self.work.push(Box::pin(async move {
                let _ = registry.apply_state_event(&event).await;
                Done::Nothing
            }));
        }
    }

    fn apply(&mut self, call: u64) {
        self.memory.apply(call);
        self.record();
    }

    /// Adds the current values of the store to the history.
    fn record(&mut self) {
        let rows = self.memory.rows("skills");
        for (key, history) in self.history.iter_mut().enumerate() {
            let body = rows
                .get(KEYS[key])
                .map(|row| row["skill"].as_str().unwrap().to_owned());
            if history.last() != Some(&body) {
                history.push(body);
            }
        }
    }

    fn poll(&mut self, pick: usize) {
        if self.work.is_empty() {
            return;
        }
        let at = pick % self.work.len();
        let done = self.work[at]
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(done) = done {
            drop(self.work.remove(at));
            self.check(done);
        }
    }

    fn check(&mut self, done: Done) {
        match done {
            Done::Wrote { who, key, body } => {
                // Bodies are unique; a removal is at least the first one that this worker may read.
                let history = &self.history[key];
                let at = if body.is_some() {
                    history.iter().rposition(|value| *value == body)
                } else {
                    let from = self.workers[who].floor[key];
                    (from..history.len()).find(|&at| history[at].is_none())
                };
                if let Some(at) = at {
                    let floor = &mut self.workers[who].floor[key];
                    *floor = at.max(*floor);
                }
            }
            Done::Read { who, floor, seen } => {
                for (key, name) in KEYS.iter().enumerate() {
                    self.may_see(who, key, floor[key], seen.get(*name).map(String::as_str));
                }
            }
            Done::Nothing => {}
        }
    }

    /// Completes every call, event and operation.
    fn finish(&mut self) {
        for round in 0.. {
            assert!(round < 10_000, "the operations never end");
            for call in self.memory.waiting() {
                self.apply(call);
            }
            for call in self.memory.applied() {
                self.memory.acknowledge(call);
            }
            for who in 0..self.workers.len() {
                self.event(who, 0);
            }
            for at in (0..self.work.len()).rev() {
                self.poll(at);
            }
            let events: usize = self.workers.iter().map(|worker| worker.link.events()).sum();
            if self.work.is_empty() && events == 0 {
                return;
            }
        }
    }
}

async fn read_all(registry: &Registry) -> Result<BTreeMap<String, String>, skills_core::Error> {
    let mut seen = BTreeMap::new();
    for skill in registry.skills().await?.entries {
        let uri = format!("iii://{}", skill.id).parse().unwrap();
        match registry.read(&uri).await {
            Ok(content) => {
                drop(seen.insert(skill.id.to_string(), content.text().unwrap().to_string()));
            }
            Err(error) if error.kind() == skills_core::Kind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen)
}

fn run(script: &[Step], watched: bool) {
    let mut world = World::new(watched);
    for &step in script {
        world.step(step, watched);
    }
    world.finish();
    let rows = world.memory.rows("skills");
    let stored: BTreeMap<_, _> = rows
        .into_iter()
        .map(|(key, row)| (key, row["skill"].as_str().unwrap().to_owned()))
        .collect();
    for who in 0..world.workers.len() {
        let registry = Arc::clone(&world.workers[who].registry);
        let mut reading = Box::pin(async move { read_all(&registry).await.unwrap() });
        let seen = loop {
            match reading
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
            {
                Poll::Ready(seen) => break seen,
                Poll::Pending => {
                    for call in world.memory.waiting() {
                        world.memory.apply(call);
                        world.memory.acknowledge(call);
                    }
                }
            }
        };
        assert_eq!(seen, stored, "worker {who} differs from the store");
    }
}

/// More with `PROPTEST_CASES`.
fn cases() -> u32 {
    ProptestConfig::default().cases.max(1000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn in_the_end_every_reader_sees_the_store(script in steps()) {
        run(&script, true);
    }

    #[test]
    fn in_the_end_every_reader_sees_the_store_without_events(script in steps()) {
        run(&script, false);
    }
}

#[test]
fn the_model_records_the_history_of_the_store() {
    let mut world = World::new(true);
    world.register(0, 0);
    world.finish();
    assert_eq!(world.history[0], [None, Some("v1".to_owned())]);
    assert_eq!(world.workers[0].floor[0], 1);
}

/// An order that once left an old value in the image.
#[test]
fn a_removal_by_another_worker_is_not_mistaken_for_our_own() {
    // Our removal is acknowledged, but its key has to be read; meanwhile another worker writes
    // and removes it again. The event of that removal is not the event of ours.
    let script = [
        (0, 0, 1, 0),
        (0, 1, 2, 0),
        (0, 0, 0, 0),
        (0, 0, 2, 0),
        (3, 1, 0, 0),
        (9, 0, 0, 3),
        (4, 0, 0, 0),
        (9, 0, 0, 6),
        (3, 0, 0, 0),
        (0, 0, 0, 0),
        (2, 1, 2, 0),
        (4, 0, 0, 0),
        (2, 0, 2, 0),
        (0, 1, 2, 0),
        (3, 0, 0, 0),
        (3, 0, 0, 0),
        (3, 0, 0, 0),
        (3, 0, 0, 0),
        (0, 1, 2, 0),
        (9, 0, 0, 0),
        (11, 1, 0, 0),
        (3, 0, 0, 0),
        (11, 0, 0, 0),
    ];
    run(&script, true);
}
