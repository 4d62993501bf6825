//! Triggers: registration, handover and rejection; and the hub's own events.

use crate::common::{
    RecordingProvider, TIMEOUT, TestHub, call, echo, function, in_time, recorder, trigger,
    trigger_type, wait_for_function,
};
use serde_json::{Value, json};
use skills_iii::{ErrorBody, Event};

#[tokio::test]
async fn a_trigger_waits_for_its_provider_and_ends_with_its_subscriber() {
    let hub = TestHub::start().await;
    let subscriber = hub.worker("subscriber").await;
    subscriber.register_trigger(trigger("t1", "on-x", "receive", &json!({ "k": 1 })));
    let provider = hub.worker("provider").await;
    let (recording, mut records) = RecordingProvider::new(false);
    provider.register_trigger_type(trigger_type("on-x"), recording);
    assert_eq!(
        in_time("replay", records.recv()).await.unwrap(),
        r#"+t1 receive {"k":1}"#
    );

    subscriber.register_trigger(trigger("t2", "on-x", "receive", &json!(null)));
    assert_eq!(
        in_time("t2", records.recv()).await.unwrap(),
        "+t2 receive null"
    );
    subscriber.unregister_trigger("t2");
    assert_eq!(in_time("t2", records.recv()).await.unwrap(), "-t2");

    provider.unregister_trigger_type("on-x");
    assert_eq!(in_time("the end", records.recv()).await.unwrap(), "-t1");
    let (third_recording, mut third_records) = RecordingProvider::new(false);
    provider.register_trigger_type(trigger_type("on-x"), third_recording);
    assert_eq!(
        in_time("replay", third_records.recv()).await.unwrap(),
        r#"+t1 receive {"k":1}"#
    );
    subscriber.register_trigger(trigger("t3", "on-x", "receive", &json!(3)));
    assert_eq!(
        in_time("t3", third_records.recv()).await.unwrap(),
        "+t3 receive 3"
    );
    drop(subscriber);
    let mut ended = [
        third_records.recv().await.unwrap(),
        third_records.recv().await.unwrap(),
    ];
    ended.sort();
    assert_eq!(ended, ["-t1", "-t3"]);
}

#[tokio::test]
async fn a_rejected_trigger_is_reported_to_its_subscriber_and_waits_for_another_provider() {
    let hub = TestHub::start().await;
    let (subscriber, provider) = (hub.worker("subscriber").await, hub.worker("no").await);
    let (recording, mut records) = RecordingProvider::new(true);
    provider.register_trigger_type(trigger_type("on-x"), recording);
    let mut events = subscriber.events();
    subscriber.register_trigger(trigger("t1", "on-x", "receive", &json!(1)));
    in_time("the trigger", records.recv()).await.unwrap();
    let refused = in_time("the refusal", events.recv()).await.unwrap();
    let error = ErrorBody::new("no", "not today");

    assert_eq!(
        refused,
        Event::TriggerRejected {
            id: "t1".into(),
            trigger_type: "on-x".into(),
            function_id: "receive".into(),
            error
        }
    );
    let accepting = hub.worker("yes").await;
    let (recording, mut records) = RecordingProvider::new(false);
    accepting.register_trigger_type(trigger_type("on-x"), recording);
    provider.shutdown(TIMEOUT).await;
    assert_eq!(
        in_time("the replay", records.recv()).await.unwrap(),
        "+t1 receive 1"
    );
}

