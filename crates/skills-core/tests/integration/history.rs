//! Versions of skills: which changes make one, and what is kept.

use std::cell::Cell;
use std::sync::Arc;

use memory_engine::{Link, Memory, now};
use serde_json::json;
use skills_core::{
    Error, Kind, Precondition, Registry, RegistrySettings, ResourceUri, RolledBack, SkillId,
    VersionHead,
};

use crate::row;

thread_local! {
    /// The second of the clock of this test.
    static CLOCK: Cell<u64> = const { Cell::new(0) };
}

/// Every call is a second later.
fn clock() -> String {
    CLOCK.set(CLOCK.get() + 1);
    format!(
        "2026-01-01T00:{:02}:{:02}Z",
        CLOCK.get() / 60,
        CLOCK.get() % 60
    )
}

pub struct Instance {
    pub link: Arc<Link>,
    pub registry: Registry,
}

pub fn instance(memory: &Memory, versions: usize) -> Instance {
    let link = memory.connect();
    let settings = RegistrySettings {
        history_versions: versions,
        ..RegistrySettings::default()
    };
    let registry = Registry::new(link.clone(), Vec::new(), settings, clock);
    registry.connected(true);
    now(registry.load()).unwrap();
    Instance { link, registry }
}

pub fn id() -> SkillId {
    "a".parse().unwrap()
}

impl Instance {
    pub fn register(&self, body: &str) {
        now(self.registry.register_skill(id(), body.into())).unwrap();
    }

    pub fn unregister(&self) -> bool {
        now(self.registry.unregister_skill(&id())).unwrap()
    }

    pub fn deliver(&self) {
        while let Some(event) = self.link.take_event(0) {
            now(self.registry.apply_state_event(&event)).unwrap();
        }
    }

    pub fn heads(&self) -> Vec<VersionHead> {
        now(self.registry.skill_history(&id())).unwrap()
    }

    /// The versions, oldest first, as `1:register` with a `*` for the current one.
    pub fn history(&self) -> Vec<String> {
        let heads = self.heads().into_iter().rev();
        let shown = heads.map(|head| {
            let current = if head.current { "*" } else { "" };
            format!("{}:{}{current}", head.version, head.op.as_str())
        });
        shown.collect()
    }

    pub fn read(&self, address: &str) -> Result<String, Error> {
        let uri: ResourceUri = address.parse().unwrap();
        let content = now(self.registry.read(&uri))?;
        Ok(content.text().unwrap().to_string())
    }

    pub fn rollback(&self, version: &str) -> Result<RolledBack, Error> {
        let version = now(self
            .registry
            .skill_version(&id(), &version.parse().unwrap()))?;
        let any = Precondition::Any;
        now(self.registry.rollback_skill(&id(), version, any, None))
    }
}

#[test]
fn a_change_makes_a_version_and_the_same_content_makes_none() {
    let one = instance(&Memory::new(), 20);
    one.register("A");
    one.register("B");
    one.register("B");
    assert_eq!(one.history(), ["1:register", "2:register*"]);
    assert_eq!(one.read("iii://a@1").unwrap(), "A");
    assert_eq!(one.read("iii://a@2").unwrap(), "B");
    assert!(one.unregister() && !one.unregister());
    one.register("A");
    let all = ["1:register", "2:register", "3:unregister", "4:register*"];
    assert_eq!(one.history(), all);
    let heads = one.heads();
    assert_eq!((heads[0].bytes, heads[1].bytes), (Some(1), None));
    assert_eq!(heads[0].digest, heads[3].digest);
}

#[test]
fn a_change_costs_one_more_write_and_no_change_none() {
    let one = instance(&Memory::new(), 20);
    one.register("A");
    let calls = |body: &str| {
        one.link.take_called();
        one.register(body);
        one.link.take_called()
    };
    for body in 0..50 {
        assert_eq!(calls(&body.to_string()), ["state::set", "state::update"]);
    }
    assert_eq!(calls("49"), ["state::set"]);
    assert_eq!(calls("50"), ["state::set", "state::update"]);
    one.deliver();
    assert_eq!(
        calls("51"),
        ["state::set", "state::update"],
        "after its events"
    );
    let off = instance(&Memory::new(), 0);
    off.register("A");
    off.link.take_called();
    off.register("B");
    assert_eq!(off.link.take_called(), ["state::set"]);
}

