//! State in the same process: rows are visited instead of listed by a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_engine::{Link, Memory, now};
use serde_json::{Value, json};
use skills_core::{
    Engine, Failure, Json, Listing, Pending, Registry, RegistrySettings, SkillHead, StoredRow,
};

use crate::row;

/// A connection that visits `rows`, returns `result`, and counts the visits.
struct LocalState {
    link: Arc<Link>,
    rows: Vec<(String, Result<String, String>)>,
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
        visit: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        if scope == "skills.leases" {
            return Some(Ok(()));
        }
        assert_eq!(scope, "skills");
        *self.visits.lock().unwrap() += 1;
        for (key, text) in &self.rows {
            visit((key, text.as_deref().map_err(Clone::clone)));
        }
        Some(self.result.clone())
    }

    fn send(&self, function: &str, payload: Json) {
        self.link.send(function, payload);
    }
}

/// The list of these rows through calls, and with state in the same process.
fn lists(rows: &[Value], watched: bool) -> [Listing<SkillHead>; 2] {
    let memory = Memory::new();
    let key = |(n, row): (usize, &Value)| row["id"].as_str().map_or(n.to_string(), Into::into);
    let keys: Vec<_> = rows.iter().enumerate().map(key).collect();
    for (key, row) in keys.iter().zip(rows) {
        memory.put("skills", key, row);
    }
    let texts = rows.iter().map(|row| Ok(row.to_string()));
    let local = Arc::new(LocalState {
        link: memory.connect(),
        rows: keys.into_iter().zip(texts).collect(),
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
            for found in [visited, called] {
                assert_eq!(
                    (found.entries.len(), found.skipped.len()),
                    (listed, skipped)
                );
            }
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
fn a_damaged_row_is_one_finding_with_its_key() {
    for watched in [true, false] {
        let engine = Arc::new(LocalState {
            link: Memory::new().connect(),
            rows: vec![
                ("a".into(), Ok(row("a", "A").to_string())),
                ("b".into(), Err("it is not UTF-8".into())),
                ("c".into(), Ok("{".into())),
                ("d".into(), Ok("null".into())),
                ("e".into(), Ok(row("a", "E").to_string())),
            ],
            result: Ok(()),
            visits: Mutex::default(),
        });
        let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), || {
            "now".into()
        });
        registry.connected(watched);
        let listing = now(registry.skills()).unwrap();
        assert_eq!(listing.entries.len(), 1);
        let places = listing.skipped.iter().map(|skipped| &*skipped.place);
        let places: Vec<_> = places.collect();
        assert_eq!(places, ["skills/b", "skills/c", "skills/d", "skills/e"]);
        assert_eq!(listing.skipped[0].reason, "it is not UTF-8");
        assert_eq!(now(registry.registered_skill_counts()).unwrap(), (1, 4));
    }
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
            rows: vec![("a".into(), Ok(row("a", "A").to_string()))],
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
