//! The rules of the engine: registration, rejection, cleanup, lists and state.

use crate::common::{
    RawWorker, RecordingProvider, TIMEOUT, TestHub, call, echo, function, in_time, raw, trigger,
    trigger_type, wait_for_function,
};
use serde_json::{Value, json};
use skills_iii::{CallError, Event};

#[tokio::test]
async fn a_taken_function_is_rejected_and_a_standby_can_take_over() {
    let hub = TestHub::start().await;
    let owner = hub.worker("owner").await;
    owner.register_function(function("job"), echo());
    wait_for_function(&owner, "job").await;
    let standby = hub.worker("standby").await;
    let mut events = standby.events();
    standby.register_function(function("job"), echo());
    let Event::RegistrationRejected(refusal) = in_time("the refusal", events.recv()).await.unwrap()
    else {
        panic!("a refusal")
    };
    assert_eq!(refusal.code, "FUNCTION_NAMESPACE_CONFLICT");
    assert_eq!(refusal.function_id.as_deref(), Some("job"));
    assert_eq!(refusal.owner_worker_id, owner.worker_id());
    assert_eq!(standby.rejected_functions(), std::slice::from_ref(&refusal));

    standby.retry_rejected_functions();
    let again = in_time("the refusal", events.recv()).await.unwrap();
    assert_eq!(
        again,
        Event::RegistrationRejected(refusal),
        "the owner is still connected"
    );
    owner.shutdown(TIMEOUT).await;
    standby.retry_rejected_functions();
    wait_for_function(&standby, "job").await;
    assert!(standby.rejected_functions().is_empty());
    assert_eq!(call(&standby, "job", json!([7])).await, Ok(json!([7])));
}

