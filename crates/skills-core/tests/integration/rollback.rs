//! Bringing back older versions of skills and prompts, and which of them can be read.

use memory_engine::{Memory, now};
use serde_json::json;
use skills_core::{Kind, LeaseTerms, Precondition, PromptRegistration, SkillRegistration, Ttl};

use crate::history::{id, instance};
use crate::row;

#[test]
fn a_rollback_is_a_new_version() {
    let one = instance(&Memory::new(), 20);
    one.register("A");
    one.register("B");
    let done = one.rollback("1").unwrap();
    assert_eq!((done.version, done.from, done.unchanged), (3, 1, false));
    assert_eq!(one.history(), ["1:register", "2:register", "3:rollback*"]);
    assert_eq!(one.heads()[0].from, Some(1));
    assert_eq!(one.read("iii://a").unwrap(), "A");
    // What is current already makes no version.
    for version in ["1", "3"] {
        let done = one.rollback(version).unwrap();
        assert_eq!((done.version, done.unchanged), (3, true));
    }
    one.unregister();
    let digest = one.heads()[2].digest.unwrap().to_string();
    assert_eq!(one.rollback(&digest[..20]).unwrap().version, 5);
    assert_eq!(one.read("iii://a").unwrap(), "B");
    let removal = one.rollback("4").unwrap_err();
    assert_eq!(
        removal.to_text(),
        "version 4 of skill `a` has no text: it is a removal (it has 1 to 3, 5)"
    );
    let unknown = one.rollback("6").unwrap_err();
    assert_eq!(unknown.kind(), Kind::NotFound);
}

#[test]
fn a_rollback_keeps_the_owner_and_the_lease() {
    let one = instance(&Memory::new(), 20);
    one.register("A");
    let leased = SkillRegistration {
        lease: LeaseTerms {
            owner: Some("mailer".parse().unwrap()),
            ttl: Some(Ttl::from_ms(60_000).unwrap()),
            worker: Some("w1".into()),
        },
        ..SkillRegistration::new(id(), "B".into())
    };
    now(one.registry.register(leased)).unwrap();
    one.rollback("1").unwrap();
    let listed = now(one.registry.skills()).unwrap().entries;
    let lease = listed[0].lease.as_ref().unwrap();
    assert_eq!(lease.owner.as_ref().unwrap().as_str(), "mailer");
    assert!(lease.expires_at.is_some());
    let actors: Vec<_> = one.heads().into_iter().map(|head| head.actor).collect();
    assert_eq!(actors[1].worker.as_deref(), Some("w1"));
    assert_eq!(actors[0].owner.as_ref().unwrap().as_str(), "mailer");
}

#[test]
fn a_rollback_by_another_worker_leaves_the_entry_to_its_owner() {
    let memory = Memory::new();
    memory.offer("engine::workers::list", |_| {
        // The owner is the name that it chose; the worker is connected under another.
        let workers = json!({ "workers": [{ "id": "w1", "name": "host:4711" }] });
        Ok(Some(serde_json::value::to_raw_value(&workers).unwrap()))
    });
    let one = instance(&memory, 20);
    one.register("A");
    let leased = |body: &str, ttl: Option<u64>| SkillRegistration {
        lease: LeaseTerms {
            owner: Some("mailer".parse().unwrap()),
            ttl: ttl.map(|ms| Ttl::from_ms(ms).unwrap()),
            worker: Some("w1".into()),
        },
        ..SkillRegistration::new(id(), body.into())
    };
    now(one.registry.register(leased("B", None))).unwrap();
    let rollback = |version: &str| {
        let version = version.parse().unwrap();
        let version = now(one.registry.skill_version(&id(), &version)).unwrap();
        let (any, cli) = (Precondition::Any, Some("cli-7".into()));
        now(one.registry.rollback_skill(&id(), version, any, cli)).unwrap();
    };
    rollback("1");
    let actor = one.heads()[0].actor.clone();
    assert_eq!(actor.worker.as_deref(), Some("cli-7"));
    assert_eq!(actor.owner.unwrap().as_str(), "mailer");
    let garbage = now(one.registry.collect_garbage(false)).unwrap();
    assert_eq!(garbage.entries, []);
    assert!(garbage.owners[0].connected);
    // A lease is not extended.
    now(one.registry.register(leased("C", Some(60_000)))).unwrap();
    let expires = || {
        let listed = now(one.registry.skills()).unwrap().entries;
        listed[0].lease.as_ref().unwrap().expires_at.clone()
    };
    let end = expires();
    rollback("1");
    rollback("2");
    assert!(end.is_some());
    assert_eq!(expires(), end);
}

