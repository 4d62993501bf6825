//! Removing what named an owner that is gone.

use std::sync::Arc;
use std::time::Duration;

use memory_engine::{Link, Memory, now};
use serde_json::{Value, json};
use skills_core::{
    Engine, Failure, Json, Kind, Pending, Registry, RegistrySettings, SkillRegistration, StoredRow,
};

use crate::leases::{CLOCK, instance, leased};
use crate::row;

/// A connection to an engine whose state is in this process.
struct Local(Memory, Arc<Link>);

impl Engine for Local {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        self.1.call(function, payload, timeout)
    }

    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        for (key, row) in self.0.rows(scope) {
            visit((&key, Ok(&row.to_string())));
        }
        Some(Ok(()))
    }

    fn send(&self, function: &str, payload: Json) {
        self.1.send(function, payload);
    }
}

#[test]
fn a_row_of_null_is_skipped_and_collected() {
    let memory = Memory::new();
    memory.compare(true);
    memory.offer("engine::workers::list", |_| {
        let workers = json!({ "workers": [] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    instance(&memory).register(leased("# A", Some("mailer"), Some(60_000)));
    memory.put("skills.leases", "skill:b", &Value::Null);
    memory.put("skills.leases", "owner:mailer", &Value::Null);
    let local = Arc::new(Local(memory.clone(), memory.connect()));
    let links: [Arc<dyn Engine>; 2] = [memory.connect(), local];
    let found = links.map(|engine| {
        let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), || {
            "2026-01-01T00:00:01Z".into()
        });
        registry.connected(true);
        let skills = now(registry.skills()).unwrap();
        assert!(skills.entries[0].lease.is_some());
        let dry = now(registry.collect_garbage(true)).unwrap().rows;
        let copied = now(registry.backup_rows("skills.leases")).unwrap();
        assert_eq!((copied.rows.len(), copied.left_out), (1, Vec::new()));
        (dry, now(registry.collect_garbage(false)).unwrap().rows)
    });
    // Another process lists rows without their keys.
    assert_eq!(found, [(0, 0), (2, 2)]);
    let left = memory.rows("skills.leases");
    assert_eq!(left.keys().collect::<Vec<_>>(), ["skill:a"]);
}

#[test]
fn garbage_is_not_collected_if_it_is_not_known_who_is_connected() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), None));
    let absent = now(one.registry.collect_garbage(false)).unwrap_err();
    assert_eq!(absent.kind(), Kind::Unavailable);
    memory.offer("engine::workers::list", |_| Ok(None));
    let strange = now(one.registry.collect_garbage(false)).unwrap_err();
    assert!(
        strange.to_text().contains("returned something else"),
        "{strange}"
    );
    assert_eq!(memory.rows("skills").len(), 1);
}

#[test]
fn rows_that_belong_to_no_entry_are_collected() {
    let memory = Memory::new();
    memory.offer("engine::workers::list", |_| {
        let workers = json!({ "workers": [{ "id": "1", "name": "mailer" }] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), Some(500)));
    now(one.registry.renew(&"mailer".parse().unwrap())).unwrap();
    let kept = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!((kept.entries.len(), kept.rows), (0, 0));
    assert!(kept.owners[0].connected);
    // A worker that does not know of leases registers the entry.
    memory.put("skills", "a", &row("a", "theirs"));
    one.deliver();
    CLOCK.set(600_000);
    let found = now(one.registry.collect_garbage(true)).unwrap();
    assert_eq!((found.entries.len(), found.rows), (0, 2));
    assert_eq!(memory.rows("skills.leases").len(), 2);
    now(one.registry.collect_garbage(false)).unwrap();
    assert!(memory.rows("skills.leases").is_empty());
    assert_eq!(memory.rows("skills")["a"], row("a", "theirs"));
}

#[test]
fn a_renewal_while_garbage_is_collected_keeps_the_entries_of_its_owner() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory), instance(&memory));
    let of_mailer = |id: &str, ttl| SkillRegistration {
        id: id.parse().unwrap(),
        ..leased("# A", Some("mailer"), ttl)
    };
    one.register(of_mailer("a", Some(500)));
    one.register(of_mailer("b", None));
    one.deliver();
    two.deliver();
    CLOCK.set(500);
    // The owner renews after the leases were listed, and no event arrives.
    let owner = "mailer".parse().unwrap();
    memory.offer("engine::workers::list", |_| {
        let workers = json!({ "workers": [] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    now(two.registry.renew(&owner)).unwrap();
    let kept = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(kept.entries, []);
    assert_eq!(memory.rows("skills").len(), 2);
    CLOCK.set(1_000);
    one.deliver();
    let gone = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(gone.entries.len(), 2);
    assert!(memory.rows("skills").is_empty());
}

#[test]
fn while_another_engine_has_the_same_state_no_owner_is_gone() {
    let memory = Memory::new();
    memory.offer("engine::workers::list", |_| {
        let workers = json!({ "workers": [] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), None));
    let unowned = SkillRegistration {
        id: "b".parse().unwrap(),
        ..leased("# B", None, Some(500))
    };
    one.register(unowned);
    CLOCK.set(500);
    memory.share(true);
    let found = now(one.registry.collect_garbage(false)).unwrap();
    // An end is an end on every engine.
    let names: Vec<_> = found.entries.iter().map(|one| one.entry.name()).collect();
    assert_eq!(names, ["b"]);
    assert!(found.owners[0].unknown && !found.owners[0].connected);
    memory.share(false);
    let found = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(found.entries.len(), 1);
    assert!(memory.rows("skills").is_empty());
}

#[test]
fn a_worker_that_connected_again_keeps_what_it_registered() {
    let memory = Memory::new();
    let connected = |id: &'static str, name: &'static str| {
        memory.offer("engine::workers::list", move |_| {
            let workers = json!({ "workers": [{ "id": id, "name": name }] });
            Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
        });
    };
    let one = instance(&memory);
    connected("1", "host:7");
    let mut registration = leased("# A", Some("mailer"), None);
    registration.lease.worker = Some("1".into());
    one.register(registration);
    connected("2", "host:7");
    let kept = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(kept.entries, []);
    assert!(kept.owners[0].connected);
    connected("3", "another");
    let gone = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(gone.entries.len(), 1);
    assert!(memory.rows("skills").is_empty());
}

#[test]
fn a_renewal_while_garbage_is_collected_replaces_the_one_that_was_listed() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory), instance(&memory));
    one.register(leased("# A", Some("mailer"), Some(500)));
    let owner = "mailer".parse().unwrap();
    now(one.registry.renew(&owner)).unwrap();
    one.deliver();
    two.deliver();
    CLOCK.set(500);
    memory.offer("engine::workers::list", |_| {
        let workers = json!({ "workers": [] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    // No event of it arrives.
    now(two.registry.renew(&owner)).unwrap();
    let renewed = memory.rows("skills.leases")["owner:mailer"].clone();
    let kept = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(kept.entries, []);
    assert_eq!(memory.rows("skills.leases")["owner:mailer"], renewed);
    CLOCK.set(999);
    one.deliver();
    let listed = now(one.registry.skills()).unwrap().entries;
    assert!(!listed[0].lease.as_ref().unwrap().stale);
}