#[test]
fn the_row_of_the_main_scope_keeps_its_shape() {
    let memory = Memory::new();
    instance(&memory, 20).register("A");
    let rows = memory.rows("skills");
    let fields: Vec<_> = rows["a"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "registered_at", "skill"]);
}

#[test]
fn the_last_versions_are_kept() {
    let memory = Memory::new();
    let one = instance(&memory, 5);
    for body in 1..=23 {
        one.register(&body.to_string());
    }
    assert_eq!(memory.rows("skills.versions").len(), 5);
    let numbers: Vec<_> = one.heads().iter().map(|head| head.version).collect();
    assert_eq!(numbers, [23, 22, 21, 20, 19]);
    let missing = one.read("iii://a@18").unwrap_err();
    assert_eq!(missing.kind(), Kind::NotFound);
    assert_eq!(
        missing.to_text(),
        "version 18 of skill `a` not found (it has 19 to 23)"
    );
}

#[test]
fn a_restarted_process_goes_on_with_the_numbers() {
    let memory = Memory::new();
    for body in 1..=12 {
        instance(&memory, 5).register(&body.to_string());
    }
    let last = instance(&memory, 5);
    let numbers: Vec<_> = last.heads().iter().map(|head| head.version).collect();
    assert_eq!(numbers, [12, 11, 10, 9, 8]);
}

#[test]
fn another_number_of_versions_loses_none_that_is_kept() {
    let memory = Memory::new();
    let write = |keep: usize, bodies: std::ops::RangeInclusive<u64>| {
        let one = instance(&memory, keep);
        for body in bodies {
            one.register(&body.to_string());
        }
    };
    let check = |keep: usize, expected: std::ops::RangeInclusive<u64>| {
        let one = instance(&memory, keep);
        let numbers: Vec<_> = one.heads().iter().rev().map(|head| head.version).collect();
        assert_eq!(
            numbers,
            expected.clone().collect::<Vec<_>>(),
            "{keep} are kept"
        );
        for number in expected {
            let text = one.read(&format!("iii://a@{number}")).unwrap();
            assert_eq!(text, number.to_string());
        }
    };
    write(10, 1..=17);
    check(10, 8..=17);
    check(3, 15..=17);
    write(3, 18..=19);
    check(3, 17..=19);
    write(3, 20..=40);
    check(3, 38..=40);
    write(8, 41..=43);
    // The ring of the entry is as long as it ever was.
    check(8, 36..=43);
    write(8, 44..=80);
    check(8, 73..=80);
    // Turned off, what there is can be read.
    check(0, 71..=80);
}

#[test]
fn what_was_registered_without_a_version_gets_one() {
    let memory = Memory::new();
    memory.put("skills", "a", &row("a", "old"));
    let one = instance(&memory, 20);
    one.link.take_called();
    // Reading writes nothing.
    assert_eq!(one.history(), ["1:found*"]);
    assert_eq!(one.read("iii://a@1").unwrap(), "old");
    assert_eq!(memory.rows("skills.versions").len(), 0);
    one.register("new");
    assert_eq!(one.history(), ["1:found", "2:register*"]);
    assert_eq!(one.read("iii://a@1").unwrap(), "old");
    // A program that does not know versions writes in between.
    memory.put("skills", "a", &row("a", "foreign"));
    one.deliver();
    assert_eq!(one.history(), ["1:found", "2:register", "3:found*"]);
    one.unregister();
    let all = ["1:found", "2:register", "3:found", "4:unregister"];
    assert_eq!(one.history(), all);
    assert_eq!(one.read("iii://a@3").unwrap(), "foreign");
}

