//! Calls between workers: ours over sockets and inside the process.

use std::time::Duration;

use crate::common::{
    LONG, Served, echo, function, handler, listener, offered, quick, raw, soon, value,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use skills_iii::{CallError, Client, ErrorBody, Event};

async fn pair(served: &Served) -> [(Client, Client); 3] {
    [
        (served.worker("a1").await, served.worker("b1").await),
        (served.hub.attach("a2"), served.worker("b2").await),
        (served.hub.attach("a3"), served.hub.attach("b3")),
    ]
}

#[tokio::test]
async fn workers_call_each_other_in_both_directions() {
    let served = Served::start().await;
    for (one, other) in pair(&served).await {
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
            offered(caller, &callee).await;
            let answer = caller
                .call(&callee, raw(&json!({ "n": 1 })), LONG)
                .await
                .unwrap();
            let expected = json!({ "n": 1, "_caller_worker_id": caller.worker_id().unwrap() });
            assert_eq!(value(answer), expected);
        }
    }
}

#[tokio::test]
async fn only_objects_are_told_the_caller_and_nobody_can_pass_for_another() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.hub.attach("other"));
    other.register_function(function("echo"), echo());
    offered(&one, "echo").await;
    for payload in [
        json!([1, 2]),
        json!("text"),
        json!(null),
        json!(18_446_744_073_709_551_615_u64),
    ] {
        let answer = one.call("echo", raw(&payload), LONG).await.unwrap();
        assert_eq!(value(answer), payload);
    }
    let me = one.worker_id().unwrap();
    for forged in [
        r#"{"_caller_worker_id":"you","a":1}"#,
        r#"{"a":1,"\u005fcaller_worker_id":"you"}"#,
        r#"{"_caller_worker_id":"x","a":1,"_caller_worker_id":"y"}"#,
    ] {
        let payload = serde_json::from_str(forged).unwrap();
        let answer = one.call("echo", payload, LONG).await.unwrap().unwrap();
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
async fn failures_cross_the_wire_as_they_are() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.worker("other").await);
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
    offered(&one, "null").await;
    let call = async |id: &str| one.call(id, raw(&json!({})), LONG).await;
    let Err(CallError::Remote(error)) = call("fails").await else {
        panic!("it must fail")
    };
    assert_eq!(error.code, "TEAPOT");
    assert_eq!(error.message, "short \"and\" stout");
    assert_eq!(error.stacktrace.as_deref(), Some("here\nthere"));
    let Err(CallError::Remote(error)) = call("panics").await else {
        panic!("it must fail")
    };
    assert_eq!(error.message, "the handler panicked: oh no");
    assert!(
        call("nothing").await.unwrap().is_none(),
        "the connection outlived the panic"
    );
    assert!(
        call("null").await.unwrap().is_none(),
        "between workers null is no result"
    );
    assert_eq!(
        call("nobody").await.unwrap_err(),
        CallError::NotFound("nobody".to_owned())
    );
}

#[tokio::test]
async fn a_call_that_is_not_answered_times_out() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.worker("other").await);
    other.register_function(function("never"), handler(|_| std::future::pending()));
    offered(&one, "never").await;
    let short = Duration::from_millis(30);
    let error = one.call("never", raw(&json!({})), short).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_void_call_arrives_and_nobody_waits() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.hub.attach("other"));
    let (hear, mut heard) = listener();
    other.register_function(function("hear"), hear);
    offered(&one, "hear").await;
    one.send("nobody::at::all", raw(&json!(1)));
    one.send("hear", raw(&json!([1])));
    assert_eq!(soon("the call", heard.recv()).await, Some(json!([1])));
}

#[tokio::test]
async fn twenty_mebibytes_travel_both_ways() {
    let served = Served::start().await;
    for (number, (one, other)) in pair(&served).await.into_iter().enumerate() {
        let id = format!("big{number}");
        other.register_function(function(&id), echo());
        one.wait_connected().await.unwrap();
        offered(&one, &id).await;
        let big = json!(["é".repeat(10 << 20)]);
        let answer = one.call(&id, raw(&big), LONG).await.unwrap();
        assert!(value(answer) == big, "what came back is what went");
    }
}

