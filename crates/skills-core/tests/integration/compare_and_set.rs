//! Writes with a precondition, alone and against another instance.

use std::task::{Context, Poll, Waker};

use memory_engine::now;
use serde_json::Value;
use skills_core::{Actor, Current, Digest, Error, Precondition, SkillRegistration};

use crate::{Fixture, fixture, fixture_on, row};

fn registration(body: &str, expected: Precondition) -> SkillRegistration {
    SkillRegistration {
        expected,
        ..SkillRegistration::new("a".parse().unwrap(), body.into())
    }
}

/// The result of `call`, in which another instance writes `theirs` after the first read.
fn interrupted<T>(fixture: &Fixture, call: impl Future<Output = T>, theirs: &Value) -> T {
    fixture.memory.by_hand();
    let mut call = Box::pin(call);
    let mut step = || {
        let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        for waiting in fixture.memory.waiting() {
            fixture.memory.apply(waiting);
            fixture.memory.acknowledge(waiting);
        }
        polled
    };
    // It reads what is registered.
    assert!(step().is_pending());
    fixture.memory.put("skills", "a", theirs);
    fixture.link.take_called();
    let result = loop {
        if let Poll::Ready(result) = step() {
            break result;
        }
    };
    fixture.memory.at_once();
    result
}

#[test]
fn of_two_instances_that_expect_the_same_body_one_writes_and_the_other_gets_a_conflict() {
    // An engine that does not compare, where the other row is put back, and one that does.
    for compares in [false, true] {
        let fixture = fixture();
        fixture.memory.compare(compares);
        fixture.register("a", "first");
        let first = Precondition::Digest(Digest::of(b"first"));
        let mine = fixture.registry.register(registration("mine", first));
        let result = interrupted(&fixture, mine, &row("a", "theirs"));
        let theirs = Digest::of(b"theirs");
        assert!(
            matches!(result, Err(Error::Conflict { current: Current::Digest(d), .. }) if d == theirs)
        );
        let writes = fixture.link.take_called();
        let writes = writes.iter().filter(|call| *call == "state::set").count();
        assert_eq!(writes, if compares { 1 } else { 2 });
        let stored = &fixture.memory.rows("skills")["a"];
        assert_eq!(*stored, row("a", "theirs"), "compares: {compares}");
    }
}

#[test]
fn a_removal_leaves_what_another_instance_registered_after_its_comparison() {
    for compares in [false, true] {
        let fixture = fixture();
        fixture.memory.compare(compares);
        fixture.register("a", "first");
        let first = Precondition::Digest(Digest::of(b"first"));
        let id = "a".parse().unwrap();
        let mine = fixture.registry.unregister(&id, first, Actor::default());
        let result = interrupted(&fixture, mine, &row("a", "theirs"));
        assert!(matches!(result, Err(Error::Conflict { .. })), "{result:?}");
        let stored = &fixture.memory.rows("skills")["a"];
        assert_eq!(*stored, row("a", "theirs"), "compares: {compares}");
    }
}

#[test]
fn what_is_expected_and_was_registered_again_in_between_is_replaced() {
    let fixture = fixture();
    fixture.memory.compare(true);
    fixture.register("a", "first");
    let first = Precondition::Digest(Digest::of(b"first"));
    let mut again = row("a", "first");
    again["registered_at"] = "later".into();
    let mine = fixture.registry.register(registration("mine", first));
    interrupted(&fixture, mine, &again).unwrap();
    assert_eq!(fixture.memory.rows("skills")["a"]["skill"], "mine");
    let mine = Precondition::Digest(Digest::of(b"mine"));
    let mut again = row("a", "mine");
    again["registered_at"] = "later".into();
    let id = "a".parse().unwrap();
    let removal = fixture.registry.unregister(&id, mine, Actor::default());
    assert!(interrupted(&fixture, removal, &again).unwrap());
    assert!(fixture.memory.rows("skills").is_empty());
}

#[test]
fn a_conflict_changes_nothing() {
    let fixture = fixture();
    fixture.register("a", "first");
    fixture.take_changes();
    fixture.link.take_called();
    let absent = registration("second", Precondition::Absent);
    let refused = now(fixture.registry.register(absent)).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains(&Digest::of(b"first").to_string())
    );
    assert_eq!(fixture.link.take_called(), ["state::get"]);
    assert_eq!(fixture.take_changes(), 0);
    assert_eq!(fixture.read("a").unwrap(), "first");
}

#[test]
fn a_damaged_row_is_in_the_way_and_has_no_digest() {
    let fixture = fixture();
    fixture
        .memory
        .put("skills", "a", &serde_json::json!({ "id": "a" }));
    for expected in [Precondition::Absent, Precondition::Digest(Digest::of(b"x"))] {
        let refused = now(fixture.registry.register(registration("b", expected)));
        assert!(matches!(
            refused,
            Err(Error::Conflict {
                current: Current::Damaged,
                ..
            })
        ));
    }
    let any = registration("b", Precondition::Any);
    now(fixture.registry.register(any)).unwrap();
}

#[test]
fn a_removal_compares_with_state_and_not_with_memory() {
    let mine = fixture();
    let theirs = fixture_on(&mine.memory, true);
    mine.register("a", "first");
    let id = "a".parse().unwrap();
    let unregister = |expected| now(mine.registry.unregister(&id, expected, Actor::default()));
    let first = Precondition::Digest(Digest::of(b"first"));
    // No event of it arrives.
    assert!(now(theirs.registry.unregister_skill(&id)).unwrap());
    assert!(!unregister(first).unwrap());
    theirs.register("a", "theirs");
    for expected in [first, Precondition::Absent] {
        let Err(Error::Conflict { current, .. }) = unregister(expected) else {
            panic!("another body is registered");
        };
        assert_eq!(current, Current::Digest(Digest::of(b"theirs")));
    }
}
