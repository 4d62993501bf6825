//! What a worker may register: lengths, numbers, and ids that belong to others.

use crate::common::{
    ID, RawWorker, RecordingProvider, TIMEOUT, TestHub, call, echo, function, in_time, recorder,
    trigger, trigger_type, wait_for_function,
};
use serde_json::json;
use skills_iii::Event;
use skills_iii::limits::{MAX_ID_BYTES, MAX_TRIGGERS_PER_WORKER};

#[tokio::test]
async fn ids_and_names_have_at_most_a_kibibyte() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    let long = "x".repeat(MAX_ID_BYTES + 1);
    raw_worker.register(&long).await;
    let refused = raw_worker.receive().await;
    assert_eq!(refused["type"], "registrationrejected");
    assert_eq!(refused["code"], "FUNCTION_ID_TOO_LONG");
    assert!(refused["function_id"].as_str().unwrap().len() < 100);
    for (id, kind, function_id) in [
        (&*long, "state", "f"),
        ("t", &*long, "f"),
        ("t", "state", &*long),
    ] {
        raw_worker
            .send_json(
                &json!({ "type": "registertrigger", "id": id, "trigger_type": kind,
                "function_id": function_id, "config": {} }),
            )
            .await;
        let refused = raw_worker.receive().await;
        assert_eq!(refused["type"], "triggerregistrationresult");
        assert_eq!(refused["error"]["code"], "id_too_long");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("1025 bytes") && message.contains("1024"),
            "{message}"
        );
    }
    raw_worker
        .send_json(&json!({ "type": "registertriggertype", "id": long, "description": "" }))
        .await;
    raw_worker.call(ID, &long, &json!({})).await;
    assert_eq!(raw_worker.receive().await["error"]["code"], "id_too_long");
    // One that is just short enough.
    let id = "y".repeat(MAX_ID_BYTES);
    raw_worker.register(&id).await;
    let worker = hub.worker("worker").await;
    wait_for_function(&worker, &id).await;
    let types = call(&worker, "engine::triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(
        types["triggers"].as_array().unwrap().len(),
        3,
        "those of the hub"
    );

    let mut named = RawWorker::connect(hub.address).await;
    named.introduce(&long).await;
    let refused = named.receive().await;
    assert_eq!(refused["code"], "WORKER_NAME_TOO_LONG");
    assert!(refused["worker_name"].as_str().unwrap().len() < 100);
    named.wait_closed().await;
}

#[tokio::test]
async fn the_bytes_that_a_worker_registers_are_bounded() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    let schema = json!({ "description": "x".repeat(9 << 20) });
    let function = |id: &str| json!({ "type": "registerfunction", "id": id, "metadata": schema });
    raw_worker.send_json(&function("a")).await;
    raw_worker.send_json(&function("b")).await;
    let refused = raw_worker.receive().await;
    assert_eq!(refused["code"], "REGISTRATIONS_TOO_LARGE");
    assert_eq!(refused["function_id"], "b");
    let trigger = json!({ "type": "registertrigger", "id": "t", "trigger_type": "on-x",
        "function_id": "f", "config": schema });
    raw_worker.send_json(&trigger).await;
    let refused = raw_worker.receive().await;
    assert_eq!(refused["error"]["code"], "registrations_too_large");
    // What is withdrawn counts no longer.
    raw_worker
        .send_json(&json!({ "type": "unregisterfunction", "id": "a" }))
        .await;
    raw_worker.send_json(&function("b")).await;
    raw_worker.send_json(&json!({ "type": "ping" })).await;
    assert_eq!(raw_worker.receive().await["type"], "pong");
}

#[tokio::test]
async fn a_large_introduction_is_refused() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::connect(hub.address).await;
    let introduction = json!({ "name": "w", "description": "x".repeat(100_000) });
    raw_worker
        .call(ID, "engine::workers::register", &introduction)
        .await;
    let answer = raw_worker.receive().await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("at most 65536 bytes"), "{message}");
}

#[tokio::test]
async fn no_worker_is_called_engine() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::connect(hub.address).await;
    raw_worker.introduce("engine").await;
    let refused = raw_worker.receive().await;
    assert_eq!(refused["code"], "WORKER_NAMESPACE_CONFLICT");
    assert_eq!(refused["worker_name"], "engine");
    raw_worker.wait_closed().await;
}