#[test]
fn a_rollback_may_name_what_must_be_registered() {
    let one = instance(&Memory::new(), 20);
    one.register("A");
    one.register("B");
    let version = now(one.registry.skill_version(&id(), &"1".parse().unwrap())).unwrap();
    let absent = Precondition::Absent;
    let refused = now(one.registry.rollback_skill(&id(), version, absent, None)).unwrap_err();
    assert_eq!(refused.kind(), Kind::Conflict);
    assert_eq!(one.history(), ["1:register", "2:register*"]);
}

#[test]
fn prompts_have_versions_too() {
    let one = instance(&Memory::new(), 20);
    let register = |description: &str| {
        now(one.registry.register_prompt(PromptRegistration {
            name: "greet".parse().unwrap(),
            description: description.into(),
            arguments: Vec::new(),
            function_id: "w::greet".parse().unwrap(),
            lease: LeaseTerms::default(),
            expected: Precondition::Any,
            rollback: None,
        }))
        .unwrap();
    };
    register("Says hello");
    register("Says goodbye");
    register("Says goodbye");
    let name = "greet".parse().unwrap();
    let done =
        now(one
            .registry
            .rollback_prompt(&name, &"1".parse().unwrap(), Precondition::Any, None))
        .unwrap();
    assert_eq!((done.version, done.from), (3, 1));
    let versions = now(one.registry.prompt_history(&name)).unwrap();
    let texts = versions.iter().map(|version| {
        let prompt = version.prompt.as_ref().unwrap();
        (version.head.version, &*prompt.description)
    });
    let texts: Vec<_> = texts.collect();
    assert_eq!(
        texts,
        [(3, "Says hello"), (2, "Says goodbye"), (1, "Says hello")]
    );
}

#[test]
fn what_has_no_history_is_not_found_and_what_is_off_is_not_read() {
    let one = instance(&Memory::new(), 20);
    let missing = now(one.registry.skill_history(&id())).unwrap_err();
    assert_eq!(missing.kind(), Kind::NotFound);
    assert!(missing.to_string().contains("skill `a` has no versions"));
    assert_eq!(one.read("iii://a@1").unwrap_err().kind(), Kind::NotFound);
    one.register("A");
    one.register("---\nvisibility: \"off\"\n---\nB");
    assert_eq!(one.read("iii://a@1").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(one.history(), ["1:register", "2:register*"]);
    one.rollback("1").unwrap();
    assert_eq!(one.read("iii://a@1").unwrap(), "A");
    assert_eq!(one.read("iii://a@2").unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn a_rollback_to_what_is_registered_without_a_version_changes_nothing() {
    let memory = Memory::new();
    memory.put("skills", "a", &row("a", "A"));
    let one = instance(&memory, 20);
    assert_eq!(one.history(), ["1:found*"]);
    let done = one.rollback("1").unwrap();
    assert_eq!((done.version, done.unchanged), (1, true));
    assert_eq!(one.history(), ["1:found*"]);
}

#[test]
fn a_rollback_without_a_history_says_whether_it_changed_the_text() {
    let memory = Memory::new();
    instance(&memory, 20).register("A");
    let one = instance(&memory, 0);
    one.register("B");
    for unchanged in [false, true] {
        let done = one.rollback("1").unwrap();
        assert_eq!((done.version, done.unchanged), (1, unchanged));
        assert_eq!(one.read("iii://a").unwrap(), "A");
    }
}