#[tokio::test]
async fn a_thousand_calls_at_once_each_get_their_own_answer() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.worker("other").await);
    other.register_function(function("echo"), echo());
    offered(&one, "echo").await;
    let calls = (0..1000).map(|n| one.call("echo", raw(&json!([n])), LONG));
    for (n, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(value(answer.unwrap()), json!([n]));
    }
}

#[tokio::test]
async fn a_worker_comes_back_after_the_hub_restarts_and_says_everything_again() {
    let served = Served::start().await;
    let worker = served.worker("worker").await;
    worker.register_function(function("echo"), echo());
    let mut events = worker.events();
    let address = served.stop().await;
    let event = soon("the loss", events.recv()).await.unwrap();
    assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
    let error = worker.call("echo", raw(&json!(1)), LONG).await.unwrap_err();
    assert_eq!(
        error,
        CallError::Disconnected,
        "an outage is an error at once"
    );

    let served = Served::at(address, crate::common::options()).await;
    let event = soon("the return", events.recv()).await.unwrap();
    assert!(matches!(event, Event::Connected { .. }), "{event:?}");
    let other = served.worker("other").await;
    offered(&other, "echo").await;
    let answer = other.call("echo", raw(&json!([1])), LONG).await.unwrap();
    assert_eq!(value(answer), json!([1]));
}

#[tokio::test]
async fn an_idempotent_call_outlives_a_restart() {
    let served = Served::start().await;
    let worker = served.worker("worker").await;
    let address = served.stop().await;
    let ask = json!({ "scope": "s", "key": "k" });
    let payload = raw(&ask);
    let call = worker.call_idempotent("state::get", payload, LONG);
    let restart = async { Served::at(address, crate::common::options()).await };
    let (answer, _served) = tokio::join!(call, restart);
    assert!(answer.unwrap().is_none());
}

#[tokio::test]
async fn an_idempotent_call_is_said_again_when_an_answer_is_lost() {
    let served = Served::start().await;
    let worker = served.worker("worker").await;
    let mut lossy = crate::common::Bare::named(served.address, "lossy").await;
    lossy.offer("lossy").await;
    lossy.settled().await;
    let payload = raw(&json!({}));
    let call = worker.call_idempotent("lossy", payload, LONG);
    let callee = async {
        let first = lossy.hear().await;
        let second = lossy.hear().await;
        assert_ne!(first["invocation_id"], second["invocation_id"]);
        lossy
            .say(
                &json!({ "type": "invocationresult", "invocation_id": second["invocation_id"],
                "function_id": "lossy", "result": "second" }),
            )
            .await;
    };
    let (answer, ()) = tokio::join!(call, callee);
    assert_eq!(value(answer.unwrap()), json!("second"));
}

#[tokio::test]
async fn shutting_down_finishes_what_is_in_flight() {
    let served = Served::start().await;
    let (one, other) = (served.worker("one").await, served.worker("other").await);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let (finish, finished) = tokio::sync::watch::channel(false);
    other.register_function(
        function("slow"),
        handler(move |_| {
            started.send(()).ok();
            let mut finished = finished.clone();
            async move {
                finished.wait_for(|done| *done).await.ok();
                Ok(Some(json!("done")))
            }
        }),
    );
    offered(&one, "slow").await;
    let payload = raw(&json!({}));
    let caller = async { one.call("slow", payload, LONG).await };
    let closer = async {
        soon("the call", starts.recv()).await;
        let shutdown = other.shutdown(LONG);
        let rest = async {
            // No more calls are taken while the last one finishes.
            while one.call("slow", raw(&json!({})), LONG).await.is_ok() {}
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

#[tokio::test]
async fn a_quick_answer_is_said_again_if_the_options_say_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = quick("worker");
    // An answer that took longer is not said again, so the machine must have time to be quick.
    options.repeat_reply = Some(Duration::from_secs(2));
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let worker = Client::connect(&url, options).unwrap();
    worker.register_function(function("echo"), echo());
    let (stream, _) = soon("the worker", listener.accept()).await.unwrap();
    let mut engine = crate::common::Bare(tokio_tungstenite::accept_async(stream).await.unwrap());
    engine
        .say(&json!({ "type": "workerregistered", "worker_id": "w" }))
        .await;
    engine.call(crate::common::ID, "echo", &json!([1])).await;
    let mut answers = Vec::new();
    while answers.len() < 2 {
        let message = engine.hear().await;
        if message["type"] == "invocationresult" {
            answers.push(message);
        }
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["result"], json!([1]));
}
