//! Giving back versions that are not needed any more.

use memory_engine::{Memory, now};
use skills_core::{EntryName, HistoryGarbage, LogRequest};

use crate::history::{id, instance};

#[test]
fn the_texts_of_what_is_not_registered_are_given_back_and_numbers_go_on() {
    let memory = Memory::new();
    let one = instance(&memory, 5);
    for body in ["one", "two", "three"] {
        one.register(body);
    }
    assert!(one.unregister());
    let expected = HistoryGarbage {
        entries: vec![(EntryName::Skill(id()), 3)],
        versions: 3,
        bytes: 11,
        freed: None,
    };
    let dry = now(one.registry.collect_history(true)).unwrap();
    assert_eq!(dry, expected);
    assert_eq!(
        memory.rows("skills.versions").len(),
        4,
        "nothing was removed"
    );
    assert_eq!(now(one.registry.collect_history(false)).unwrap(), expected);
    assert_eq!(memory.rows("skills.versions").len(), 1);
    assert_eq!(one.history(), ["4:unregister"]);
    let again = now(one.registry.collect_history(false)).unwrap();
    assert_eq!(again, HistoryGarbage::default());
    one.register("four");
    assert_eq!(one.history(), ["4:unregister", "5:register*"]);
    assert_eq!(instance(&memory, 5).history(), one.history());
    // The mark makes room when its place is needed.
    for body in 6..=20 {
        one.register(&body.to_string());
    }
    let numbers: Vec<_> = one.heads().iter().map(|head| head.version).collect();
    assert_eq!(numbers, [20, 19, 18, 17, 16]);
    assert_eq!(memory.rows("skills.versions").len(), 5);
}

#[test]
fn what_is_registered_keeps_its_versions() {
    let memory = Memory::new();
    let one = instance(&memory, 5);
    one.register("one");
    one.register("two");
    let none = now(one.registry.collect_history(false)).unwrap();
    assert_eq!(none, HistoryGarbage::default());
    assert_eq!(one.history(), ["1:register", "2:register*"]);
}

#[test]
fn versions_beyond_a_smaller_number_are_given_back() {
    let memory = Memory::new();
    let many = instance(&memory, 10);
    for body in 1..=10 {
        many.register(&body.to_string());
    }
    let few = instance(&memory, 3);
    let garbage = now(few.registry.collect_history(false)).unwrap();
    assert_eq!((garbage.versions, garbage.bytes), (7, 7));
    assert_eq!(garbage.entries, []);
    let numbers = |one: &crate::history::Instance| {
        let heads = one.heads();
        heads.iter().map(|head| head.version).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&few), [10, 9, 8]);
    few.register("next");
    assert_eq!(numbers(&few), [11, 10, 9]);
    // Turned off, everything is given back.
    let off = instance(&memory, 0);
    now(off.registry.collect_history(false)).unwrap();
    assert_eq!(memory.rows("skills.versions").len(), 1);
    let on = instance(&memory, 3);
    on.register("again");
    assert_eq!(on.heads()[0].version, 13, "what was there is version 12");
}

#[test]
fn a_version_whose_text_was_given_back_is_not_listed_and_is_not_a_removal() {
    let memory = Memory::new();
    let many = instance(&memory, 10);
    for body in 1..=5 {
        many.register(&body.to_string());
    }
    let first = many.heads()[4].digest.unwrap().to_string();
    let few = instance(&memory, 2);
    let garbage = now(few.registry.collect_history(false)).unwrap();
    assert_eq!((garbage.versions, garbage.bytes), (3, 3));
    let off = instance(&memory, 0);
    for one in [&many, &few, &off] {
        assert_eq!(one.history(), ["4:register", "5:register*"]);
        let log = now(one.registry.log(&LogRequest::default())).unwrap();
        assert_eq!(log.total, 2);
        for version in ["1".to_owned(), first[..20].to_owned()] {
            let error = one.read(&format!("iii://a@{version}")).unwrap_err();
            let expected = format!(
                "version {version} of skill `a` is not kept any more: its text was given back (it \
                 has 4, 5)"
            );
            assert_eq!(error.to_text(), expected);
            assert_eq!(one.rollback(&version).unwrap_err().to_text(), expected);
        }
        let never = one.read("iii://a@2").unwrap_err();
        assert!(never.to_text().contains("not found"), "nothing is left");
    }
    let again = now(few.registry.collect_history(false)).unwrap();
    assert_eq!(again, HistoryGarbage::default());
    // It takes the place of no text.
    for body in 6..=13 {
        many.register(&body.to_string());
    }
    let numbers: Vec<_> = many.heads().iter().rev().map(|head| head.version).collect();
    assert_eq!(numbers, (4..=13).collect::<Vec<_>>());
}