#[tokio::test]
async fn the_triggers_of_a_worker_are_bounded() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    let register = |id: &str| {
        json!({ "type": "registertrigger", "id": id, "trigger_type": "on-x",
            "function_id": "f", "config": {} })
    };
    for number in 0..MAX_TRIGGERS_PER_WORKER {
        raw_worker.send_json(&register(&number.to_string())).await;
    }
    raw_worker.flush().await;
    raw_worker.send_json(&register("one-more")).await;
    let refused = raw_worker.receive().await;
    assert_eq!(refused["error"]["code"], "too_many_triggers");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("one-more") && message.contains("1024"),
        "{message}"
    );
    // One that it has may be replaced, and one that it removes leaves space.
    raw_worker.send_json(&register("7")).await;
    raw_worker
        .send_json(&json!({ "type": "unregistertrigger", "id": "8" }))
        .await;
    raw_worker.send_json(&register("one-more")).await;
    raw_worker.send_json(&json!({ "type": "ping" })).await;
    assert_eq!(raw_worker.receive().await["type"], "pong");
}

#[tokio::test]
async fn a_trigger_of_another_worker_is_not_replaced() {
    let hub = TestHub::start().await;
    let registry = hub.hub.attach("registry");
    let (record, mut calls) = recorder();
    registry.register_function(function("follow"), record);
    registry.register_trigger(trigger("t", "state", "follow", &json!({})));
    wait_for_function(&registry, "follow").await;

    let thief = hub.worker("thief").await;
    let mut events = thief.events();
    thief.register_trigger(trigger("t", "state", "elsewhere", &json!({})));
    let refused = in_time("the refusal", events.recv()).await.unwrap();
    let Event::TriggerRejected { id, error, .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((&*id, &*error.code), ("t", "trigger_conflict"));
    assert!(error.message.contains("`registry`"), "{error}");
    let by_call = json!({ "id": "t", "trigger_type": "state", "function_id": "elsewhere" });
    let error = call(&thief, "engine::register_trigger", by_call)
        .await
        .unwrap_err();
    assert_eq!(error.code, "trigger_conflict");

    let row = json!({ "scope": "s", "key": "k", "value": 1 });
    call(&thief, "state::set", row).await.unwrap();
    let event = in_time("the event", calls.recv()).await.unwrap();
    assert_eq!(event["new_value"], 1);
    // The id is free when its worker is gone.
    registry.shutdown(TIMEOUT).await;
    let mut events = thief.events();
    let taken = async {
        loop {
            thief.register_function(function("elsewhere"), echo());
            thief.register_trigger(trigger("t", "state", "elsewhere", &json!({})));
            let list = call(&thief, "engine::registered-triggers::list", json!({}))
                .await
                .unwrap();
            if list["registered_triggers"][0]["worker_name"] == "thief" {
                break;
            }
            in_time("the refusal", events.recv()).await.unwrap();
        }
    };
    in_time("the id", taken).await;
}

#[tokio::test]
async fn the_first_provider_keeps_its_type_and_the_next_follows_it() {
    let hub = TestHub::start().await;
    let (first, second) = (hub.worker("first").await, hub.worker("second").await);
    let subscriber = hub.worker("subscriber").await;
    let (recording, mut first_records) = RecordingProvider::new(false);
    first.register_trigger_type(trigger_type("on-x"), recording);
    subscriber.register_trigger(trigger("t1", "on-x", "receive", &json!(1)));
    assert_eq!(
        in_time("t1", first_records.recv()).await.unwrap(),
        "+t1 receive 1"
    );

    let (recording, mut second_records) = RecordingProvider::new(false);
    second.register_trigger_type(trigger_type("on-x"), recording);
    let types = call(&second, "engine::triggers::info", json!({ "id": "on-x" }))
        .await
        .unwrap();
    assert_eq!(types["worker_name"], "first");
    subscriber.register_trigger(trigger("t2", "on-x", "receive", &json!(2)));
    assert_eq!(
        in_time("t2", first_records.recv()).await.unwrap(),
        "+t2 receive 2"
    );

    first.shutdown(TIMEOUT).await;
    let mut followed = [
        in_time("t1", second_records.recv()).await.unwrap(),
        in_time("t2", second_records.recv()).await.unwrap(),
    ];
    followed.sort();
    assert_eq!(followed, ["+t1 receive 1", "+t2 receive 2"]);
    second.unregister_trigger_type("on-x");
    subscriber.register_trigger(trigger("t3", "on-x", "receive", &json!(3)));
    let types = call(&second, "engine::triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(
        types["triggers"].as_array().unwrap().len(),
        3,
        "those of the hub"
    );
}
