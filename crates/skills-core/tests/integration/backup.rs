//! The rows of a backup, from an engine that lists rows without their keys.

use std::collections::BTreeMap;

use memory_engine::{Memory, now};
use serde_json::Value;
use skills_core::{LeaseTerms, Registry, SkillRegistration, Ttl};

use crate::history::{Instance, id, instance};

fn copied(registry: &Registry, scope: &str) -> BTreeMap<String, Value> {
    let copy = now(registry.backup_rows(scope)).unwrap();
    assert_eq!(copy.left_out, [], "{scope}");
    let rows = copy.rows.into_iter();
    let value = |value: skills_core::Json| serde_json::from_str(value.get()).unwrap();
    rows.map(|(key, row)| (key, value(row))).collect()
}

fn register_leased(one: &Instance, body: &str) {
    let registration = SkillRegistration {
        lease: LeaseTerms {
            owner: Some("mailer".parse().unwrap()),
            ttl: Some(Ttl::from_ms(60_000_000).unwrap()),
            worker: None,
        },
        ..SkillRegistration::new(id(), body.into())
    };
    now(one.registry.register(registration)).unwrap();
}

#[test]
fn versions_and_leases_have_their_keys() {
    let memory = Memory::new();
    let one = instance(&memory, 3);
    for body in ["1", "2", "3", "4", "5"] {
        register_leased(&one, body);
    }
    now(one.registry.renew(&"mailer".parse().unwrap())).unwrap();
    for scope in ["skills", "skills.versions", "skills.leases"] {
        let copy = copied(&one.registry, scope);
        assert!(!copy.is_empty(), "{scope}");
        assert_eq!(copy, memory.rows(scope), "{scope}");
    }
}

#[test]
fn versions_of_a_longer_ring_and_of_what_is_not_registered_have_their_keys() {
    let memory = Memory::new();
    let few = instance(&memory, 2);
    for body in ["1", "2", "3"] {
        few.register(body);
    }
    let many = instance(&memory, 4);
    for body in ["4", "5"] {
        many.register(body);
    }
    assert_eq!(
        copied(&many.registry, "skills.versions"),
        memory.rows("skills.versions")
    );
    assert!(many.unregister());
    now(many.registry.collect_history(false)).unwrap();
    let copy = copied(&many.registry, "skills.versions");
    // A row without versions is not copied.
    assert_eq!(copy["a@0"], memory.rows("skills.versions")["a@0"]);
    // What is restored from it goes on with its numbers.
    let restored = Memory::new();
    for (key, row) in &copy {
        restored.put("skills.versions", key, row);
    }
    let two = instance(&restored, 4);
    two.register("6");
    assert_eq!(two.history().last().unwrap(), "7:register*");
}

#[test]
fn the_first_row_of_a_ring_that_became_longer_is_copied() {
    let memory = Memory::new();
    let few = instance(&memory, 3);
    // Version 7 is in the first row, and the next one that the longer ring puts there is 17.
    for body in 0..9 {
        few.register(&format!("few {body}"));
    }
    let many = instance(&memory, 8);
    for body in 0..14 {
        many.register(&format!("many {body}"));
        let copy = copied(&many.registry, "skills.versions");
        let restored = Memory::new();
        for (scope, rows) in [
            ("skills", copied(&many.registry, "skills")),
            ("skills.versions", copy),
        ] {
            for (key, row) in &rows {
                restored.put(scope, key, row);
            }
        }
        let two = instance(&restored, 8);
        assert_eq!(two.history(), many.history(), "after {body}");
    }
}