#[tokio::test]
async fn the_owner_may_register_again_and_unregister() {
    let hub = TestHub::start().await;
    let owner = hub.worker("owner").await;
    owner.register_function(function("job"), echo());
    let mut again = function("job");
    again.description = Some("better".to_owned());
    owner.register_function(again, echo());
    let info = call(
        &owner,
        "engine::functions::info",
        json!({ "function_id": "job" }),
    )
    .await
    .unwrap();
    assert_eq!(info["description"], "better");
    assert!(owner.rejected_functions().is_empty());
    owner.unregister_function("job");
    let gone = owner
        .call("job", raw(&json!({})), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(gone, CallError::NotFound("job".to_owned()));
}

#[tokio::test]
async fn a_second_worker_of_the_same_name_is_rejected_and_closed() {
    let hub = TestHub::start().await;
    let first = hub.worker("same").await;
    wait_for_function(&first, "state::get").await;
    let mut second = RawWorker::connect(hub.address).await;
    second.register("mine").await;
    second.introduce("same").await;
    let refusal = second.receive().await;
    assert_eq!(refusal["type"], "registrationrejected");
    assert_eq!(refusal["code"], "WORKER_NAMESPACE_CONFLICT");
    assert_eq!(refusal["worker_name"], "same");
    assert_eq!(refusal["owner_worker_id"], json!(first.worker_id()));
    second.wait_closed().await;
    assert_eq!(
        call(&first, "state::list", json!({ "scope": "s" })).await,
        Ok(json!([]))
    );
    let error = first
        .call("mine", raw(&json!({})), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(
        error,
        CallError::NotFound("mine".to_owned()),
        "its registrations never took effect"
    );
}

#[tokio::test]
async fn registrations_take_effect_at_the_introduction_but_calls_work_before() {
    let hub = TestHub::start().await;
    let caller = hub.worker("caller").await;
    let mut raw_worker = RawWorker::connect(hub.address).await;
    raw_worker.register("early").await;
    raw_worker
        .call(
            "00000000-0000-4000-8000-000000000001",
            "state::list_groups",
            &json!({}),
        )
        .await;
    assert_eq!(
        raw_worker.receive().await["result"],
        json!({ "groups": [] })
    );
    let early = caller
        .call("early", raw(&json!({})), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(early, CallError::NotFound("early".to_owned()));
    raw_worker.introduce("raw_worker").await;
    wait_for_function(&caller, "early").await;
}

#[tokio::test]
async fn registrations_take_effect_after_the_introduction_timeout() {
    let hub = TestHub::with(|options| {
        options.introduction_timeout = std::time::Duration::from_millis(10);
    })
    .await;
    let caller = hub.worker("caller").await;
    let mut raw_worker = RawWorker::connect(hub.address).await;
    raw_worker.register("early").await;
    wait_for_function(&caller, "early").await;
}

#[tokio::test]
async fn a_worker_that_reattaches_replaces_its_old_connection() {
    let hub = TestHub::start().await;
    let caller = hub.worker("caller").await;
    let stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
    let url = format!("ws://{}/", hub.address);
    let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let mut old = RawWorker(socket);
    let hello = old.receive().await;
    old.introduce("worker").await;
    old.register("job").await;
    wait_for_function(&caller, "job").await;
    let mut new = RawWorker::connect(hub.address).await;
    new.send_json(
        &json!({ "type": "reattach", "previous_worker_id": hello["worker_id"],
        "reattach_token": hello["reattach_token"] }),
    )
    .await;
    new.register("job").await;
    new.introduce("worker").await;
    new.flush().await;
    old.wait_closed().await;
    let info = call(
        &caller,
        "engine::workers::info",
        json!({ "name": "worker" }),
    )
    .await
    .unwrap();
    assert_eq!(info["worker"]["function_count"], 1);
}

#[tokio::test]
async fn state_functions_return_the_documented_shapes() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    let mut number = 0;
    let mut check = async |function_id: &str, data: Value, expected: &str| {
        number += 1;
        let id = format!("00000000-0000-4000-8000-{number:012}");
        raw_worker.call(&id, function_id, &data).await;
        let mut answer = raw_worker.receive().await;
        let fields = answer.as_object_mut().unwrap();
        assert_eq!(fields.remove("type").unwrap(), "invocationresult");
        assert_eq!(fields.remove("invocation_id").unwrap(), id.as_str());
        assert_eq!(fields.remove("function_id").unwrap(), function_id);
        if let Some(error) = fields.get_mut("error") {
            *error = error["code"].clone();
        }
        assert_eq!(answer.to_string(), expected, "for {function_id} {data}");
    };
    let row = json!({ "scope": "s", "key": "k" });
    check("state::get", row.clone(), "{}").await;
    let one = json!({ "scope": "s", "key": "k", "value": 1 });
    check(
        "state::set",
        one,
        r#"{"result":{"new_value":1,"old_value":null}}"#,
    )
    .await;
    let null = json!({ "scope": "s", "key": "k", "data": null });
    check(
        "state::set",
        null,
        r#"{"result":{"new_value":null,"old_value":1}}"#,
    )
    .await;
    check("state::get", row.clone(), r#"{"result":null}"#).await;
    let other = json!({ "scope": "s", "key": "a", "value": [2] });
    check(
        "state::set",
        other,
        r#"{"result":{"new_value":[2],"old_value":null}}"#,
    )
    .await;
    check(
        "state::list",
        json!({ "scope": "s" }),
        r#"{"result":[null,[2]]}"#,
    )
    .await;
    check("state::list", json!({ "scope": "?" }), r#"{"result":[]}"#).await;
    check("state::delete", row.clone(), r#"{"result":null}"#).await;
    check("state::delete", row, "{}").await;
    check(
        "state::list_groups",
        json!({}),
        r#"{"result":{"groups":["s"]}}"#,
    )
    .await;
    check(
        "state::get",
        json!({ "scope": 1 }),
        r#"{"error":"deserialization_error"}"#,
    )
    .await;
    let ops = json!({ "scope": "s", "key": "u", "ops": [
        { "type": "set", "path": "", "value": { "n": 1 } },
        { "type": "increment", "path": "n", "by": 4 },
        { "type": "decrement", "path": "m", "by": 1 },
        { "type": "append", "path": ["l", "x"], "value": 1 },
        { "type": "merge", "value": { "z": true } },
        { "type": "append", "path": "n", "value": 1 },
        { "type": "remove", "path": "m" },
    ] });
    let expected = r#"{"result":{"errors":[{"code":"append.type_mismatch","doc_url":null,"message":"nothing can be appended to a number","op_index":5}],"new_value":{"l":{"x":[1]},"n":5,"z":true},"old_value":null}}"#;
    check("state::update", ops, expected).await;
    let bad = json!({ "scope": "s", "key": "u", "ops": [{ "type": "?" }] });
    check("state::update", bad, r#"{"error":"deserialization_error"}"#).await;
}

#[tokio::test]
async fn the_lists_show_workers_functions_and_triggers() {
    let hub = TestHub::start().await;
    let worker = hub.worker("worker").await;
    let mut spec = function("a::b");
    spec.description = Some("does it".to_owned());
    spec.request_format = Some(raw(&json!({ "type": "object" })));
    worker.register_function(spec, echo());
    let mut hidden = function("a::hidden");
    hidden.metadata = Some(raw(&json!({ "internal": true })));
    worker.register_function(hidden, echo());
    worker.register_trigger_type(trigger_type("on-x"), RecordingProvider::new(false).0);
    worker.register_trigger(trigger("t", "on-x", "a::b", &json!({})));
    wait_for_function(&worker, "a::hidden").await;

    let list = async |data: Value| {
        let list = call(&worker, "engine::functions::list", data)
            .await
            .unwrap();
        let ids = list["functions"].as_array().unwrap().iter();
        ids.map(|f| f["function_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(list(json!({ "worker": "worker" })).await, ["a::b"]);
    assert_eq!(list(json!({ "search": "DOES" })).await, ["a::b"]);
    let all = list(json!({ "include_internal": true })).await;
    assert!(
        all.contains(&"a::hidden".to_owned()) && all.contains(&"engine::workers::list".to_owned())
    );
    let info = call(
        &worker,
        "engine::functions::info",
        json!({ "function_id": "a::b" }),
    )
    .await
    .unwrap();
    assert_eq!(info["request_schema"], json!({ "type": "object" }));
    assert_eq!(info["registered_triggers"][0]["id"], "t");
    let several = json!({ "function_ids": ["a::b", "?"] });
    let several = call(&worker, "engine::functions::info", several)
        .await
        .unwrap();
    assert_eq!(
        several["functions"][1],
        json!({ "function_id": "?", "error": "not_found" })
    );
    let error = call(
        &worker,
        "engine::functions::info",
        json!({ "function_id": "?" }),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, "NOT_FOUND");

    let workers = call(&worker, "engine::workers::list", json!({}))
        .await
        .unwrap();
    let named = |name: &str| {
        let mut workers = workers["workers"].as_array().unwrap().iter();
        workers
            .find(|worker| worker["name"] == name)
            .cloned()
            .unwrap()
    };
    assert_eq!(named("engine")["runtime"], "engine");
    assert_eq!(named("worker")["runtime"], "rust");
    assert_eq!(named("worker")["function_count"], 2);
    let info = call(
        &worker,
        "engine::workers::info",
        json!({ "name": "worker" }),
    )
    .await
    .unwrap();
    assert_eq!(info["trigger_types"][0]["id"], "on-x");
    let kinds = call(&worker, "engine::triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(
        kinds["triggers"].as_array().unwrap().len(),
        4,
        "three of the hub and one of the worker"
    );
    let info = call(&worker, "engine::triggers::info", json!({ "id": "on-x" }))
        .await
        .unwrap();
    assert_eq!(info["instance_count"], 1);
    let list = call(&worker, "engine::registered-triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(list["registered_triggers"][0]["function_id"], "a::b");
}
