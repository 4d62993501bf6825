//! Changes by an instance that has not heard of another one's last change.

use std::pin::pin;
use std::task::{Context, Waker};

use memory_engine::{Memory, now};
use proptest::prelude::*;
use skills_core::{Digest, LeaseTerms, Precondition, SkillRegistration, VersionOp};

use crate::history::{Instance, after_a_lost_row, id, instance};

/// Two instances of which the second knows that A is registered, and has not heard of B.
fn late() -> [Instance; 2] {
    let memory = Memory::new();
    let [one, two] = [(); 2].map(|()| instance(&memory, 20));
    one.register("A");
    two.deliver();
    one.register("B");
    [one, two]
}

#[test]
fn a_registration_over_a_change_that_was_not_heard_of_makes_a_version() {
    let [one, two] = late();
    let registration = SkillRegistration {
        lease: LeaseTerms {
            owner: Some("mailer".parse().unwrap()),
            ..LeaseTerms::default()
        },
        ..SkillRegistration::new(id(), "A".into())
    };
    now(two.registry.register(registration)).unwrap();
    one.deliver();
    for instance in [&one, &two] {
        let all = ["1:register", "2:register", "3:register*"];
        assert_eq!(instance.history(), all);
        let owner = instance.heads()[0].actor.owner.clone();
        assert_eq!(owner.unwrap().as_str(), "mailer");
    }
    one.register("C");
    assert_eq!(one.read("iii://a@3").unwrap(), "A");
    assert_eq!(one.read("iii://a@4").unwrap(), "C");
}

#[test]
fn a_registration_replaced_at_once_stays_in_the_history() {
    let [one, two] = late();
    two.register("A");
    one.register("C");
    let all = ["1:register", "2:register", "3:register", "4:register*"];
    assert_eq!(one.history(), all);
    assert_eq!(one.read("iii://a@3").unwrap(), "A");
}

#[test]
fn a_registration_after_a_removal_that_was_not_heard_of_makes_a_version() {
    let [one, two] = late();
    two.deliver();
    one.unregister();
    two.register("B");
    let all = ["1:register", "2:register", "3:unregister", "4:register*"];
    assert_eq!(two.history(), all);
}

#[test]
fn a_row_without_a_version_that_was_not_heard_of_gets_one_before_it_is_replaced() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    one.register("A");
    memory.put("skills", "a", &crate::row("a", "foreign"));
    one.register("A");
    assert_eq!(one.history(), ["1:register", "2:found", "3:register*"]);
    assert_eq!(one.read("iii://a@2").unwrap(), "foreign");
}

#[test]
fn a_rollback_over_a_change_that_was_not_heard_of_makes_a_version() {
    let [_, two] = late();
    let done = two.rollback("1").unwrap();
    assert_eq!((done.version, done.from, done.unchanged), (3, 1, false));
    let newest = &two.heads()[0];
    assert_eq!((newest.op, newest.from), (VersionOp::Rollback, Some(1)));
}

#[test]
fn a_registration_over_a_known_text_makes_a_version_over_one_that_was_not_heard_of() {
    // An engine that compares, and one that does not.
    for compares in [true, false] {
        let memory = Memory::new();
        memory.compare(compares);
        let [one, two] = [(); 2].map(|()| instance(&memory, 20));
        one.register("A");
        two.deliver();
        one.register("B");
        let expected = Precondition::Digest(Digest::of(b"B"));
        let registration = SkillRegistration {
            expected,
            ..SkillRegistration::new(id(), "A".into())
        };
        now(two.registry.register(registration)).unwrap();
        let all = ["1:register", "2:register", "3:register*"];
        assert_eq!(two.history(), all);
        one.register("C");
        let expected = Precondition::Digest(Digest::of(b"C"));
        let version = now(two.registry.skill_version(&id(), &"3".parse().unwrap())).unwrap();
        now(two.registry.rollback_skill(&id(), version, expected, None)).unwrap();
        let newest = &two.heads()[0];
        assert_eq!((newest.version, newest.op), (5, VersionOp::Rollback));
    }
}

