//! Routing, and chains of links with limits, damaged rows and outages.

use std::sync::Arc;

use memory_engine::{Memory, now};
use serde_json::json;
use skills_core::{
    BODY_MAX, CHAIN_BYTES_MAX, CHAIN_MAX, Kind, Registry, RegistrySettings, Resolved,
};

use crate::{Fixture, fixture};

fn resolve(fixture: &Fixture, id: &str) -> Resolved {
    now(fixture.registry.resolve(&id.parse().unwrap())).unwrap()
}

#[test]
fn a_chain_with_too_many_skills_is_incomplete() {
    let fixture = fixture();
    for n in 0..CHAIN_MAX + 10 {
        fixture.register(&format!("s{n}"), &format!("[next](iii://s{})", n + 1));
    }
    let resolved = resolve(&fixture, "s0");
    assert_eq!(resolved.skills.len(), CHAIN_MAX);
    assert_eq!(resolved.skills[CHAIN_MAX - 1].id.as_ref(), "s255");
    assert!(!resolved.complete && resolved.missing.is_empty());
    let tail = resolve(&fixture, "s260");
    assert_eq!(tail.skills.len(), 6);
    assert!(tail.complete);
    assert_eq!(tail.missing[0].uri, "iii://s266");
}

#[test]
fn a_chain_with_too_many_bytes_is_incomplete() {
    let fixture = fixture();
    let fit = CHAIN_BYTES_MAX / BODY_MAX;
    for n in 0..fit + 2 {
        let link = format!("[next](iii://s{})\n", n + 1);
        let body = format!("{link}{}", "a".repeat(BODY_MAX - link.len()));
        fixture.register(&format!("s{n}"), &body);
    }
    let resolved = resolve(&fixture, "s0");
    assert_eq!(resolved.skills.len(), fit);
    assert!(!resolved.complete);
}

/// A registry that keeps versions.
fn with_history() -> Fixture {
    let memory = Memory::new();
    let link = memory.connect();
    let settings = RegistrySettings::default();
    let registry = Registry::new(link.clone(), Vec::new(), settings, || "now".into());
    registry.connected(false);
    Fixture {
        memory,
        link,
        registry,
        changes: Arc::default(),
    }
}

#[test]
fn a_link_to_a_version_brings_that_text_and_never_the_current_one() {
    let fixture = with_history();
    fixture.register("b", "# Old\n\n[c](iii://c) [up](a.md)");
    fixture.register("b", "# New");
    fixture.register("c", "# C");
    fixture.register("a", "[1](iii://b@1#part) [2](iii://b@2) [1](iii://b@1?toc)");
    let resolved = resolve(&fixture, "a");
    let found = resolved.skills.iter().map(|s| (&*s.id, &*s.title));
    let found: Vec<_> = found.collect();
    assert_eq!(
        found,
        [
            ("a", "a"),
            ("iii://b@1", "Old"),
            ("c", "C"),
            ("iii://b@2", "New")
        ]
    );
    assert_eq!(
        &*resolved.skills[1].text,
        "# Old\n\n[c](iii://c) [up](a.md)"
    );
    assert!(resolved.missing.is_empty() && resolved.complete);
    let from = now(fixture.registry.linked_from(&"b".parse().unwrap())).unwrap();
    assert_eq!(from.len(), 1, "{from:?}");

    // What was unregistered has its versions still; a removal has no text.
    now(fixture.registry.unregister_skill(&"b".parse().unwrap())).unwrap();
    let uris = [
        "b@1",
        "b@3",
        "b@99",
        "b@sha256:0000",
        "c@2",
        "none@1",
        "@files/none",
    ];
    let links = uris.map(|uri| format!("<iii://{uri}>")).join(" ");
    fixture.register("dead", &links);
    let resolved = resolve(&fixture, "dead");
    let found: Vec<_> = resolved.skills.iter().map(|s| &*s.id).collect();
    assert_eq!(
        found,
        ["dead", "iii://b@1", "c", "a", "iii://b@2"],
        "{resolved:?}"
    );
    let missing = resolved.missing.iter();
    let missing: Vec<_> = missing.map(|m| (&*m.uri, &*m.reason)).collect();
    let uris = uris[1..].iter().map(|uri| format!("iii://{uri}"));
    assert_eq!(
        missing.iter().map(|(uri, _)| *uri).collect::<Vec<_>>(),
        uris.collect::<Vec<_>>()
    );
    assert!(missing[1].1.contains("it has 1, 2"), "{missing:?}");

    fixture.link.cut();
    let failed = now(fixture.registry.resolve(&"dead".parse().unwrap())).unwrap_err();
    assert_eq!(failed.kind(), Kind::Unavailable);
}

#[test]
fn a_link_to_a_damaged_row_is_reported_and_an_outage_is_an_error() {
    let fixture = fixture();
    fixture.register("a", "[b](iii://b) [c](iii://c)");
    fixture.register("c", "---\ntriggers: see\n---\n# C");
    fixture.memory.put("skills", "b", &json!({ "id": "b" }));
    fixture.deliver();
    let resolved = resolve(&fixture, "a");
    let ids: Vec<_> = resolved.skills.iter().map(|s| &*s.id).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(resolved.missing[0].uri, "iii://b");
    assert!(resolved.missing[0].reason.contains("skill `b`"));

    fixture.registry.disconnected();
    fixture.link.cut();
    let error = now(fixture.registry.resolve(&"a".parse().unwrap())).unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    let error = now(fixture.registry.route("see", None)).unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
}
