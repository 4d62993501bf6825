//! Calls between workers, over sockets and inside the process.

use std::time::Duration;

use crate::common::{
    TIMEOUT, TestHub, echo, function, handler, in_time, raw, recorder, value, wait_for_function,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use skills_iii::{CallError, Client, ErrorBody, Event};

async fn pair(hub: &TestHub) -> [(Client, Client); 3] {
    [
        (hub.worker("a1").await, hub.worker("b1").await),
        (hub.hub.attach("a2"), hub.worker("b2").await),
        (hub.hub.attach("a3"), hub.hub.attach("b3")),
    ]
}

#[tokio::test]
async fn workers_call_each_other_in_both_directions() {
    let hub = TestHub::start().await;
    for (one, other) in pair(&hub).await {
        for client in [&one, &other] {
            client.wait_connected().await.unwrap();
        }
        let id = one.worker_id().unwrap();
        one.register_function(function(&format!("one::{id}")), echo());
        other.register_function(function(&format!("other::{id}")), echo());
        for (caller, callee) in [
            (&one, format!("other::{id}")),
            (&other, format!("one::{id}")),
        ] {
            wait_for_function(caller, &callee).await;
            let answer = caller
                .call(&callee, raw(&json!({ "n": 1 })), TIMEOUT)
                .await
                .unwrap();
            let expected = json!({ "n": 1, "_caller_worker_id": caller.worker_id().unwrap() });
            assert_eq!(value(answer), expected);
        }
    }
}

#[tokio::test]
async fn object_payloads_get_the_callers_id_which_cannot_be_forged() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.hub.attach("other"));
    other.register_function(function("echo"), echo());
    wait_for_function(&one, "echo").await;
    for payload in [
        json!([1, 2]),
        json!("text"),
        json!(null),
        json!(18_446_744_073_709_551_615_u64),
    ] {
        let answer = one.call("echo", raw(&payload), TIMEOUT).await.unwrap();
        assert_eq!(value(answer), payload);
    }
    let me = one.worker_id().unwrap();
    for forged in [
        r#"{"_caller_worker_id":"you","a":1}"#,
        r#"{"a":1,"\u005fcaller_worker_id":"you"}"#,
        r#"{"_caller_worker_id":"x","a":1,"_caller_worker_id":"y"}"#,
    ] {
        let payload = serde_json::from_str(forged).unwrap();
        let answer = one.call("echo", payload, TIMEOUT).await.unwrap().unwrap();
        assert_eq!(
            answer.get().matches("caller_worker_id").count(),
            1,
            "in {answer}"
        );
        assert_eq!(
            value(Some(answer)),
            json!({ "a": 1, "_caller_worker_id": me })
        );
    }
}

#[tokio::test]
async fn errors_reach_the_caller_unchanged() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.worker("other").await);
    other.register_function(
        function("fails"),
        handler(|_| async {
            Err(ErrorBody {
                code: "TEAPOT".to_owned(),
                message: "short \"and\" stout".to_owned(),
                stacktrace: Some("here\nthere".to_owned()),
            })
        }),
    );
    other.register_function(function("panics"), handler(|_| async { panic!("oh no") }));
    other.register_function(function("nothing"), handler(|_| async { Ok(None) }));
    other.register_function(
        function("null"),
        handler(|_| async { Ok(Some(Value::Null)) }),
    );
    wait_for_function(&one, "null").await;
    let call = async |id: &str| one.call(id, raw(&json!({})), TIMEOUT).await;
    let Err(CallError::Remote(error)) = call("fails").await else {
        panic!("the call must fail")
    };
    assert_eq!(error.code, "TEAPOT");
    assert_eq!(error.message, "short \"and\" stout");
    assert_eq!(error.stacktrace.as_deref(), Some("here\nthere"));
    let Err(CallError::Remote(error)) = call("panics").await else {
        panic!("the call must fail")
    };
    assert_eq!(error.message, "the handler panicked: oh no");
    assert!(
        call("nothing").await.unwrap().is_none(),
        "the connection survives the panic"
    );
    assert!(
        call("null").await.unwrap().is_none(),
        "between workers null means no result"
    );
    assert_eq!(
        call("unknown").await.unwrap_err(),
        CallError::NotFound("unknown".to_owned())
    );
}

#[tokio::test]
async fn a_call_without_a_reply_times_out() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.worker("other").await);
    other.register_function(function("never"), handler(|_| std::future::pending()));
    wait_for_function(&one, "never").await;
    let short = Duration::from_millis(30);
    let error = one.call("never", raw(&json!({})), short).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_void_call_arrives_without_a_reply() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.hub.attach("other"));
    let (record, mut calls) = recorder();
    other.register_function(function("receive"), record);
    wait_for_function(&one, "receive").await;
    one.send("unknown::function", raw(&json!(1)));
    one.send("receive", raw(&json!([1])));
    assert_eq!(in_time("the call", calls.recv()).await, Some(json!([1])));
}

