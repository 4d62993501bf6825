//! What readers see: loads, events, outages, damaged rows.

use std::task::{Context, Waker};

use memory_engine::{Memory, now};
use serde_json::json;
use skills_core::{Failure, Kind};

use crate::{fixture, fixture_on, row};

#[test]
fn a_scope_is_loaded_once_and_then_answered_from_memory() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(fixture.ids(), ["a"]);
    assert_eq!(fixture.link.take_called(), ["state::list"]);
    assert_eq!(fixture.read("a").unwrap(), "A");
    assert!(fixture.read("skills").unwrap().contains("iii://a"));
    assert_eq!(fixture.link.take_called(), [""; 0]);
}

#[test]
fn at_hand_is_what_can_be_read_without_asking_anybody() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "A"));
    fixture
        .memory
        .put("skills", "half", &json!({ "id": "half" }));
    assert_eq!(fixture.get_cached("a"), None, "not loaded");
    fixture.ids();
    fixture.link.take_called();
    assert_eq!(fixture.get_cached("a").as_deref(), Some("A"));
    for waits in ["skills", "b", "half", "fn/a/b"] {
        assert_eq!(fixture.get_cached(waits), None, "{waits}");
    }
    fixture.register("a", "A2");
    assert_eq!(fixture.get_cached("a").as_deref(), Some("A2"));
    assert_eq!(fixture.link.take_called(), ["state::set"]);
    fixture.link.cut();
    fixture.registry.disconnected();
    assert_eq!(fixture.get_cached("a"), None, "the engine is gone");
    let unwatched = fixture_on(&fixture.memory, false);
    unwatched.ids();
    assert_eq!(unwatched.get_cached("a"), None, "nobody rings");
}

#[test]
fn a_row_written_by_somebody_else_shows_when_its_event_arrives_and_is_announced() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(fixture.read("b"), Err(Kind::NotFound));
    fixture.deliver();
    assert_eq!(fixture.read("b").unwrap(), "B");
    assert_eq!(fixture.take_changes(), 1);
}

#[test]
fn after_a_reconnect_everything_is_read_again_and_differences_are_announced() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "A"));
    fixture.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(fixture.ids(), ["a", "b"]);
    assert_eq!(fixture.take_changes(), 0, "the first load is not news");
    fixture.link.cut();
    fixture.registry.disconnected();
    fixture.memory.put("skills", "a", &row("a", "A2"));
    fixture.memory.put("skills", "c", &row("c", "C"));
    assert_eq!(fixture.read("a"), Err(Kind::Unavailable));
    fixture.link.mend();
    fixture.registry.connected(true);
    assert_eq!(fixture.ids(), ["a", "b", "c"]);
    assert_eq!(fixture.read("a").unwrap(), "A2");
    assert_eq!(fixture.take_changes(), 2);
}

#[test]
fn an_outage_is_an_error_and_never_an_empty_list() {
    let fixture = fixture();
    fixture.link.cut();
    let registry = &fixture.registry;
    let unavailable = |kind: Kind| assert_eq!(kind, Kind::Unavailable);
    unavailable(now(registry.skills()).unwrap_err().kind());
    unavailable(now(registry.resources()).unwrap_err().kind());
    unavailable(now(registry.prompts()).unwrap_err().kind());
    unavailable(now(registry.prompt_menu()).unwrap_err().kind());
    unavailable(now(registry.load()).unwrap_err().kind());
    unavailable(fixture.read("skills").unwrap_err());
    unavailable(fixture.read("a").unwrap_err());
    unavailable(
        now(registry.register_skill("a".parse().unwrap(), "A".into()))
            .unwrap_err()
            .kind(),
    );
    unavailable(
        now(registry.unregister_skill(&"a".parse().unwrap()))
            .unwrap_err()
            .kind(),
    );
    unavailable(
        now(registry.render_prompt(&"p".parse().unwrap(), None))
            .unwrap_err()
            .kind(),
    );
}

#[test]
fn a_state_that_is_slow_or_absent_says_so() {
    let fixture = fixture();
    fixture.link.fail(Some(Failure::TimedOut {
        after: std::time::Duration::from_secs(10),
    }));
    let error = now(fixture.registry.skills()).unwrap_err();
    assert_eq!(error.kind(), Kind::TimedOut);
    assert!(
        error.to_text().contains("state_timeout_ms"),
        "{}",
        error.to_text()
    );
    fixture.link.fail(Some(Failure::Absent));
    assert!(
        now(fixture.registry.skills())
            .unwrap_err()
            .to_text()
            .contains("state worker")
    );
    fixture.link.fail(None);
    assert_eq!(fixture.ids(), [""; 0]);
}

