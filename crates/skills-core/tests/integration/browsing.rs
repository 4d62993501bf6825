//! What people look at: functions and workers, what links to a skill, a search while it is typed.

use memory_engine::now;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_core::{Json, Kind, Search};

use crate::fixture;

fn raw(value: &Value) -> Json {
    to_raw_value(value).unwrap()
}

#[test]
fn what_links_to_a_skill_follows_its_text() {
    let fixture = fixture();
    let from = |id: &str| -> Vec<String> {
        let found = now(fixture.registry.linked_from(&id.parse().unwrap())).unwrap();
        found.iter().map(ToString::to_string).collect()
    };
    fixture.register(
        "mail",
        "# Mail\n\n[one](iii://mail/send#how) [self](iii://mail)",
    );
    fixture.register("mail/send", "# Send\n\n[up](../mail.md)");
    fixture.register("other", "# Other\n\n`[no](iii://mail)` iii://mail");
    assert_eq!(from("mail/send"), ["mail"]);
    assert_eq!(from("mail"), ["mail/send"]);
    fixture.register("other", "# Other\n\n[yes](iii://mail)");
    assert_eq!(from("mail"), ["mail/send", "other"]);
    now(fixture
        .registry
        .unregister_skill(&"mail/send".parse().unwrap()))
    .unwrap();
    assert_eq!(from("mail"), ["other"]);
    assert!(from("absent").is_empty());
}

#[test]
fn functions_and_workers_are_listed_in_order_and_an_outage_is_an_error() {
    let fixture = fixture();
    let registry = &fixture.registry;
    let absent = now(registry.functions()).unwrap_err();
    assert_eq!(absent.kind(), Kind::Unavailable);
    assert_eq!(
        now(registry.workers()).unwrap_err().kind(),
        Kind::Unavailable
    );
    let memory = &fixture.memory;
    memory.offer("engine::functions::list", |_| {
        let functions = [
            json!({ "function_id": "b::two", "worker_name": "b" }),
            json!({ "function_id": "a::one", "worker_name": "a", "description": "One." }),
        ];
        Ok(Some(raw(&json!({ "functions": functions }))))
    });
    memory.offer("engine::functions::info", |_| {
        let functions = [
            json!({ "function_id": "a::one", "worker_name": "a", "request_schema": { "type": "object" } }),
            json!({ "function_id": "gone", "error": "not_found" }),
        ];
        Ok(Some(raw(&json!({ "functions": functions }))))
    });
    memory.offer("engine::workers::list", |_| {
        let workers = [
            json!({ "id": "2", "name": "late", "connected_at_ms": 9, "function_count": 1 }),
            json!({ "id": "1", "connected_at_ms": 5 }),
        ];
        Ok(Some(raw(&json!({ "workers": workers }))))
    });
    let functions = now(registry.functions()).unwrap();
    let ids: Vec<_> = functions.iter().map(|card| &*card.id).collect();
    assert_eq!(ids, ["a::one", "b::two"]);
    let described = now(registry.describe_functions(&["a::one", "gone"])).unwrap();
    assert_eq!(described.len(), 1);
    assert_eq!(
        described[0].input.as_ref().unwrap().get(),
        r#"{"type":"object"}"#
    );
    let workers = now(registry.workers()).unwrap();
    assert_eq!((&*workers[0].id, workers[0].name.as_deref()), ("1", None));
    assert_eq!(
        (workers[1].name.as_deref(), workers[1].function_count),
        (Some("late"), 1)
    );
}

#[test]
fn a_word_that_is_still_typed_finds_the_word_it_begins() {
    let fixture = fixture();
    fixture.register("mail", "# Zqrflings\n\nSend them.");
    // Parts of a word may be found by their meaning too.
    let is_in_title = |text: &str, completes: bool| {
        let search = Search {
            text,
            completes,
            ..Search::default()
        };
        let found = now(fixture.registry.search_uncounted(&search)).unwrap();
        let mut why = found.matches.iter().flat_map(|found| &found.why);
        why.any(|reason| reason.word == "zqrflings" && reason.fields.contains(&"title"))
    };
    assert!(is_in_title("zqr", true));
    assert!(!is_in_title("zqr", false));
    assert!(!is_in_title("zqr ", true));
    let stats = now(fixture.registry.stats()).unwrap();
    assert!(stats.skills.iter().all(|(_, counts)| counts.offered == 0));
}
