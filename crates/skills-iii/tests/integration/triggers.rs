//! Triggers: parked, handed over, refused, ended; and what the hub itself tells.

use crate::common::{
    LONG, Notes, Served, ask, echo, function, kind, listener, offered, soon, trigger,
};
use serde_json::{Value, json};
use skills_iii::{ErrorBody, Event, StateStore};

#[tokio::test]
async fn a_trigger_waits_for_its_provider_and_ends_with_its_subscriber() {
    let served = Served::start().await;
    let subscriber = served.worker("subscriber").await;
    subscriber.register_trigger(trigger("t1", "on-x", "hear", &json!({ "k": 1 })));
    let provider = served.worker("provider").await;
    let (notes, mut told) = Notes::new(false);
    provider.register_trigger_type(kind("on-x"), notes);
    assert_eq!(
        soon("replay", told.recv()).await.unwrap(),
        r#"+t1 hear {"k":1}"#
    );

    subscriber.register_trigger(trigger("t2", "on-x", "hear", &json!(null)));
    assert_eq!(soon("t2", told.recv()).await.unwrap(), "+t2 hear null");
    subscriber.unregister_trigger("t2");
    assert_eq!(soon("t2", told.recv()).await.unwrap(), "-t2");

    let (second_notes, mut second_told) = Notes::new(false);
    let second = served.worker("second").await;
    second.register_trigger_type(kind("on-x"), second_notes);
    assert_eq!(
        soon("handover", second_told.recv()).await.unwrap(),
        r#"+t1 hear {"k":1}"#
    );
    assert_eq!(
        soon("handover", told.recv()).await.unwrap(),
        "-t1",
        "the last to offer has it"
    );

    second.shutdown(LONG).await;
    assert_eq!(soon("the end", second_told.recv()).await.unwrap(), "-t1");
    let (third_notes, mut third_told) = Notes::new(false);
    provider.register_trigger_type(kind("on-x"), third_notes);
    assert_eq!(
        soon("replay", third_told.recv()).await.unwrap(),
        r#"+t1 hear {"k":1}"#
    );
    subscriber.register_trigger(trigger("t3", "on-x", "hear", &json!(3)));
    assert_eq!(soon("t3", third_told.recv()).await.unwrap(), "+t3 hear 3");
    drop(subscriber);
    let mut ended = [
        third_told.recv().await.unwrap(),
        third_told.recv().await.unwrap(),
    ];
    ended.sort();
    assert_eq!(ended, ["-t1", "-t3"]);
}

#[tokio::test]
async fn a_refused_trigger_is_told_to_its_subscriber_and_waits_for_another_provider() {
    let served = Served::start().await;
    let (subscriber, provider) = (served.worker("subscriber").await, served.worker("no").await);
    let (notes, mut told) = Notes::new(true);
    provider.register_trigger_type(kind("on-x"), notes);
    let mut events = subscriber.events();
    subscriber.register_trigger(trigger("t1", "on-x", "hear", &json!(1)));
    soon("the wish", told.recv()).await.unwrap();
    let refused = soon("the refusal", events.recv()).await.unwrap();
    let error = ErrorBody::new("no", "not today");
    let (id, trigger_type, function_id) = ("t1".into(), "on-x".into(), "hear".into());
    assert_eq!(
        refused,
        Event::TriggerRejected {
            id,
            trigger_type,
            function_id,
            error
        }
    );
    let kinder = served.worker("yes").await;
    let (notes, mut told) = Notes::new(false);
    kinder.register_trigger_type(kind("on-x"), notes);
    assert_eq!(soon("the replay", told.recv()).await.unwrap(), "+t1 hear 1");
}