#[test]
fn without_the_trigger_every_read_asks_the_engine() {
    let fixture = fixture_on(&Memory::new(), false);
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(fixture.ids(), ["a"]);
    fixture.memory.put("skills", "a", &row("a", "A2"));
    assert_eq!(fixture.read("a").unwrap(), "A2");
    fixture.register("a", "A3");
    assert_eq!(fixture.read("a").unwrap(), "A3");
    assert_eq!(
        fixture.link.take_called(),
        [
            "state::list",
            "state::list",
            "state::get",
            "state::set",
            "state::get"
        ]
    );
}

#[test]
fn rows_that_cannot_be_decoded_are_reported_and_the_rest_is_served() {
    let fixture = fixture();
    fixture.memory.put("skills", "good", &row("good", "G"));
    fixture
        .memory
        .put("skills", "half", &json!({ "id": "half" }));
    fixture.memory.put("skills", "Upper", &row("Upper", "x"));
    fixture.memory.put("skills", "none", &json!(7));
    let listing = now(fixture.registry.skills()).unwrap();
    assert_eq!(listing.entries.len(), 1);
    let places: Vec<_> = listing
        .skipped
        .iter()
        .map(|skipped| &*skipped.place)
        .collect();
    assert_eq!(places, ["skills/Upper", "skills/half", "skills/?"]);
    assert_eq!(fixture.read("half"), Err(Kind::Broken));
    assert_eq!(fixture.read("good").unwrap(), "G");
    fixture.register("half", "whole now");
    assert_eq!(fixture.read("half").unwrap(), "whole now");
    // A row under the wrong key is no skill either.
    fixture.deliver();
    fixture.memory.put("skills", "x", &row("y", "Y"));
    fixture.deliver();
    assert_eq!(fixture.read("x"), Err(Kind::Broken));
}

#[test]
fn a_flood_of_events_is_answered_with_one_listing() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    for n in 0..200 {
        let id = format!("s{n}");
        fixture.memory.put("skills", &id, &row(&id, "x"));
    }
    // All of them are marked before the first answer comes.
    fixture.memory.by_hand();
    let events: Vec<_> = std::iter::from_fn(|| fixture.link.take_event(0)).collect();
    let mut bells: Vec<_> = events
        .iter()
        .map(|event| Box::pin(fixture.registry.apply_state_event(event)))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    fixture.link.take_called();
    while !bells.is_empty() {
        bells.retain_mut(|bell| bell.as_mut().poll(&mut context).is_pending());
        for call in fixture.memory.waiting() {
            fixture.memory.apply(call);
            fixture.memory.acknowledge(call);
        }
    }
    assert_eq!(fixture.ids().len(), 200);
    let called = fixture.link.take_called();
    assert!(
        called.len() <= 3 && called.contains(&"state::list".into()),
        "{called:?}"
    );
}

#[test]
fn an_event_without_a_key_means_everything_is_read_again() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.put("skills", "a", &row("a", "A"));
    let event = json!({ "type": "state", "event_type": "state:reload", "scope": "skills" });
    let event = serde_json::value::to_raw_value(&event).unwrap();
    now(fixture.registry.apply_state_event(&event)).unwrap();
    assert_eq!(fixture.read("a").unwrap(), "A");
    assert_eq!(fixture.take_changes(), 1);
}

#[test]
fn what_a_surface_makes_of_a_list_is_made_once_per_change() {
    let fixture = fixture();
    let made = std::cell::Cell::new(0);
    let ask = || {
        let answer = fixture.registry.skills_as("test", |listing| {
            made.set(made.get() + 1);
            Ok(serde_json::value::to_raw_value(&listing.entries.len()).unwrap())
        });
        now(answer).unwrap().get().to_owned()
    };
    assert_eq!((ask(), ask()), ("0".into(), "0".into()));
    assert_eq!(made.get(), 1);
    fixture.register("a", "A");
    assert_eq!((ask(), ask()), ("1".into(), "1".into()));
    assert_eq!(made.get(), 2);
}
