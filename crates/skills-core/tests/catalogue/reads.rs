//! What readers see: loads, events, outages, damaged rows.

use std::task::{Context, Waker};

use serde_json::json;
use skills_core::memory::{Memory, now};
use skills_core::{Failure, Kind};

use crate::{desk, desk_on, row};

#[test]
fn a_scope_is_loaded_once_and_then_answered_from_memory() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(desk.ids(), ["a"]);
    assert_eq!(desk.link.take_called(), ["state::list"]);
    assert_eq!(desk.read("a").unwrap(), "A");
    assert!(desk.read("skills").unwrap().contains("iii://a"));
    assert_eq!(desk.link.take_called(), [""; 0]);
}

#[test]
fn at_hand_is_what_can_be_read_without_asking_anybody() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "A"));
    desk.memory.put("skills", "half", &json!({ "id": "half" }));
    assert_eq!(desk.get_cached("a"), None, "not loaded");
    desk.ids();
    desk.link.take_called();
    assert_eq!(desk.get_cached("a").as_deref(), Some("A"));
    for waits in ["skills", "b", "half", "fn/a/b"] {
        assert_eq!(desk.get_cached(waits), None, "{waits}");
    }
    desk.register("a", "A2");
    assert_eq!(desk.get_cached("a").as_deref(), Some("A2"));
    assert_eq!(desk.link.take_called(), ["state::set"]);
    desk.link.cut();
    desk.registry.disconnected();
    assert_eq!(desk.get_cached("a"), None, "the engine is gone");
    let unwatched = desk_on(&desk.memory, false);
    unwatched.ids();
    assert_eq!(unwatched.get_cached("a"), None, "nobody rings");
}

#[test]
fn a_row_written_by_somebody_else_shows_when_its_event_arrives_and_is_announced() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(desk.read("b"), Err(Kind::NotFound));
    desk.deliver();
    assert_eq!(desk.read("b").unwrap(), "B");
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn after_a_reconnect_everything_is_read_again_and_differences_are_announced() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "A"));
    desk.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(desk.ids(), ["a", "b"]);
    assert_eq!(desk.take_changes(), 0, "the first load is not news");
    desk.link.cut();
    desk.registry.disconnected();
    desk.memory.put("skills", "a", &row("a", "A2"));
    desk.memory.put("skills", "c", &row("c", "C"));
    assert_eq!(desk.read("a"), Err(Kind::Unavailable));
    desk.link.mend();
    desk.registry.connected(true);
    assert_eq!(desk.ids(), ["a", "b", "c"]);
    assert_eq!(desk.read("a").unwrap(), "A2");
    assert_eq!(desk.take_changes(), 2);
}

#[test]
fn an_outage_is_an_error_and_never_an_empty_list() {
    let desk = desk();
    desk.link.cut();
    let registry = &desk.registry;
    let unavailable = |kind: Kind| assert_eq!(kind, Kind::Unavailable);
    unavailable(now(registry.skills()).unwrap_err().kind());
    unavailable(now(registry.resources()).unwrap_err().kind());
    unavailable(now(registry.prompts()).unwrap_err().kind());
    unavailable(now(registry.prompt_menu()).unwrap_err().kind());
    unavailable(now(registry.load()).unwrap_err().kind());
    unavailable(desk.read("skills").unwrap_err());
    unavailable(desk.read("a").unwrap_err());
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
    let desk = desk();
    desk.link.fail(Some(Failure::TimedOut {
        after: std::time::Duration::from_secs(10),
    }));
    let error = now(desk.registry.skills()).unwrap_err();
    assert_eq!(error.kind(), Kind::TimedOut);
    assert!(
        error.to_text().contains("state_timeout_ms"),
        "{}",
        error.to_text()
    );
    desk.link.fail(Some(Failure::Absent));
    assert!(
        now(desk.registry.skills())
            .unwrap_err()
            .to_text()
            .contains("state worker")
    );
    desk.link.fail(None);
    assert_eq!(desk.ids(), [""; 0]);
}

#[test]
fn without_the_trigger_every_read_asks_the_engine() {
    let desk = desk_on(&Memory::new(), false);
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(desk.ids(), ["a"]);
    desk.memory.put("skills", "a", &row("a", "A2"));
    assert_eq!(desk.read("a").unwrap(), "A2");
    desk.register("a", "A3");
    assert_eq!(desk.read("a").unwrap(), "A3");
    assert_eq!(
        desk.link.take_called(),
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
    let desk = desk();
    desk.memory.put("skills", "good", &row("good", "G"));
    desk.memory.put("skills", "half", &json!({ "id": "half" }));
    desk.memory.put("skills", "Upper", &row("Upper", "x"));
    desk.memory.put("skills", "none", &json!(7));
    let listing = now(desk.registry.skills()).unwrap();
    assert_eq!(listing.entries.len(), 1);
    let places: Vec<_> = listing
        .skipped
        .iter()
        .map(|skipped| &*skipped.place)
        .collect();
    assert_eq!(places, ["skills/Upper", "skills/half", "skills/?"]);
    assert_eq!(desk.read("half"), Err(Kind::Broken));
    assert_eq!(desk.read("good").unwrap(), "G");
    desk.register("half", "whole now");
    assert_eq!(desk.read("half").unwrap(), "whole now");
    // A row under the wrong key is no skill either.
    desk.deliver();
    desk.memory.put("skills", "x", &row("y", "Y"));
    desk.deliver();
    assert_eq!(desk.read("x"), Err(Kind::Broken));
}

#[test]
fn a_flood_of_events_is_answered_with_one_listing() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    for n in 0..200 {
        let id = format!("s{n}");
        desk.memory.put("skills", &id, &row(&id, "x"));
    }
    // All of them are marked before the first answer comes.
    desk.memory.by_hand();
    let events: Vec<_> = std::iter::from_fn(|| desk.link.take_event(0)).collect();
    let mut bells: Vec<_> = events
        .iter()
        .map(|event| Box::pin(desk.registry.apply_state_event(event)))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    desk.link.take_called();
    while !bells.is_empty() {
        bells.retain_mut(|bell| bell.as_mut().poll(&mut context).is_pending());
        for call in desk.memory.waiting() {
            desk.memory.apply(call);
            desk.memory.acknowledge(call);
        }
    }
    assert_eq!(desk.ids().len(), 200);
    let called = desk.link.take_called();
    assert!(
        called.len() <= 3 && called.contains(&"state::list".into()),
        "{called:?}"
    );
}

#[test]
fn an_event_without_a_key_means_everything_is_read_again() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "a", &row("a", "A"));
    let event = json!({ "type": "state", "event_type": "state:reload", "scope": "skills" });
    let event = serde_json::value::to_raw_value(&event).unwrap();
    now(desk.registry.apply_state_event(&event)).unwrap();
    assert_eq!(desk.read("a").unwrap(), "A");
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn what_a_surface_makes_of_a_list_is_made_once_per_change() {
    let desk = desk();
    let made = std::cell::Cell::new(0);
    let ask = || {
        let answer = desk.registry.skills_as("test", |listing| {
            made.set(made.get() + 1);
            Ok(serde_json::value::to_raw_value(&listing.entries.len()).unwrap())
        });
        now(answer).unwrap().get().to_owned()
    };
    assert_eq!((ask(), ask()), ("0".into(), "0".into()));
    assert_eq!(made.get(), 1);
    desk.register("a", "A");
    assert_eq!((ask(), ask()), ("1".into(), "1".into()));
    assert_eq!(made.get(), 2);
}