#[test]
fn a_version_that_cannot_be_recorded_after_its_row_is_recorded_later() {
    let memory = Memory::new();
    let [one, two] = [(); 2].map(|()| instance(&memory, 20));
    one.register("A");
    two.register("B");
    memory.offer("state::update", |_| {
        Err(skills_core::Failure::Failed {
            code: "UPDATE_ERROR".into(),
            message: "disk full".into(),
        })
    });
    now(one.registry.register_skill(id(), "A".into())).unwrap_err();
    memory.withdraw("state::update");
    one.register("C");
    let all = ["1:register", "2:register", "3:found", "4:register*"];
    assert_eq!(one.history(), all);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// One call after another, and events arrive at any time: every acknowledged change has its
    /// version, made by a registration or removal.
    #[test]
    fn every_acknowledged_change_is_in_the_history(
        steps in prop::collection::vec((0_usize..2, 0_usize..6), 1..40),
        compares in any::<bool>(),
    ) {
        let memory = Memory::new();
        memory.compare(compares);
        let instances = [(); 2].map(|()| instance(&memory, 100));
        let mut changes: Vec<Option<&str>> = Vec::new();
        for (who, what) in steps {
            let one = &instances[who];
            let current = changes.last().copied().flatten();
            let change = match what {
                0..=2 => {
                    let text = ["A", "B", "C"][what];
                    one.register(text);
                    Some(text)
                }
                3 => {
                    let expected = current.map_or(Precondition::Absent, |text| {
                        Precondition::Digest(Digest::of(text.as_bytes()))
                    });
                    let registration = SkillRegistration {
                        expected,
                        ..SkillRegistration::new(id(), "A".into())
                    };
                    now(one.registry.register(registration)).unwrap();
                    Some("A")
                }
                4 => {
                    prop_assert_eq!(one.unregister(), current.is_some());
                    None
                }
                _ => {
                    if let Some(event) = one.link.take_event(0) {
                        now(one.registry.apply_state_event(&event)).unwrap();
                    }
                    continue;
                }
            };
            if change != current || changes.is_empty() && change.is_some() {
                changes.push(change);
            }
        }
        for one in &instances {
            one.deliver();
            let heads = now(one.registry.skill_history(&id())).unwrap_or_default();
            prop_assert!(heads.iter().all(|head| head.op != VersionOp::Found), "{heads:?}");
            let digests = heads.iter().rev().map(|head| head.digest);
            let mut digests: Vec<_> = digests.collect();
            // An instance that has not heard of a text may register it a second time.
            digests.dedup();
            let expected = changes.iter();
            let expected: Vec<_> =
                expected.map(|text| text.map(|text| Digest::of(text.as_bytes()))).collect();
            prop_assert_eq!(digests, expected);
        }
    }
}

#[test]
fn registering_the_text_before_a_lost_row_again_is_listed_after_its_version() {
    let next = after_a_lost_row();
    assert_eq!(next.history(), ["1:register*", "2:register"]);
    // No change of the row, but later than version 2.
    next.register("A");
    assert_eq!(next.history(), ["1:register", "2:register", "3:found*"]);
    let done = next.rollback("1").unwrap();
    assert_eq!((done.version, done.from, done.unchanged), (3, 1, true));
    next.register("C");
    let all = ["1:register", "2:register", "3:found", "4:register*"];
    assert_eq!(next.history(), all);
    assert_eq!(next.read("iii://a@3").unwrap(), "A");
}

/// A registration with an owner is recorded while another instance records its row as found, in
/// both orders.
#[test]
fn a_registration_that_another_instance_finds_keeps_its_owner() {
    for found_first in [true, false] {
        let memory = Memory::new();
        let [one, two] = [(); 2].map(|()| instance(&memory, 20));
        let registration = SkillRegistration {
            lease: LeaseTerms {
                owner: Some("mailer".parse().unwrap()),
                ..LeaseTerms::default()
            },
            ..SkillRegistration::new(id(), "A".into())
        };
        let arrive = |number: u64| {
            memory.apply(number);
            memory.acknowledge(number);
        };
        memory.by_hand();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = pin!(one.registry.register(registration));
        // The row is stored, and its version is on the way.
        let version = loop {
            assert!(first.as_mut().poll(&mut context).is_pending());
            match *memory.waiting() {
                [row, version] => {
                    arrive(row);
                    break version;
                }
                ref calls => calls.iter().copied().for_each(arrive),
            }
        };
        memory.at_once();
        two.deliver();
        memory.by_hand();
        two.link.take_called();
        let mut second = pin!(two.registry.register_skill(id(), "B".into()));
        let found = loop {
            assert!(second.as_mut().poll(&mut context).is_pending());
            let calls = memory.waiting().into_iter().filter(|call| *call != version);
            let calls: Vec<_> = calls.collect();
            if two.link.take_called().contains(&"state::update".to_owned()) {
                break calls[0];
            }
            calls.into_iter().for_each(arrive);
        };
        let order = if found_first {
            [found, version]
        } else {
            [version, found]
        };
        order.into_iter().for_each(arrive);
        memory.at_once();
        let mut is_done = [false; 2];
        while is_done != [true; 2] {
            is_done[0] = is_done[0] || first.as_mut().poll(&mut context).is_ready();
            is_done[1] = is_done[1] || second.as_mut().poll(&mut context).is_ready();
            memory.waiting().into_iter().for_each(arrive);
        }
        assert_eq!(
            two.history(),
            ["1:register", "2:register*"],
            "{found_first}"
        );
        let owner = two.heads()[1].actor.owner.clone();
        assert_eq!(owner.unwrap().as_str(), "mailer");
    }
}
