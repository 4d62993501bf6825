//! The engine's rules: registration, rejection, triggers, cleanup, lists, state.

mod common;

use common::{
    Bare, LONG, Notes, Served, echo, function, listener, offered, raw, soon, trigger, value,
};
use serde_json::{Value, json};
use skills_iii::client::TriggerTypeSpec;
use skills_iii::{CallError, Client, ErrorBody, Event, StateStore};

fn kind(id: &str) -> TriggerTypeSpec {
    TriggerTypeSpec {
        id: id.to_owned(),
        description: "fires".to_owned(),
        ..Default::default()
    }
}

async fn ask(client: &Client, function_id: &str, data: Value) -> Result<Value, ErrorBody> {
    match client.call(function_id, raw(&data), LONG).await {
        Ok(answer) => Ok(value(answer)),
        Err(CallError::Remote(error)) => Err(error),
        Err(error) => panic!("{function_id}: {error}"),
    }
}

#[tokio::test]
async fn a_function_somebody_has_is_refused_and_a_standby_takes_over() {
    let served = Served::start().await;
    let owner = served.worker("owner").await;
    owner.register_function(function("job"), echo());
    offered(&owner, "job").await;
    let standby = served.worker("standby").await;
    let mut events = standby.events();
    standby.register_function(function("job"), echo());
    let Event::Rejected(refusal) = soon("the refusal", events.recv()).await.unwrap() else {
        panic!("a refusal")
    };
    assert_eq!(refusal.code, "FUNCTION_NAMESPACE_CONFLICT");
    assert_eq!(refusal.function_id.as_deref(), Some("job"));
    assert_eq!(refusal.owner_worker_id, owner.worker_id());
    assert_eq!(standby.rejected(), [refusal.clone()]);

    standby.reclaim();
    let again = soon("the refusal", events.recv()).await.unwrap();
    assert_eq!(again, Event::Rejected(refusal), "the owner is still there");
    owner.shutdown(LONG).await;
    standby.reclaim();
    offered(&standby, "job").await;
    assert!(standby.rejected().is_empty());
    assert_eq!(ask(&standby, "job", json!([7])).await, Ok(json!([7])));
}

#[tokio::test]
async fn the_owner_may_register_again_and_unregister() {
    let served = Served::start().await;
    let owner = served.worker("owner").await;
    owner.register_function(function("job"), echo());
    let mut again = function("job");
    again.description = Some("better".to_owned());
    owner.register_function(again, echo());
    let info = ask(
        &owner,
        "engine::functions::info",
        json!({ "function_id": "job" }),
    )
    .await
    .unwrap();
    assert_eq!(info["description"], "better");
    assert!(owner.rejected().is_empty());
    owner.unregister_function("job");
    let gone = owner.call("job", raw(&json!({})), LONG).await.unwrap_err();
    assert_eq!(gone, CallError::NotFound("job".to_owned()));
}

#[tokio::test]
async fn a_second_worker_of_the_same_name_is_refused_and_closed() {
    let served = Served::start().await;
    let first = served.worker("same").await;
    offered(&first, "state::get").await;
    let mut second = Bare::connect(served.address).await;
    second.offer("mine").await;
    second.introduce("same").await;
    let refusal = second.hear().await;
    assert_eq!(refusal["type"], "registrationrejected");
    assert_eq!(refusal["code"], "WORKER_NAMESPACE_CONFLICT");
    assert_eq!(refusal["worker_name"], "same");
    assert_eq!(refusal["owner_worker_id"], json!(first.worker_id()));
    second.ended().await;
    assert_eq!(
        ask(&first, "state::list", json!({ "scope": "s" })).await,
        Ok(json!([]))
    );
    let error = first.call("mine", raw(&json!({})), LONG).await.unwrap_err();
    assert_eq!(
        error,
        CallError::NotFound("mine".to_owned()),
        "its offers never counted"
    );
}

#[tokio::test]
async fn offers_count_once_the_worker_has_introduced_itself_but_calls_work_at_once() {
    let served = Served::start().await;
    let caller = served.worker("caller").await;
    let mut bare = Bare::connect(served.address).await;
    bare.offer("early").await;
    bare.call(
        "00000000-0000-4000-8000-000000000001",
        "state::list_groups",
        &json!({}),
    )
    .await;
    assert_eq!(bare.hear().await["result"], json!({ "groups": [] }));
    let early = caller
        .call("early", raw(&json!({})), LONG)
        .await
        .unwrap_err();
    assert_eq!(early, CallError::NotFound("early".to_owned()));
    bare.introduce("bare").await;
    offered(&caller, "early").await;
}

