//! State in the same process: rows are visited instead of listed by a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_engine::{Link, Memory, now};
use serde_json::{Value, json};
use skills_core::{Engine, Failure, Json, Listing, Pending, Registry, RegistrySettings, SkillHead};

use crate::row;

/// A connection that visits `rows`, returns `result`, and counts the visits.
struct LocalState {
    link: Arc<Link>,
    rows: Vec<String>,
    result: Result<(), Failure>,
    visits: Mutex<usize>,
}

impl Engine for LocalState {
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
        *self.visits.lock().unwrap() += 1;
        self.rows.iter().for_each(|row| visit(row));
        Some(self.result.clone())
    }

    fn send(&self, function: &str, payload: Json) {
        self.link.send(function, payload);
    }
}

/// The list of these rows through calls, and with state in the same process.
fn lists(rows: &[Value], watched: bool) -> [Listing<SkillHead>; 2] {
    let memory = Memory::new();
    for (n, row) in rows.iter().enumerate() {
        memory.put("skills", row["id"].as_str().unwrap_or(&n.to_string()), row);
    }
    let local = Arc::new(LocalState {
        link: memory.connect(),
        rows: rows.iter().map(ToString::to_string).collect(),
        result: Ok(()),
        visits: Mutex::default(),
    });
    let engines: [Arc<dyn Engine>; 2] = [memory.connect(), local.clone()];
    let lists = engines.map(|engine| {
        let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), || {
            "now".into()
        });
        registry.connected(watched);
        now(registry.skills()).unwrap()
    });
    assert!(*local.visits.lock().unwrap() > 0);
    assert_eq!(local.link.take_called(), [""; 0], "no call is made");
    lists
}

#[test]
fn a_list_is_the_same_wherever_state_is() {
    #[track_caller]
    fn check(rows: &[Value], listed: usize, skipped: usize) {
        for watched in [true, false] {
            let [called, visited] = lists(rows, watched);
            assert_eq!(visited.entries, called.entries, "watched: {watched}");
            assert_eq!(visited.skipped, called.skipped, "watched: {watched}");
            assert_eq!(
                (visited.entries.len(), visited.skipped.len()),
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
    let [_, visited] = lists(&[row("a", "\"é\"\n\u{1}")], false);
    assert_eq!(visited.entries[0].bytes, "\"é\"\n\u{1}".len());
}

#[test]
fn an_outage_of_state_local_is_an_error_too() {
    for watched in [true, false] {
        let reason = "the disk went".into();
        let engine = Arc::new(LocalState {
            link: Memory::new().connect(),
            rows: vec![row("a", "A").to_string()],
            result: Err(Failure::Unreachable { reason }),
            visits: Mutex::default(),
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