#[tokio::test]
async fn twenty_mebibytes_pass_in_both_directions() {
    let hub = TestHub::start().await;
    for (number, (one, other)) in pair(&hub).await.into_iter().enumerate() {
        let id = format!("big{number}");
        other.register_function(function(&id), echo());
        one.wait_connected().await.unwrap();
        wait_for_function(&one, &id).await;
        let big = json!(["é".repeat(10 << 20)]);
        let answer = one.call(&id, raw(&big), TIMEOUT).await.unwrap();
        assert!(value(answer) == big, "the reply is not the payload");
    }
}

#[tokio::test]
async fn a_thousand_concurrent_calls_each_get_their_own_reply() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.worker("other").await);
    other.register_function(function("echo"), echo());
    wait_for_function(&one, "echo").await;
    let calls = (0..1000).map(|n| one.call("echo", raw(&json!([n])), TIMEOUT));
    for (n, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(value(answer.unwrap()), json!([n]));
    }
}

#[tokio::test]
async fn a_worker_reconnects_after_a_restart_of_the_hub_and_registers_again() {
    let hub = TestHub::start().await;
    let worker = hub.worker("worker").await;
    worker.register_function(function("echo"), echo());
    let mut events = worker.events();
    let address = hub.stop().await;
    let event = in_time("the loss", events.recv()).await.unwrap();
    assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
    let error = worker
        .call("echo", raw(&json!(1)), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(
        error,
        CallError::Disconnected,
        "a call without a connection fails at once"
    );

    let hub = TestHub::at(address).await;
    let event = in_time("the return", events.recv()).await.unwrap();
    assert!(matches!(event, Event::Connected { .. }), "{event:?}");
    let other = hub.worker("other").await;
    wait_for_function(&other, "echo").await;
    let answer = other.call("echo", raw(&json!([1])), TIMEOUT).await.unwrap();
    assert_eq!(value(answer), json!([1]));
}

#[tokio::test]
async fn an_idempotent_call_survives_a_restart() {
    let hub = TestHub::start().await;
    let worker = hub.worker("worker").await;
    let address = hub.stop().await;
    let ask = json!({ "scope": "s", "key": "k" });
    let payload = raw(&ask);
    let call = worker.call_idempotent("state::get", payload, TIMEOUT);
    let restart = async { TestHub::at(address).await };
    let (answer, _served) = tokio::join!(call, restart);
    assert!(answer.unwrap().is_none());
}

#[tokio::test]
async fn an_idempotent_call_is_sent_again_when_a_reply_is_lost() {
    let hub = TestHub::start().await;
    let worker = hub.worker("worker").await;
    let mut lossy = crate::common::RawWorker::named(hub.address, "lossy").await;
    lossy.register("lossy").await;
    lossy.flush().await;
    let payload = raw(&json!({}));
    let call = worker.call_idempotent("lossy", payload, TIMEOUT);
    let callee = async {
        let first = lossy.receive().await;
        let second = lossy.receive().await;
        assert_ne!(first["invocation_id"], second["invocation_id"]);
        lossy
            .send_json(
                &json!({ "type": "invocationresult", "invocation_id": second["invocation_id"],
                "function_id": "lossy", "result": "second" }),
            )
            .await;
    };
    let (answer, ()) = tokio::join!(call, callee);
    assert_eq!(value(answer.unwrap()), json!("second"));
}

#[tokio::test]
async fn shutdown_finishes_running_calls() {
    let hub = TestHub::start().await;
    let (one, other) = (hub.worker("one").await, hub.worker("other").await);
    let (started, mut starts) = tokio::sync::mpsc::channel(1024);
    let (finish, finished) = tokio::sync::watch::channel(false);
    other.register_function(
        function("slow"),
        handler(move |_| {
            started.try_send(()).unwrap();
            let mut finished = finished.clone();
            async move {
                finished.wait_for(|done| *done).await.ok();
                Ok(Some(json!("done")))
            }
        }),
    );
    wait_for_function(&one, "slow").await;
    let payload = raw(&json!({}));
    let caller = async { one.call("slow", payload, TIMEOUT).await };
    let closer = async {
        in_time("the call", starts.recv()).await;
        let shutdown = other.shutdown(TIMEOUT);
        let rest = async {
            // No more calls are accepted while the last one finishes.
            while one.call("slow", raw(&json!({})), TIMEOUT).await.is_ok() {}
            finish.send_replace(true);
        };
        tokio::join!(shutdown, rest);
    };
    let (answer, ()) = tokio::join!(caller, closer);
    assert_eq!(value(answer.unwrap()), json!("done"));
    assert!(other.worker_id().is_none());
    assert_eq!(
        other.wait_connected().await.unwrap_err(),
        CallError::Disconnected
    );
}