#[tokio::test]
async fn offers_count_after_the_grace_without_an_introduction() {
    let mut options = common::options();
    options.grace = std::time::Duration::from_millis(10);
    let served = Served::with(options).await;
    let caller = served.worker("caller").await;
    let mut bare = Bare::connect(served.address).await;
    bare.offer("early").await;
    offered(&caller, "early").await;
}

#[tokio::test]
async fn a_worker_that_reattaches_ends_its_old_connection() {
    let served = Served::start().await;
    let caller = served.worker("caller").await;
    let stream = tokio::net::TcpStream::connect(served.address)
        .await
        .unwrap();
    let url = format!("ws://{}/", served.address);
    let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let mut old = Bare(socket);
    let hello = old.hear().await;
    old.introduce("worker").await;
    old.offer("job").await;
    offered(&caller, "job").await;
    let mut new = Bare::connect(served.address).await;
    new.say(
        &json!({ "type": "reattach", "previous_worker_id": hello["worker_id"],
        "reattach_token": hello["reattach_token"] }),
    )
    .await;
    new.offer("job").await;
    new.introduce("worker").await;
    new.settled().await;
    old.ended().await;
    let info = ask(
        &caller,
        "engine::workers::info",
        json!({ "name": "worker" }),
    )
    .await
    .unwrap();
    assert_eq!(info["worker"]["function_count"], 1);
}

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
        Event::TriggerRefused {
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
async fn state_answers_in_the_documented_shapes() {
    let served = Served::start().await;
    let mut bare = Bare::named(served.address, "bare").await;
    let mut number = 0;
    let mut check = async |function_id: &str, data: Value, expected: &str| {
        number += 1;
        let id = format!("00000000-0000-4000-8000-{number:012}");
        bare.call(&id, function_id, &data).await;
        let mut answer = bare.hear().await;
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
        matches!(refused, Event::TriggerRefused { .. }),
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
    worker.register_function(function("even"), common::handler(even));
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
async fn the_lists_say_who_is_here_and_what_they_offer() {
    let served = Served::start().await;
    let worker = served.worker("worker").await;
    let mut spec = function("a::b");
    spec.description = Some("does it".to_owned());
    spec.request_format = Some(raw(&json!({ "type": "object" })));
    worker.register_function(spec, echo());
    let mut hidden = function("a::hidden");
    hidden.metadata = Some(raw(&json!({ "internal": true })));
    worker.register_function(hidden, echo());
    worker.register_trigger_type(kind("on-x"), Notes::new(false).0);
    worker.register_trigger(trigger("t", "on-x", "a::b", &json!({})));
    offered(&worker, "a::hidden").await;

    let list = async |data: Value| {
        let list = ask(&worker, "engine::functions::list", data).await.unwrap();
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
    let info = ask(
        &worker,
        "engine::functions::info",
        json!({ "function_id": "a::b" }),
    )
    .await
    .unwrap();
    assert_eq!(info["request_schema"], json!({ "type": "object" }));
    assert_eq!(info["registered_triggers"][0]["id"], "t");
    let several = json!({ "function_ids": ["a::b", "?"] });
    let several = ask(&worker, "engine::functions::info", several)
        .await
        .unwrap();
    assert_eq!(
        several["functions"][1],
        json!({ "function_id": "?", "error": "not_found" })
    );
    let error = ask(
        &worker,
        "engine::functions::info",
        json!({ "function_id": "?" }),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, "NOT_FOUND");

    let workers = ask(&worker, "engine::workers::list", json!({}))
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
    let info = ask(
        &worker,
        "engine::workers::info",
        json!({ "name": "worker" }),
    )
    .await
    .unwrap();
    assert_eq!(info["trigger_types"][0]["id"], "on-x");
    let kinds = ask(&worker, "engine::triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(
        kinds["triggers"].as_array().unwrap().len(),
        4,
        "three of the hub and one"
    );
    let info = ask(&worker, "engine::triggers::info", json!({ "id": "on-x" }))
        .await
        .unwrap();
    assert_eq!(info["instance_count"], 1);
    let list = ask(&worker, "engine::registered-triggers::list", json!({}))
        .await
        .unwrap();
    assert_eq!(list["registered_triggers"][0]["function_id"], "a::b");
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