#[tokio::test]
async fn the_state_trigger_tells_of_writes_in_order() {
    let state = std::sync::Arc::new(skills_iii::MemoryState::default());
    let served = Served::with(skills_iii::HubOptions::new(state.clone())).await;
    let (one, other) = (served.worker("one").await, served.hub.attach("other"));
    let (hear, mut heard) = listener();
    other.register_function(function("hear"), hear);
    other.register_trigger(trigger("t", "state", "hear", &json!({ "scope": "s" })));
    offered(&one, "hear").await;
    let mut events = other.events();
    other.register_trigger(trigger("bad", "state", "hear", &json!(7)));
    let refused = soon("the refusal", events.recv()).await.unwrap();
    assert!(
        matches!(refused, Event::TriggerRejected { .. }),
        "{refused:?}"
    );
    for (key, value) in [("k", 1), ("k", 2)] {
        let row = json!({ "scope": "s", "key": key, "value": value });
        ask(&one, "state::set", row).await.unwrap();
    }
    ask(
        &one,
        "state::set",
        json!({ "scope": "elsewhere", "key": "k", "value": 0 }),
    )
    .await
    .unwrap();
    // A write past the hub, as another process would make it.
    state.delete("s".to_owned(), "k".to_owned()).await.unwrap();
    let event = |event_type: &str, old: Value, new: Value| {
        json!({ "type": "state", "event_type": event_type, "scope": "s", "key": "k",
            "old_value": old, "new_value": new })
    };
    for expected in [
        event("state:created", json!(null), json!(1)),
        event("state:updated", json!(1), json!(2)),
        event("state:deleted", json!(2), json!(null)),
    ] {
        assert_eq!(soon("an event", heard.recv()).await, Some(expected));
    }
}

#[tokio::test]
async fn a_condition_decides_whether_a_state_trigger_fires() {
    let served = Served::start().await;
    let worker = served.worker("worker").await;
    let (hear, mut heard) = listener();
    worker.register_function(function("hear"), hear);
    let even = |event: Value| async move {
        Ok(Some(json!(event["new_value"].as_i64().unwrap() % 2 == 0)))
    };
    worker.register_function(function("even"), crate::common::handler(even));
    let config = json!({ "scope": "s", "condition_function_id": "even" });
    worker.register_trigger(trigger("t", "state", "hear", &config));
    offered(&worker, "even").await;
    for n in 1..4 {
        ask(
            &worker,
            "state::set",
            json!({ "scope": "s", "key": "k", "value": n }),
        )
        .await
        .unwrap();
    }
    assert_eq!(
        soon("an event", heard.recv()).await.unwrap()["new_value"],
        2
    );
}

#[tokio::test]
async fn functions_and_workers_that_come_and_go_are_told() {
    let served = Served::start().await;
    let watcher = served.hub.attach("watcher");
    let (functions, mut functions_heard) = listener();
    let (workers, mut workers_heard) = listener();
    watcher.register_function(function("functions"), functions);
    watcher.register_function(function("workers"), workers);
    let ids = ["engine::functions-available", "engine::workers-available"];
    watcher.register_trigger(trigger("f", ids[0], "functions", &json!({})));
    watcher.register_trigger(trigger("w", ids[1], "workers", &json!({})));
    watcher.wait_connected().await.unwrap();
    offered(&watcher, "workers").await;
    let worker = served.worker("worker").await;
    let id = worker.worker_id().unwrap();
    worker.register_function(function("a::b"), echo());
    let lists = |event: &Value| {
        let mut functions = event["functions"].as_array().unwrap().iter();
        functions.any(|function| function["function_id"] == "a::b")
    };
    let came = async { while !lists(&functions_heard.recv().await.unwrap()) {} };
    soon("the function", came).await;
    worker.shutdown(LONG).await;
    let went = async { while lists(&functions_heard.recv().await.unwrap()) {} };
    soon("its end", went).await;
    for event in ["worker_connected", "worker_disconnected"] {
        let expected = json!({ "event": event, "worker_id": id });
        let heard = async { while workers_heard.recv().await.unwrap() != expected {} };
        soon(event, heard).await;
    }
}

#[tokio::test]
async fn a_trigger_registered_by_call_outlives_its_worker() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.worker("other").await);
    let (hear, mut heard) = listener();
    other.register_function(function("hear"), hear);
    let new = json!({ "trigger_type": "state", "function_id": "hear", "config": {} });
    ask(&one, "engine::register_trigger", new).await.unwrap();
    one.shutdown(LONG).await;
    ask(
        &other,
        "state::set",
        json!({ "scope": "s", "key": "k", "value": 1 }),
    )
    .await
    .unwrap();
    assert_eq!(
        soon("the event", heard.recv()).await.unwrap()["new_value"],
        1
    );
}
