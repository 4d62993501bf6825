//! State in the same process: rows are shown one by one, and a list need not keep them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_engine::{Link, Memory, now};
use serde_json::{Value, json};
use skills_core::{Engine, Failure, Json, Listing, Pending, Registry, RegistrySettings, SkillHead};

use crate::row;

/// A connection whose rows can be shown, how that ends, and how often it was done.
struct AtHand {
    link: Arc<Link>,
    rows: Vec<String>,
    ends: Result<(), Failure>,
    shown: Mutex<usize>,
}

impl Engine for AtHand {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        self.link.call(function, payload, timeout)
    }

    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Option<Result<(), Failure>> {
        assert_eq!(scope, "skills");
        *self.shown.lock().unwrap() += 1;
        self.rows.iter().for_each(|row| visit(row));
        Some(self.ends.clone())
    }

    fn send(&self, function: &str, payload: Json) {
        self.link.send(function, payload);
    }
}

/// The list of these rows as somebody else's state has them, and as state at hand does.
fn lists(rows: &[Value], watched: bool) -> [Listing<SkillHead>; 2] {
    let memory = Memory::new();
    for (n, row) in rows.iter().enumerate() {
        memory.put("skills", row["id"].as_str().unwrap_or(&n.to_string()), row);
    }
    let at_hand = Arc::new(AtHand {
        link: memory.connect(),
        rows: rows.iter().map(ToString::to_string).collect(),
        ends: Ok(()),
        shown: Mutex::default(),
    });
    let engines: [Arc<dyn Engine>; 2] = [memory.connect(), at_hand.clone()];
    let lists = engines.map(|engine| {
        let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), || {
            "now".into()
        });
        registry.connected(watched);
        now(registry.skills()).unwrap()
    });
    assert!(*at_hand.shown.lock().unwrap() > 0);
    assert_eq!(at_hand.link.take_called(), [""; 0], "nothing was called");
    lists
}

#[test]
fn a_list_says_the_same_wherever_state_is() {
    #[track_caller]
    fn check(rows: &[Value], listed: usize, skipped: usize) {
        for watched in [true, false] {
            let [called, shown] = lists(rows, watched);
            assert_eq!(shown.entries, called.entries, "watched: {watched}");
            assert_eq!(shown.skipped, called.skipped, "watched: {watched}");
            assert_eq!(
                (shown.entries.len(), shown.skipped.len()),
                (listed, skipped)
            );
        }
    }
    check(&[], 0, 0);
    check(
        &[row("b", "# B\n\"é\""), row("a/b", "A"), row("a", "x")],
        3,
        0,
    );
    check(&[row("a", "A"), json!({ "id": "b", "skill": 7 })], 1, 1);
    check(
        &[
            row("a", "A"),
            json!({ "id": "Bad", "skill": "x" }),
            json!(null),
        ],
        1,
        2,
    );
}

#[test]
fn the_length_is_that_of_the_body_and_not_of_its_row() {
    let [_, shown] = lists(&[row("a", "\"é\"\n\u{1}")], false);
    assert_eq!(shown.entries[0].bytes, "\"é\"\n\u{1}".len());
}

#[test]
fn an_outage_of_state_at_hand_is_an_error_too() {
    for watched in [true, false] {
        let reason = "the disk went".into();
        let engine = Arc::new(AtHand {
            link: Memory::new().connect(),
            rows: vec![row("a", "A").to_string()],
            ends: Err(Failure::Unreachable { reason }),
            shown: Mutex::default(),
        });
        let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), || {
            "now".into()
        });
        registry.connected(watched);
        let error = now(registry.skills()).unwrap_err();
        assert!(
            error.to_text().contains("the disk went"),
            "{}",
            error.to_text()
        );
    }
}
