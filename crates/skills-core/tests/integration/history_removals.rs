//! Removals have versions that say why, and do not count towards the number of texts that are kept.

use std::pin::pin;
use std::task::{Context, Waker};

use memory_engine::{Memory, now};
use skills_core::{
    Digest, EntryName, Failure, LeaseTerms, Precondition, SkillRegistration, Ttl, VersionOp,
};

use crate::history::{id, instance};

#[test]
fn with_one_version_what_was_unregistered_can_be_rolled_back() {
    let memory = Memory::new();
    let one = instance(&memory, 1);
    one.register("A");
    one.register("B");
    assert!(one.unregister());
    assert_eq!(one.history(), ["2:register", "3:unregister"]);
    assert_eq!(one.rollback("2").unwrap().version, 4);
    assert_eq!(one.history(), ["4:rollback*"]);
    assert_eq!(one.read("iii://a").unwrap(), "B");
    assert_eq!(memory.rows("skills.versions").len(), 1);
}

#[test]
fn as_many_texts_are_kept_as_without_removals() {
    for keep in 1..=5 {
        let memory = Memory::new();
        let one = instance(&memory, keep);
        // Every second version is a removal, and later none.
        for body in 1..=9 {
            one.register(&body.to_string());
            assert!(one.unregister());
        }
        one.register("10");
        one.register("11");
        let restarted = instance(&memory, keep);
        for who in [&one, &restarted] {
            let heads = who.heads();
            let texts: Vec<_> = heads.iter().filter(|head| head.digest.is_some()).collect();
            assert_eq!(texts.len(), keep, "{heads:?}");
            for (head, body) in texts.iter().zip((1..=11).rev()) {
                let text = who.read(&format!("iii://a@{}", head.version)).unwrap();
                assert_eq!(text, body.to_string());
            }
        }
        let stored: usize = memory
            .rows("skills.versions")
            .values()
            .map(|row| row.to_string().matches("\"row\"").count())
            .sum();
        assert_eq!(stored, keep, "no text beyond them takes space");
        one.register("12");
        assert_eq!(now(one.registry.collect_history(true)).unwrap().versions, 0);
    }
}

#[test]
fn one_text_that_comes_and_goes_leaves_the_other() {
    let one = instance(&Memory::new(), 4);
    one.register("kept");
    for _ in 0..3 {
        one.register("changing");
        assert!(one.unregister());
    }
    assert_eq!(one.read("iii://a@1").unwrap(), "kept");
}

#[test]
fn the_number_of_removals_without_texts_is_limited() {
    let memory = Memory::new();
    let one = instance(&memory, 2);
    for body in 0..20 {
        one.register(&body.to_string());
        assert!(one.unregister());
        now(one.registry.collect_history(false)).unwrap();
    }
    assert!(one.heads().len() <= 4, "{:?}", one.history());
    assert_eq!(one.heads()[0].version, 40);
    let found = now(one.registry.collect_history(false)).unwrap();
    assert_eq!(found.entries, Vec::<(EntryName, usize)>::new());
}

#[test]
fn of_racing_changes_the_later_one_has_the_later_time() {
    let memory = Memory::new();
    let one = instance(&memory, 5);
    one.register("A");
    memory.by_hand();
    // It has the lock of the entry, and waits for what is registered.
    let registration = SkillRegistration {
        expected: Precondition::Digest(Digest::of(b"A")),
        ..SkillRegistration::new(id(), "B".into())
    };
    let mut register = pin!(one.registry.register(registration));
    let id = id();
    let mut unregister = pin!(one.registry.unregister_skill(&id));
    let mut context = Context::from_waker(Waker::noop());
    assert!(register.as_mut().poll(&mut context).is_pending());
    assert!(unregister.as_mut().poll(&mut context).is_pending());
    let (mut registered, mut unregistered) = (false, false);
    while !unregistered {
        for call in memory.waiting() {
            memory.apply(call);
            memory.acknowledge(call);
        }
        registered = registered || register.as_mut().poll(&mut context).is_ready();
        unregistered = registered && unregister.as_mut().poll(&mut context).is_ready();
    }
    memory.at_once();
    let heads = one.heads();
    assert_eq!(one.history()[1..], ["2:register", "3:unregister"]);
    assert!(heads[0].at > heads[1].at, "{heads:?}");
}

#[test]
fn a_skill_past_its_lease_has_a_version_that_says_so() {
    let one = instance(&Memory::new(), 20);
    let leased = SkillRegistration {
        lease: LeaseTerms {
            owner: Some("mailer".parse().unwrap()),
            ttl: Some(Ttl::from_ms(1).unwrap()),
            worker: None,
        },
        ..SkillRegistration::new(id(), "A".into())
    };
    now(one.registry.register(leased)).unwrap();
    let entry = EntryName::Skill(id());
    assert!(now(one.registry.remove_expired(&entry)).unwrap());
    let heads = one.heads();
    assert_eq!((heads[0].version, heads[0].op), (2, VersionOp::Expire));
    assert_eq!(heads[0].actor.owner.as_ref().unwrap().as_str(), "mailer");
    assert_eq!(one.read("iii://a@1").unwrap(), "A");
}

#[test]
fn a_removal_that_cannot_be_recorded_says_that_the_entry_is_gone() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    let entry = EntryName::Skill(id());
    let leased = || SkillRegistration {
        lease: LeaseTerms {
            ttl: Some(Ttl::from_ms(1).unwrap()),
            ..LeaseTerms::default()
        },
        ..SkillRegistration::new(id(), "A".into())
    };
    let unregister = || now(one.registry.unregister_skill(&id()));
    let expire = || now(one.registry.remove_expired(&entry));
    for remove in [&unregister as &dyn Fn() -> _, &expire] {
        now(one.registry.register(leased())).unwrap();
        one.deliver();
        let fail = |_| {
            Err(Failure::Failed {
                code: "UPDATE_ERROR".into(),
                message: "disk full".into(),
            })
        };
        memory.offer("state::update", fail);
        let failed = remove().unwrap_err().to_text();
        memory.withdraw("state::update");
        let expected =
            "could not record the removal of skill `a`, which is not registered any more";
        assert!(failed.starts_with(expected), "{failed}");
        assert!(memory.rows("skills").is_empty());
        assert!(memory.rows("skills.leases").is_empty());
    }
}
