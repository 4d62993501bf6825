//! Writes with a precondition, alone and against another instance.

use std::task::{Context, Poll, Waker};

use memory_engine::now;
use skills_core::{Current, Digest, Error, Precondition, SkillRegistration};

use crate::{fixture, row};

fn registration(body: &str, expected: Precondition) -> SkillRegistration {
    SkillRegistration {
        expected,
        ..SkillRegistration::new("a".parse().unwrap(), body.into())
    }
}

#[test]
fn of_two_instances_that_expect_the_same_body_one_writes_and_the_other_gets_a_conflict() {
    let fixture = fixture();
    fixture.register("a", "first");
    let first = Precondition::Digest(Digest::of(b"first"));
    fixture.memory.by_hand();
    let mut mine = Box::pin(fixture.registry.register(registration("mine", first)));
    let mut step = || {
        let polled = mine.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        for call in fixture.memory.waiting() {
            fixture.memory.apply(call);
            fixture.memory.acknowledge(call);
        }
        polled
    };
    // It reads the first body; then another instance writes.
    assert!(step().is_pending());
    fixture.memory.put("skills", "a", &row("a", "theirs"));
    let result = loop {
        if let Poll::Ready(result) = step() {
            break result;
        }
    };
    let theirs = Digest::of(b"theirs");
    assert!(
        matches!(result, Err(Error::Conflict { current: Current::Digest(d), .. }) if d == theirs)
    );
    assert_eq!(
        fixture.memory.rows("skills")["a"],
        row("a", "theirs"),
        "the row that was acknowledged first is put back"
    );
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
