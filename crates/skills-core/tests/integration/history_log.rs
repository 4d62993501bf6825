//! The changes of all entries: the same as those of each entry alone.

use memory_engine::{Memory, now};
use skills_core::{EntryName, LogRequest};

use crate::history::{Instance, instance};
use crate::row;

/// The changes as `a:1:register`, sorted: of all entries, and of each alone.
fn logs(one: &Instance, ids: &[&str]) -> [Vec<String>; 2] {
    let log = |entry: Option<EntryName>| {
        let request = LogRequest {
            entry,
            ..LogRequest::default()
        };
        let log = now(one.registry.log(&request)).unwrap();
        let shown = log.entries.into_iter().map(|entry| {
            let EntryName::Skill(id) = entry.entry else {
                panic!("{:?} is not a skill", entry.entry)
            };
            let change = entry.change;
            let current = if change.current { "*" } else { "" };
            format!("{id}:{}:{}{current}", change.version, change.op.as_str())
        });
        shown.collect::<Vec<_>>()
    };
    let mut all = log(None);
    let alone = ids.iter();
    let mut alone: Vec<_> = alone
        .flat_map(|id| log(Some(EntryName::Skill(id.parse().unwrap()))))
        .collect();
    all.sort();
    alone.sort();
    [all, alone]
}

#[track_caller]
fn check(one: &Instance, ids: &[&str], expected: &[&str]) {
    let [all, alone] = logs(one, ids);
    assert_eq!(all, expected);
    assert_eq!(alone, expected);
}

#[test]
fn what_was_registered_without_a_version_is_found() {
    let memory = Memory::new();
    memory.put("skills", "a", &row("a", "old"));
    memory.put("skills", "b", &row("b", "old"));
    let one = instance(&memory, 20);
    check(&one, &["a", "b"], &["a:1:found*", "b:1:found*"]);
    one.register("new");
    let expected = ["a:1:found", "a:2:register*", "b:1:found*"];
    check(&one, &["a", "b"], &expected);
    let off = instance(&memory, 0);
    check(&off, &["a", "b"], &expected);
}

#[test]
fn as_many_versions_are_listed_as_are_kept() {
    let memory = Memory::new();
    let many = instance(&memory, 20);
    for body in 1..=5 {
        many.register(&body.to_string());
    }
    many.unregister();
    let few = instance(&memory, 2);
    let expected = ["a:4:register", "a:5:register", "a:6:unregister"];
    check(&few, &["a"], &expected);
}

#[test]
fn a_change_that_was_not_heard_of_is_not_found_without_a_version() {
    let memory = Memory::new();
    let [one, two] = [(); 2].map(|()| instance(&memory, 1));
    one.register("A");
    two.deliver();
    one.register("B");
    check(&two, &["a"], &["a:2:register*"]);
    one.unregister();
    check(&two, &["a"], &["a:2:register", "a:3:unregister"]);
    two.deliver();
    one.register("C");
    check(&two, &["a"], &["a:4:register*"]);
}
