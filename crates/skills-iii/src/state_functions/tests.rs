//! The functions on a store without a hub.

use super::*;
use crate::state::StoreOptions;

async fn call(store: &Arc<SqliteState>, function_id: &str, payload: &str) -> String {
    let payload = RawValue::from_string(payload.to_owned()).unwrap();
    match call_state(store, function_id, &payload).await {
        Ok(value) => value.map_or("none".to_owned(), |value| value.get().to_owned()),
        Err(error) => error.code,
    }
}

#[tokio::test]
async fn state_functions_run_on_a_store_without_a_hub() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
    let store = Arc::new(store);
    for (function_id, payload, expected) in [
        ("state::get", r#"{"scope":"s","key":"k"}"#, "none"),
        (
            "state::set",
            r#"{"scope":"s","key":"k","value":{"n":1}}"#,
            r#"{"old_value":null,"new_value":{"n":1}}"#,
        ),
        (
            "state::update",
            r#"{"scope":"s","key":"k","ops":[{"type":"increment","path":"n","by":1}]}"#,
            r#"{"old_value":{"n":1},"new_value":{"n":2}}"#,
        ),
        ("state::list", r#"{"scope":"s"}"#, r#"[{"n":2}]"#),
        ("state::list_groups", "{}", r#"{"groups":["s"]}"#),
        ("state::delete", r#"{"scope":"s","key":"k"}"#, r#"{"n":2}"#),
        ("state::get", r#"{"scope":"s"}"#, "deserialization_error"),
        ("state::drop", "{}", "function_not_found"),
    ] {
        assert_eq!(
            call(&store, function_id, payload).await,
            expected,
            "{function_id}"
        );
    }
}

#[tokio::test]
async fn a_write_that_expects_another_value_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
    let (mut changes, store) = (store.changes(), Arc::new(store));
    for (function_id, fields, expected, is_written) in [
        // A row that does not exist.
        (
            "state::delete",
            r#""expected":{"n":1}"#,
            "VALUE_CHANGED",
            false,
        ),
        (
            "state::set",
            r#""value":1,"expected":{"n":1}"#,
            "VALUE_CHANGED",
            false,
        ),
        (
            "state::set",
            r#""value":{"n":1,"t":"a b"},"expected":null"#,
            r#"{"old_value":null,"new_value":{"n":1,"t":"a b"}}"#,
            true,
        ),
        // A row that exists.
        (
            "state::set",
            r#""value":2,"expected":null"#,
            "VALUE_CHANGED",
            false,
        ),
        (
            "state::delete",
            r#""expected":null"#,
            "VALUE_CHANGED",
            false,
        ),
        (
            "state::set",
            r#""value":2,"expected":{"n":2,"t":"a b"}"#,
            "VALUE_CHANGED",
            false,
        ),
        // Spaces and the order of keys do not count.
        (
            "state::set",
            r#""value":2,"expected":{ "t": "a\u0020b", "n": 1 }"#,
            r#"{"old_value":{"n":1,"t":"a b"},"new_value":2}"#,
            true,
        ),
        ("state::delete", r#""expected":1"#, "VALUE_CHANGED", false),
        ("state::delete", r#""expected":2"#, "2", true),
    ] {
        let payload = format!(r#"{{"scope":"s","key":"k",{fields}}}"#);
        let got = call(&store, function_id, &payload).await;
        assert_eq!(got, expected, "{function_id} {fields}");
        let is_published = changes.try_recv().is_some();
        assert_eq!(is_published, is_written, "{function_id} {fields}");
    }
}

#[tokio::test]
async fn of_many_writes_that_expect_the_same_value_one_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteState::open(dir.path(), StoreOptions::default()).map(Arc::new);
    // As two processes have it: each store has its own writer.
    let stores = [open().unwrap(), open().unwrap()];
    let mut current = "null".to_owned();
    for round in 0..20 {
        let payload = |writer: usize| {
            let value = format!(r#""value":"{round}/{writer}","expected":{current}"#);
            format!(r#"{{"scope":"s","key":"k",{value}}}"#)
        };
        let writes = (0..8).map(|writer| {
            let (store, payload) = (&stores[writer % 2], payload(writer));
            async move { call(store, "state::set", &payload).await }
        });
        let results = futures_util::future::join_all(writes).await;
        let refused = results.iter().filter(|result| *result == "VALUE_CHANGED");
        assert_eq!(refused.count(), 7, "{results:?}");
        let winner = results.iter().position(|result| result.starts_with('{'));
        current = format!(r#""{round}/{}""#, winner.unwrap());
        let kept = stores[0].get("s", "k").unwrap().unwrap();
        assert_eq!(kept.get(), current);
    }
}

#[tokio::test]
async fn waiting_updates_are_bounded_by_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        max_queued: 1 << 20,
        ..StoreOptions::default()
    };
    let store = Arc::new(SqliteState::open(dir.path(), options).unwrap());
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Box::new(move |_: Option<&RawValue>| {
        let _ = wait.recv();
        Ok(RawValue::NULL.to_owned())
    });
    let occupied = store.update("gate".into(), "k".into(), 0, wait);
    let text = "x".repeat(300 << 10);
    let ops = format!(r#"[{{"type":"append","path":"","value":"{text}"}}]"#);
    let payload = format!(r#"{{"scope":"s","key":"k","ops":{ops}}}"#);
    let updates = (0..8).map(|_| call(&store, "state::update", &payload));
    let mut updates = std::pin::pin!(futures_util::future::join_all(updates));
    // Queues them.
    assert!(futures_util::poll!(&mut updates).is_pending());
    drop(go);
    occupied.await.unwrap();
    let updates = updates.await;
    let refused = updates.iter().filter(|result| *result == "UPDATE_ERROR");
    assert_eq!(refused.count(), 5);
    let kept = store.get("s", "k").unwrap().unwrap();
    assert_eq!(kept.get().len(), 3 * text.len() + 2);
}

#[tokio::test]
async fn a_damaged_row_is_left_out_of_a_list_and_has_its_own_code() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
    let store = Arc::new(store);
    for key in ["a", "b"] {
        let payload = format!(r#"{{"scope":"s","key":"{key}","value":1}}"#);
        call(&store, "state::set", &payload).await;
    }
    rusqlite::Connection::open(dir.path().join(crate::state::FILE_NAME))
        .unwrap()
        .execute(
            "UPDATE entries SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'b'",
            [],
        )
        .unwrap();
    for (function_id, payload, expected) in [
        ("state::list", r#"{"scope":"s"}"#, "[1]"),
        ("state::get", r#"{"scope":"s","key":"b"}"#, "VALUE_DAMAGED"),
        (
            "state::update",
            r#"{"scope":"s","key":"b","ops":[]}"#,
            "VALUE_DAMAGED",
        ),
        (
            "state::set",
            r#"{"scope":"s","key":"b","value":2,"expected":"x"}"#,
            "VALUE_DAMAGED",
        ),
        (
            "state::set",
            r#"{"scope":"s","key":"b","value":2}"#,
            "{\"old_value\":\"\\\"\u{fffd}\\\"\",\"new_value\":2}",
        ),
        ("state::list", r#"{"scope":"s"}"#, "[1,2]"),
    ] {
        assert_eq!(
            call(&store, function_id, payload).await,
            expected,
            "{function_id}"
        );
    }
}
