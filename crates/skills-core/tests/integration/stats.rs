//! Counts of use: what is counted, kept across restarts, and never lost or counted twice.

use std::sync::Arc;
use std::time::Duration;

use memory_engine::{Memory, now};
use serde_json::{Value, json};
use skills_core::{Failure, FetchOptions, Kind, Registry, RegistrySettings, Search};

use crate::{Fixture, fixture, fixture_on};

const SCOPE: &str = "skills.usage";

fn with_skills(fixture: Fixture) -> Fixture {
    fixture.register("mail", "# Mail\n\nSends a mail to a customer.");
    fixture.register("git", "# Commit\n\nCommits staged files.");
    fixture
}

/// `id offered routed fetched` of every skill.
fn stats(registry: &Registry) -> Vec<String> {
    let skills = now(registry.stats()).unwrap().skills.into_iter();
    let line = |(id, counts): (_, skills_core::UsageCounts)| {
        let [offered, routed, fetched] = [counts.offered, counts.routed, counts.fetched];
        format!("{id} {offered} {routed} {fetched}")
    };
    skills.map(line).collect()
}

fn route(fixture: &Fixture, request: &str) {
    now(fixture.registry.route(request, None)).unwrap();
}

#[test]
fn offers_routes_and_reads_are_counted() {
    let fixture = with_skills(fixture());
    assert_eq!(stats(&fixture.registry), ["git 0 0 0", "mail 0 0 0"]);
    route(&fixture, "mail a customer");
    let search = Search {
        text: "mail",
        ..Search::default()
    };
    now(fixture.registry.search(&search)).unwrap();
    for id in ["git", "git", "git#commit", "git?toc"] {
        fixture.read(id).unwrap();
    }
    now(fixture.registry.resolve(&"mail".parse().unwrap())).unwrap();
    assert_eq!(stats(&fixture.registry), ["git 0 0 4", "mail 2 1 1"]);
}

#[test]
fn an_abstention_a_test_a_check_and_a_failed_read_are_not_counted() {
    let fixture = with_skills(fixture());
    route(&fixture, "will it rain tomorrow in the mountains");
    now(fixture.registry.route_uncounted("mail a customer", None)).unwrap();
    let uri = "iii://mail".parse().unwrap();
    now(fixture.registry.read_uncounted(&uri)).unwrap();
    assert_eq!(fixture.read("gone"), Err(Kind::NotFound));
    assert_eq!(stats(&fixture.registry), ["git 0 0 0", "mail 0 0 0"]);
    now(fixture.registry.write_usage()).unwrap();
    assert!(fixture.memory.rows(SCOPE).is_empty());
}

#[test]
fn a_fetch_counts_the_texts_that_it_delivers() {
    let fixture = with_skills(fixture());
    let fetch = |uris: &[&str], max_tokens, partial| {
        let uris: Vec<_> = uris.iter().map(|&uri| uri.to_owned()).collect();
        let options = FetchOptions {
            max_tokens,
            partial,
        };
        now(fixture.registry.fetch(None, Some(&uris), options))
    };
    let counts = |expected: [&str; 2]| assert_eq!(stats(&fixture.registry), expected);
    // One address that cannot be read fails the call, and nothing is delivered.
    fetch(&["iii://mail", "iii://gone"], None, false).unwrap_err();
    fetch(&["iii://mail#gone"], None, false).unwrap_err();
    counts(["git 0 0 0", "mail 0 0 0"]);
    fetch(&["iii://mail", "iii://git#gone"], None, true).unwrap();
    counts(["mail 0 0 1", "git 0 0 0"]);
    let long = format!("# Mail\n\n{}", "Sends a mail. ".repeat(400));
    fixture.register("mail", &long);
    fetch(&["iii://git", "iii://mail"], Some(30), false).unwrap();
    counts(["git 0 0 1", "mail 0 0 1"]);
    let cut = fetch(&["iii://mail"], Some(1), false).unwrap();
    assert!(cut.contains("[cut: 0 of"), "{cut}");
    counts(["git 0 0 1", "mail 0 0 1"]);
    let texts = fetch(&["iii://git#commit", "iii://git?toc"], None, false).unwrap();
    assert!(texts.contains("staged"), "{texts}");
    counts(["git 0 0 3", "mail 0 0 1"]);
}

