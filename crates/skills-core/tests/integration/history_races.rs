//! Two instances change the same skills while calls and acknowledgements arrive in random order
//! and processes end. No acknowledged text is missing in the versions, no number is used twice,
//! and all instances agree.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use memory_engine::{Link, Memory, now};
use proptest::prelude::*;
use skills_core::{Registry, RegistrySettings, SkillId, VersionHead};

const KEYS: [&str; 2] = ["a", "b"];

/// One step as (action, instance, key, pick).
type Step = (u8, usize, usize, usize);

type Work = Pin<Box<dyn Future<Output = bool>>>;

/// A change that an instance is making.
struct Attempt {
    who: usize,
    key: usize,
    /// None for a removal.
    body: Option<String>,
    work: Work,
}

struct World {
    memory: Memory,
    instances: Vec<(Arc<Link>, Arc<Registry>)>,
    attempts: Vec<Attempt>,
    /// By key: the texts whose registration was acknowledged, and those that were sent.
    acknowledged: Vec<BTreeSet<String>>,
    sent: Vec<BTreeSet<String>>,
    bodies: usize,
}

fn instance(memory: &Memory, watched: bool) -> (Arc<Link>, Arc<Registry>) {
    let link = memory.connect();
    let settings = RegistrySettings {
        history_versions: 100,
        ..RegistrySettings::default()
    };
    let clock = || "2026-01-01T00:00:00Z".to_owned();
    let registry = Registry::new(link.clone(), Vec::new(), settings, clock);
    registry.connected(watched);
    (link, Arc::new(registry))
}

impl World {
    fn new(watched: bool) -> Self {
        let memory = Memory::new();
        memory.by_hand();
        Self {
            instances: vec![instance(&memory, watched), instance(&memory, watched)],
            memory,
            attempts: Vec::new(),
            acknowledged: vec![BTreeSet::new(); KEYS.len()],
            sent: vec![BTreeSet::new(); KEYS.len()],
            bodies: 0,
        }
    }

    fn step(&mut self, (what, who, key, pick): Step, watched: bool) {
        match what {
            0 | 1 => self.register(who, key),
            2 => self.unregister(who, key),
            3..=5 => {
                let waiting = self.memory.waiting();
                if let Some(&call) = waiting.get(pick % waiting.len().max(1)) {
                    self.memory.apply(call);
                }
            }
            6 | 7 => {
                let applied = self.memory.applied();
                if let Some(&call) = applied.get(pick % applied.len().max(1)) {
                    self.memory.acknowledge(call);
                }
            }
            8 => self.event(who, pick),
            9 | 10 => self.poll(pick),
            // The process ends and another one starts. Its calls may still arrive.
            _ => {
                self.attempts.retain(|attempt| attempt.who != who);
                self.instances[who] = instance(&self.memory, watched);
            }
        }
    }

    fn register(&mut self, who: usize, key: usize) {
        self.bodies += 1;
        let body = format!("text {}", self.bodies);
        self.sent[key].insert(body.clone());
        let registry = Arc::clone(&self.instances[who].1);
        let text = body.clone();
        self.attempts.push(Attempt {
            who,
            key,
            body: Some(body),
            work: Box::pin(async move {
                let id = KEYS[key].parse().unwrap();
                registry.register_skill(id, text).await.is_ok()
            }),
        });
    }

    fn unregister(&mut self, who: usize, key: usize) {
        let registry = Arc::clone(&self.instances[who].1);
        self.attempts.push(Attempt {
            who,
            key,
            body: None,
            work: Box::pin(async move {
                let id: SkillId = KEYS[key].parse().unwrap();
                registry.unregister_skill(&id).await.is_ok()
            }),
        });
    }

    fn event(&mut self, who: usize, pick: usize) {
        let (link, registry) = &self.instances[who];
        if let Some(event) = link.take_event(pick % link.events().max(1)) {
            let registry = Arc::clone(registry);
            self.attempts.push(Attempt {
                who,
                key: 0,
                body: None,
                work: Box::pin(async move { registry.apply_state_event(&event).await.is_ok() }),
            });
        }
    }

    fn poll(&mut self, pick: usize) {
        if self.attempts.is_empty() {
            return;
        }
        let at = pick % self.attempts.len();
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = self.attempts[at].work.as_mut().poll(&mut context) {
            let Attempt { key, body, .. } = self.attempts.remove(at);
            if done && let Some(body) = body {
                self.acknowledged[key].insert(body);
            }
        }
    }

    /// Completes every call, event and operation.
    fn finish(&mut self) {
        for round in 0.. {
            assert!(round < 10_000, "the operations never end");
            for call in self.memory.waiting() {
                self.memory.apply(call);
            }
            for call in self.memory.applied() {
                self.memory.acknowledge(call);
            }
            for who in 0..self.instances.len() {
                self.event(who, 0);
            }
            for at in (0..self.attempts.len()).rev() {
                self.poll(at);
            }
            let events: usize = self.instances.iter().map(|(link, _)| link.events()).sum();
            if self.attempts.is_empty() && events == 0 {
                return;
            }
        }
    }
}

/// The versions of a skill and their texts, by number.
fn texts(registry: &Registry, id: &SkillId) -> BTreeMap<u64, (VersionHead, Option<String>)> {
    let heads = now(registry.skill_history(id)).unwrap_or_default();
    let with_text = heads.into_iter().map(|head| {
        let wanted = head.version.to_string().parse().unwrap();
        let text = head.digest.map(|_| {
            let version = now(registry.skill_version(id, &wanted)).unwrap();
            version.body.to_string()
        });
        (head.version, (head, text))
    });
    with_text.collect()
}

fn run(script: &[Step], watched: bool) {
    let mut world = World::new(watched);
    for &step in script {
        world.step(step, watched);
    }
    world.finish();
    world.memory.at_once();
    for (key, name) in KEYS.iter().enumerate() {
        let id: SkillId = name.parse().unwrap();
        let fresh = instance(&world.memory, watched).1;
        let versions = texts(&fresh, &id);
        for (_, registry) in &world.instances {
            assert_eq!(texts(registry, &id), versions, "the instances agree");
        }
        let found: BTreeSet<_> = versions
            .values()
            .filter_map(|(_, text)| text.clone())
            .collect();
        let missing: Vec<_> = world.acknowledged[key].difference(&found).collect();
        assert_eq!(missing, [""; 0], "acknowledged and not in {versions:?}");
        let unknown: Vec<_> = found.difference(&world.sent[key]).collect();
        assert_eq!(unknown, [""; 0]);
        let stored = world.memory.rows("skills").remove(*name);
        let stored = stored.map(|row| row["skill"].as_str().unwrap().to_owned());
        let mut current = versions.values().filter(|(head, _)| head.current);
        let current = current.next().and_then(|(_, text)| text.clone());
        assert_eq!(
            current, stored,
            "the version that is current is what is registered"
        );
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_u8..12, 0_usize..2, 0..KEYS.len(), 0_usize..8);
    prop::collection::vec(step, 1..100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_acknowledged_version_is_missing(script in steps()) {
        run(&script, true);
    }

    #[test]
    fn no_acknowledged_version_is_missing_without_events(script in steps()) {
        run(&script, false);
    }
}
