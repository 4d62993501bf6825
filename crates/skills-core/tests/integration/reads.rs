//! What readers see: loads, events, outages, damaged rows.

use std::task::{Context, Waker};

use memory_engine::{Memory, now};
use serde_json::json;
use skills_core::{Failure, Kind, ReadFrom};

use crate::{fixture, fixture_on, row};

#[test]
fn a_scope_is_loaded_once_and_then_served_from_memory() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(fixture.ids(), ["a"]);
    // The scope of the skills and that of the leases.
    assert_eq!(fixture.link.take_called(), ["state::list", "state::list"]);
    assert_eq!(fixture.read("a").unwrap(), "A");
    assert!(fixture.read("skills").unwrap().contains("iii://a"));
    assert_eq!(fixture.link.take_called(), [""; 0]);
}

#[test]
fn a_row_of_another_worker_appears_with_its_event_and_is_published() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(fixture.read("b"), Err(Kind::NotFound));
    fixture.deliver();
    assert_eq!(fixture.read("b").unwrap(), "B");
    assert_eq!(fixture.take_changes(), 1);
}

#[test]
fn after_a_reconnect_everything_is_read_again_and_differences_are_published() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "A"));
    fixture.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(fixture.ids(), ["a", "b"]);
    assert_eq!(fixture.take_changes(), 0, "the first load is not a change");
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
fn a_slow_or_absent_state_is_reported_with_advice() {
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
fn without_state_events_every_read_calls_the_engine() {
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
            "state::list", // the leases
            "state::list",
            "state::list", // the leases
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
    // A row that contains another key is damaged as well.
    fixture.deliver();
    fixture.memory.put("skills", "x", &row("y", "Y"));
    fixture.deliver();
    assert_eq!(fixture.read("x"), Err(Kind::Broken));
}

#[test]
fn many_events_at_once_cause_one_list_call() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    for n in 0..200 {
        let id = format!("s{n}");
        fixture.memory.put("skills", &id, &row(&id, "x"));
    }
    // All keys are marked before the first read returns.
    fixture.memory.by_hand();
    let events: Vec<_> = std::iter::from_fn(|| fixture.link.take_event(0)).collect();
    let mut applied: Vec<_> = events
        .iter()
        .map(|event| Box::pin(fixture.registry.apply_state_event(event)))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    fixture.link.take_called();
    while !applied.is_empty() {
        applied.retain_mut(|event| event.as_mut().poll(&mut context).is_pending());
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
fn after_an_event_without_a_key_everything_is_read_again() {
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
fn reads_are_counted_by_what_answered_them() {
    let fixture = fixture();
    fixture.register("a", "# A\n\n## Part");
    for id in ["a", "a#part", "skills", "gone"] {
        let _ = fixture.read(id);
    }
    now(fixture.registry.resolve(&"a".parse().unwrap())).unwrap();
    let uri = "iii://a".parse().unwrap();
    now(fixture.registry.read_uncounted(&uri)).unwrap();
    let counts = ReadFrom::ALL.map(|from| (from.as_str(), fixture.registry.reads(from)));
    let expected = [
        ("index", 1),
        ("registered", 3),
        ("files", 0),
        ("function", 0),
    ];
    assert_eq!(counts, expected);
    let sizes = now(fixture.registry.sizes()).unwrap();
    assert_eq!((sizes.skills, sizes.prompts, sizes.body_bytes), (1, 0, 12));
}

#[test]
fn an_encoded_list_is_kept_until_the_next_change() {
    let fixture = fixture();
    let encoded = std::cell::Cell::new(0);
    let list = || {
        let encode = async {
            encoded.set(encoded.get() + 1);
            let skills = fixture.registry.skills().await?.entries.len();
            Ok(serde_json::value::to_raw_value(&skills).unwrap())
        };
        let list = fixture.registry.cached_list("test", encode);
        now(list).unwrap().get().to_owned()
    };
    assert_eq!((list(), list()), ("0".into(), "0".into()));
    assert_eq!(encoded.get(), 1);
    fixture.register("a", "A");
    assert_eq!((list(), list()), ("1".into(), "1".into()));
    assert_eq!(encoded.get(), 2);
}

#[test]
fn an_id_that_only_has_skills_below_it_leads_to_their_index() {
    let fixture = fixture();
    fixture.register("area/one", "# One");
    let uri = "iii://area".parse().unwrap();
    let error = now(fixture.registry.read(&uri)).unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `iii://area/`?");
}
