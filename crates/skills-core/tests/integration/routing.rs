//! Routing, and chains of links with limits, damaged rows and outages.

use memory_engine::now;
use serde_json::json;
use skills_core::{BODY_MAX, CHAIN_BYTES_MAX, CHAIN_MAX, Kind, Resolved};

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
