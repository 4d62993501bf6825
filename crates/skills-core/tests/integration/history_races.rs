//! Two instances change the same skills while calls and acknowledgements arrive in random order
//! and processes end. No acknowledged text is missing in the versions, no number is used twice,
//! and all instances agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use memory_engine::{Link, Memory, now};
use proptest::prelude::*;
use skills_core::{Digest, Registry, RegistrySettings, SkillId, VersionHead};

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
    setup: Setup,
}

/// What the instances are.
#[derive(Clone, Copy)]
struct Setup {
    watched: bool,
    /// How many versions each of them keeps.
    keep: [usize; 2],
    /// How many versions there are of each skill at first.
    versions: usize,
}

fn instance(memory: &Memory, watched: bool, keep: usize) -> (Arc<Link>, Arc<Registry>) {
    let link = memory.connect();
    let settings = RegistrySettings {
        history_versions: keep,
        ..RegistrySettings::default()
    };
    let clock = || "2026-01-01T00:00:00Z".to_owned();
    let registry = Registry::new(link.clone(), Vec::new(), settings, clock);
    registry.connected(watched);
    (link, Arc::new(registry))
}

impl World {
    fn new(setup: Setup) -> Self {
        let Setup { watched, keep, .. } = setup;
        let memory = Memory::new();
        let mut sent = vec![BTreeSet::new(); KEYS.len()];
        let (_, first) = instance(&memory, false, keep[0]);
        for number in 0..setup.versions {
            for (key, sent) in KEYS.iter().zip(&mut sent) {
                let body = format!("first {number}");
                now(first.register_skill(key.parse().unwrap(), body.clone())).unwrap();
                sent.insert(body);
            }
        }
        memory.by_hand();
        Self {
            instances: keep.map(|keep| instance(&memory, watched, keep)).into(),
            memory,
            attempts: Vec::new(),
            acknowledged: vec![BTreeSet::new(); KEYS.len()],
            sent,
            bodies: 0,
            setup,
        }
    }

    fn step(&mut self, (what, who, key, pick): Step) {
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
                let Setup { watched, keep, .. } = self.setup;
                self.instances[who] = instance(&self.memory, watched, keep[who]);
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

/// The versions of a skill and their texts, by number. To read each of them would take a call for
/// each row.
fn texts(
    registry: &Registry,
    id: &SkillId,
    sent: &BTreeSet<String>,
) -> BTreeMap<u64, (VersionHead, Option<String>)> {
    let digests = sent.iter().map(|text| (Digest::of(text.as_bytes()), text));
    let digests: HashMap<_, _> = digests.collect();
    let heads = now(registry.skill_history(id)).unwrap_or_default();
    if let Some(newest) = heads.iter().find(|head| head.digest.is_some()) {
        let wanted = newest.version.to_string().parse().unwrap();
        let text = now(registry.skill_version(id, &wanted)).unwrap().body;
        assert_eq!(newest.digest, Some(Digest::of(text.as_bytes())));
    }
    let with_text = heads.into_iter().map(|head| {
        let text = head.digest.map(|digest| digests[&digest].clone());
        (head.version, (head, text))
    });
    with_text.collect()
}

fn run(script: &[Step], setup: Setup) {
    let mut world = World::new(setup);
    for &step in script {
        world.step(step);
    }
    world.finish();
    world.memory.at_once();
    for (key, name) in KEYS.iter().enumerate() {
        let id: SkillId = name.parse().unwrap();
        let fresh = instance(&world.memory, setup.watched, setup.keep[0]).1;
        let versions = texts(&fresh, &id, &world.sent[key]);
        for (_, registry) in &world.instances {
            // One that keeps fewer lists fewer.
            let mut theirs = texts(registry, &id, &world.sent[key]);
            let mut ours = versions.clone();
            ours.retain(|number, _| theirs.contains_key(number));
            theirs.retain(|number, _| versions.contains_key(number));
            assert_eq!(theirs, ours, "the instances agree");
            let newest = versions.last_key_value();
            assert_eq!(ours.last_key_value(), newest, "the instances agree");
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
        run(&script, Setup { watched: true, keep: [100, 100], versions: 0 });
    }

    #[test]
    fn no_acknowledged_version_is_missing_without_events(script in steps()) {
        run(&script, Setup { watched: false, keep: [100, 100], versions: 0 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_acknowledged_version_is_missing_while_the_ring_becomes_longer(
        script in steps(),
        watched in any::<bool>(),
        keep in 41_usize..=100,
    ) {
        run(&script, Setup { watched, keep: [40, keep], versions: 45 });
    }

    #[test]
    fn no_acknowledged_version_is_missing_in_a_longer_ring(
        script in steps(),
        watched in any::<bool>(),
        keep in 40_usize..=99,
    ) {
        run(&script, Setup { watched, keep: [100, keep], versions: 120 });
    }
}