#[tokio::test]
async fn the_state_trigger_fires_for_writes_in_order() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.hub.attach("other"));
    let (record, mut calls) = recorder();
    other.register_function(function("receive"), record);
    other.register_trigger(trigger("t", "state", "receive", &json!({ "scope": "s" })));
    wait_for_function(&one, "receive").await;
    let mut events = other.events();
    other.register_trigger(trigger("bad", "state", "receive", &json!(7)));
    let refused = in_time("the refusal", events.recv()).await.unwrap();
    assert!(
        matches!(refused, Event::TriggerRejected { .. }),
        "{refused:?}"
    );
    for (key, value) in [("k", 1), ("k", 2)] {
        let row = json!({ "scope": "s", "key": key, "value": value });
        call(&one, "state::set", row).await.unwrap();
    }
    call(
        &one,
        "state::set",
        json!({ "scope": "elsewhere", "key": "k", "value": 0 }),
    )
    .await
    .unwrap();
    // A write that does not pass through the hub, as of another process.
    let deleted = hub.state.delete("s".to_owned(), "k".to_owned());
    deleted.await.unwrap();
    let event = |event_type: &str, old: Value, new: Value| {
        json!({ "type": "state", "event_type": event_type, "scope": "s", "key": "k",
            "old_value": old, "new_value": new })
    };
    for expected in [
        event("state:created", json!(null), json!(1)),
        event("state:updated", json!(1), json!(2)),
        event("state:deleted", json!(2), json!(null)),
    ] {
        assert_eq!(in_time("an event", calls.recv()).await, Some(expected));
    }
}

#[tokio::test]
async fn a_condition_decides_whether_a_state_trigger_fires() {
    let hub = TestHub::start().await;
    let worker = hub.worker("worker").await;
    let (record, mut calls) = recorder();
    worker.register_function(function("receive"), record);
    let even = |event: Value| async move {
        Ok(Some(json!(event["new_value"].as_i64().unwrap() % 2 == 0)))
    };
    worker.register_function(function("even"), crate::common::handler(even));
    let config = json!({ "scope": "s", "condition_function_id": "even" });
    worker.register_trigger(trigger("t", "state", "receive", &config));
    wait_for_function(&worker, "even").await;
    for n in 1..4 {
        call(
            &worker,
            "state::set",
            json!({ "scope": "s", "key": "k", "value": n }),
        )
        .await
        .unwrap();
    }
    assert_eq!(
        in_time("an event", calls.recv()).await.unwrap()["new_value"],
        2
    );
}

#[tokio::test]
async fn events_report_functions_and_workers_that_come_and_go() {
    let hub = TestHub::start().await;
    let watcher = hub.hub.attach("watcher");
    let (functions, mut function_events) = recorder();
    let (workers, mut worker_events) = recorder();
    watcher.register_function(function("functions"), functions);
    watcher.register_function(function("workers"), workers);
    let ids = ["engine::functions-available", "engine::workers-available"];
    watcher.register_trigger(trigger("f", ids[0], "functions", &json!({})));
    watcher.register_trigger(trigger("w", ids[1], "workers", &json!({})));
    watcher.wait_connected().await.unwrap();
    wait_for_function(&watcher, "workers").await;
    let worker = hub.worker("worker").await;
    let id = worker.worker_id().unwrap();
    worker.register_function(function("a::b"), echo());
    let lists = |event: &Value| {
        let mut functions = event["functions"].as_array().unwrap().iter();
        functions.any(|function| function["function_id"] == "a::b")
    };
    let came = async { while !lists(&function_events.recv().await.unwrap()) {} };
    in_time("the function", came).await;
    worker.shutdown(TIMEOUT).await;
    let went = async { while lists(&function_events.recv().await.unwrap()) {} };
    in_time("its end", went).await;
    for event in ["worker_connected", "worker_disconnected"] {
        let expected = json!({ "event": event, "worker_id": id });
        let received = async { while worker_events.recv().await.unwrap() != expected {} };
        in_time(event, received).await;
    }
}

#[tokio::test]
async fn a_trigger_registered_by_call_outlives_its_worker() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.worker("other").await);
    let (record, mut calls) = recorder();
    other.register_function(function("receive"), record);
    let new = json!({ "trigger_type": "state", "function_id": "receive", "config": {} });
    call(&one, "engine::register_trigger", new).await.unwrap();
    one.shutdown(TIMEOUT).await;
    call(
        &other,
        "state::set",
        json!({ "scope": "s", "key": "k", "value": 1 }),
    )
    .await
    .unwrap();
    assert_eq!(
        in_time("the event", calls.recv()).await.unwrap()["new_value"],
        1
    );
}