#[test]
fn counts_of_several_processes_are_added_and_kept() {
    let memory = Memory::new();
    let (a, b) = (
        with_skills(fixture_on(&memory, true)),
        fixture_on(&memory, true),
    );
    for fixture in [&a, &b, &a] {
        fixture.read("mail").unwrap();
        now(fixture.registry.write_usage()).unwrap();
        now(fixture.registry.write_usage()).unwrap();
    }
    a.read("mail").unwrap();
    assert_eq!(stats(&a.registry), ["mail 0 0 4", "git 0 0 0"]);
    let restarted = fixture_on(&memory, true);
    assert_eq!(stats(&restarted.registry), ["mail 0 0 3", "git 0 0 0"]);
    let row = json!({ "id": "mail", "offered": 0, "routed": 0, "fetched": 3 });
    assert_eq!(memory.rows(SCOPE)["mail"], row);
}

#[test]
fn no_text_of_a_request_is_stored() {
    let fixture = with_skills(fixture());
    route(&fixture, "mail a customer named Zebedee");
    now(fixture.registry.write_usage()).unwrap();
    let rows = format!("{:?}", fixture.memory.rows(SCOPE));
    assert!(rows.contains("mail") && !rows.contains("Zebedee"), "{rows}");
}

#[test]
fn counts_that_cannot_be_written_are_written_later() {
    let fixture = with_skills(fixture());
    fixture.read("mail").unwrap();
    fixture.link.cut();
    let failure = now(fixture.registry.write_usage()).unwrap_err();
    assert_eq!(failure.kind(), Kind::Unavailable);
    fixture.link.mend();
    now(fixture.registry.write_usage()).unwrap();
    now(fixture.registry.write_usage()).unwrap();
    assert_eq!(fixture.memory.rows(SCOPE)["mail"]["fetched"], 1);
}

#[test]
fn a_write_without_an_answer_is_not_repeated() {
    let fixture = with_skills(fixture());
    fixture.read("mail").unwrap();
    let after = Duration::from_secs(1);
    fixture.link.fail(Some(Failure::TimedOut { after }));
    now(fixture.registry.write_usage()).unwrap_err();
    fixture.link.fail(None);
    now(fixture.registry.write_usage()).unwrap();
    assert!(fixture.memory.rows(SCOPE).is_empty());
}

#[test]
fn damaged_counts_begin_again_from_zero() {
    for damaged in [
        json!({ "id": "mail", "offered": "many", "fetched": 7 }),
        json!({ "id": "mail", "fetched": [] }),
        json!("nothing"),
        Value::Null,
        json!({ "fetched": -3, "id": 5, "routed": "x" }),
    ] {
        let fixture = with_skills(fixture());
        fixture.memory.put(SCOPE, "mail", &damaged);
        assert_eq!(stats(&fixture.registry), ["git 0 0 0", "mail 0 0 0"]);
        fixture.read("mail").unwrap();
        now(fixture.registry.write_usage()).unwrap();
        let expected = ["mail 0 0 1", "git 0 0 0"];
        assert_eq!(stats(&fixture.registry), expected, "{damaged}");
    }
}

#[test]
fn an_outage_is_an_error_of_stats() {
    let fixture = with_skills(fixture());
    fixture.link.cut();
    let failure = now(fixture.registry.stats()).unwrap_err();
    assert_eq!(failure.kind(), Kind::Unavailable);
}

#[test]
fn nothing_is_counted_when_it_is_off() {
    let memory = Memory::new();
    let link = memory.connect();
    let settings = RegistrySettings {
        usage: false,
        ..RegistrySettings::default()
    };
    let registry = Registry::new(Arc::clone(&link) as _, Vec::new(), settings, || {
        "now".into()
    });
    registry.connected(true);
    let id = "mail".parse().unwrap();
    now(registry.register_skill(id, "# Mail".into())).unwrap();
    now(registry.read(&"iii://mail".parse().unwrap())).unwrap();
    now(registry.write_usage()).unwrap();
    let stats = now(registry.stats()).unwrap();
    assert!(!stats.is_counted && stats.skills[0].1.is_unused());
    assert!(memory.rows(SCOPE).is_empty());
}