#[test]
fn a_row_whose_version_was_lost_gets_one() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    one.register("A");
    memory.by_hand();
    let mut write = Box::pin(one.registry.register_skill(id(), "B".into()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(write.as_mut().poll(&mut context).is_pending());
    // The row is stored and its version is not; then the process ends.
    let calls = memory.waiting();
    assert_eq!(calls.len(), 2, "both are sent at once");
    memory.apply(calls[0]);
    drop(write);
    memory.at_once();
    let next = instance(&memory, 20);
    assert_eq!(next.history(), ["1:register", "2:found*"]);
    next.register("C");
    assert_eq!(next.history(), ["1:register", "2:found", "3:register*"]);
    assert_eq!(next.read("iii://a@2").unwrap(), "B");
}

/// The next process after one that ended between the version of the text B and its row. The row says
/// A.
pub fn after_a_lost_row() -> Instance {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    one.register("A");
    memory.by_hand();
    let mut write = Box::pin(one.registry.register_skill(id(), "B".into()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(write.as_mut().poll(&mut context).is_pending());
    memory.apply(memory.waiting()[1]);
    drop(write);
    memory.at_once();
    instance(&memory, 20)
}

#[test]
fn a_version_whose_row_was_lost_is_not_current() {
    let next = after_a_lost_row();
    assert_eq!(next.history(), ["1:register*", "2:register"]);
    next.register("C");
    assert_eq!(next.history(), ["1:register", "2:register", "3:register*"]);
}

#[test]
fn a_version_that_cannot_be_recorded_fails_the_call_and_is_recorded_later() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    one.register("A");
    memory.offer("state::update", |_| {
        Err(skills_core::Failure::Failed {
            code: "UPDATE_ERROR".into(),
            message: "disk full".into(),
        })
    });
    let failed = now(one.registry.register_skill(id(), "B".into())).unwrap_err();
    assert!(
        failed.to_string().starts_with(
            "could not record the version of skill `a`, which is registered without it now"
        ),
        "{failed}"
    );
    memory.withdraw("state::update");
    assert_eq!(one.history(), ["1:register", "2:found*"]);
    one.register("C");
    assert_eq!(one.history(), ["1:register", "2:found", "3:register*"]);
}

#[test]
fn two_instances_that_take_the_same_number_lose_nothing() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory, 20), instance(&memory, 20));
    one.register("A");
    two.deliver();
    two.register("B");
    one.deliver();
    one.register("C");
    // `two` has not heard of C: it takes the same number, finds out, and takes the next.
    two.register("D");
    let all = ["1:register", "2:register", "3:register", "4:register*"];
    one.deliver();
    for instance in [&one, &two] {
        assert_eq!(instance.history(), all);
        for (version, text) in ["A", "B", "C", "D"].into_iter().enumerate() {
            let uri = format!("iii://a@{}", version + 1);
            assert_eq!(instance.read(&uri).unwrap(), text);
        }
    }
    let rows = memory.rows("skills.versions");
    let lists: Vec<_> = rows
        .values()
        .flat_map(|row| row.as_object().unwrap().values())
        .filter(|field| field.is_array())
        .collect();
    assert!(
        lists.iter().all(|list| list.as_array().unwrap().len() == 1),
        "no rest is left"
    );
}

#[test]
fn an_instance_that_was_away_for_long_finds_the_next_number() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory, 4), instance(&memory, 4));
    two.register("first");
    one.deliver();
    for body in 0..9 {
        one.register(&body.to_string());
    }
    two.register("last");
    let numbers: Vec<_> = one.heads().iter().map(|head| head.version).collect();
    assert_eq!(numbers, [11, 10, 9, 8]);
    assert_eq!(memory.rows("skills.versions").len(), 4);
}

#[test]
fn a_clock_that_is_set_back_changes_no_number() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    CLOCK.set(100);
    one.register("A");
    one.register("B");
    CLOCK.set(0);
    one.register("C");
    assert_eq!(one.history(), ["1:register", "2:register", "3:register*"]);
    assert_eq!(instance(&memory, 20).history(), one.history());
    assert!(one.heads()[0].at < one.heads()[1].at, "times may go back");
}

#[test]
fn rows_that_are_not_versions_are_passed_over() {
    let memory = Memory::new();
    let one = instance(&memory, 3);
    one.register("A");
    memory.put("skills.versions", "a@1", &json!("text"));
    memory.put("skills.versions", "a@2", &json!({ "v3": [7], "x": 1 }));
    assert_eq!(one.history(), ["1:register*"]);
    one.register("B");
    one.register("C");
    // The number that something else has is left out.
    let all = ["1:register", "2:register", "4:register*"];
    assert_eq!(one.history(), all);
}
