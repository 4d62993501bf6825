//! Careless and hostile peers: each gets what it can use, and no other worker notices.

use std::time::Duration;

use crate::common::{
    ID, RawWorker, RecordingProvider, TIMEOUT, TestHub, assert_hub_works, call, echo, fast_options,
    function, handler, in_time, raw, trigger, trigger_type, value, wait_for_function,
};
use futures_util::SinkExt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use skills_iii::limits::MAX_RUNNING_HANDLERS;
use skills_iii::{CallError, QueueLimits};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;

fn call_frame(number: usize, function_id: &str, data: &Value) -> Frame {
    let id = format!("00000000-0000-4000-8000-{number:012}");
    let call = json!({ "type": "invokefunction", "invocation_id": id,
        "function_id": function_id, "data": data });
    Frame::text(call.to_string())
}

/// How often each outcome occurs in the results of this many calls.
async fn outcomes(raw_worker: &mut RawWorker, calls: usize) -> (usize, usize) {
    let (mut results, mut overloaded) = (0, 0);
    for _ in 0..calls {
        let answer = raw_worker.receive().await;
        assert_eq!(answer["type"], "invocationresult", "{answer}");
        match answer["error"]["code"].as_str() {
            None => results += 1,
            Some("worker_overloaded") => overloaded += 1,
            Some(other) => panic!("{other}"),
        }
    }
    (results, overloaded)
}

#[tokio::test]
async fn a_worker_of_this_process_survives_more_calls_than_its_inbox_holds() {
    let hub = TestHub::start().await;
    let mut options = fast_options("registry");
    options.queue.messages = 4;
    let registry = hub.hub.attach_with(options);
    registry.register_function(function("echo"), echo());
    let (recording, mut records) = RecordingProvider::new(false);
    registry.register_trigger_type(trigger_type("on-x"), recording);
    wait_for_function(&registry, "echo").await;

    let mut caller = RawWorker::named(hub.address, "caller").await;
    caller.flush().await;
    // In one write, so that the hub routes them all before the registry has a turn.
    for number in 0..100 {
        let frame = call_frame(number, "echo", &json!([number]));
        caller.0.feed(frame).await.unwrap();
    }
    let subscription = json!({ "type": "registertrigger", "id": "t", "trigger_type": "on-x",
        "function_id": "f", "config": 1 });
    caller
        .0
        .feed(Frame::text(subscription.to_string()))
        .await
        .unwrap();
    // The answer of the registry's own call arrives while its inbox is full.
    let own = registry.call("state::list_groups", raw(&json!({})), TIMEOUT);
    let flood = async {
        caller.0.flush().await.unwrap();
        outcomes(&mut caller, 100).await
    };
    let (own, (results, overloaded)) =
        in_time("the answers", async { tokio::join!(own, flood) }).await;
    assert_eq!(value(own.unwrap()), json!({ "groups": [] }));
    assert!(results > 0 && overloaded > 0, "{results} and {overloaded}");
    assert_eq!(
        in_time("the trigger", records.recv()).await.unwrap(),
        "+t f 1"
    );
    assert_eq!(call(&registry, "echo", json!([7])).await, Ok(json!([7])));
}

#[tokio::test]
async fn the_open_calls_of_a_caller_are_bounded() {
    let hub = TestHub::with(|options| {
        options.max_open_calls = 8;
        options.heartbeat.write_timeout = Duration::from_millis(400);
    })
    .await;
    let worker = hub.worker("callee").await;
    worker.register_function(function("never"), handler(|_| std::future::pending()));
    wait_for_function(&worker, "never").await;
    let mut caller = RawWorker::named(hub.address, "caller").await;
    for number in 0..20 {
        caller
            .0
            .feed(call_frame(number, "never", &json!({})))
            .await
            .unwrap();
    }
    caller.0.flush().await.unwrap();
    assert_eq!(outcomes(&mut caller, 12).await, (0, 12));
    // Open calls do not keep others from being answered.
    assert_hub_works(&hub).await;
}

#[tokio::test]
async fn a_caller_with_more_calls_than_may_be_open_gets_all_results_if_they_come() {
    let hub = TestHub::with(|options| options.max_open_calls = 8).await;
    let worker = hub.worker("callee").await;
    worker.register_function(function("echo"), echo());
    wait_for_function(&worker, "echo").await;
    let mut caller = RawWorker::named(hub.address, "caller").await;
    for number in 0..500 {
        caller
            .0
            .feed(call_frame(number, "echo", &json!({})))
            .await
            .unwrap();
    }
    caller.0.flush().await.unwrap();
    assert_eq!(outcomes(&mut caller, 500).await, (500, 0));
}

#[tokio::test]
async fn the_running_handlers_of_a_worker_are_bounded() {
    let hub = TestHub::start().await;
    let (worker, caller) = (hub.hub.attach("callee"), hub.hub.attach("caller"));
    let (done, _) = tokio::sync::watch::channel(false);
    let ended = done.clone();
    let wait = handler(move |_| {
        let mut ended = ended.subscribe();
        async move {
            let _ = ended.wait_for(|ended| *ended).await;
            Ok(None)
        }
    });
    worker.register_function(function("wait"), wait);
    wait_for_function(&worker, "wait").await;
    let mut calls = Vec::new();
    for _ in 0..MAX_RUNNING_HANDLERS + 3 {
        let caller = caller.clone();
        calls.push(tokio::spawn(async move {
            caller.call("wait", raw(&json!({})), TIMEOUT).await
        }));
    }
    let mut refused = 0;
    let (first, _, rest) = futures_util::future::select_all(calls).await;
    let mut check = |outcome: Result<_, CallError>| match outcome {
        Err(CallError::Remote(error)) if error.code == "worker_overloaded" => refused += 1,
        outcome => assert_eq!(outcome.unwrap(), None::<()>),
    };
    check(first.unwrap().map(|answer| answer.map(drop)));
    done.send_replace(true);
    for outcome in in_time("the calls", join_all(rest)).await {
        check(outcome.unwrap().map(|answer| answer.map(drop)));
    }
    assert!((1..=3).contains(&refused), "{refused}");
}

/// Sends pings without reading until the hub drops the connection; returns how many bytes.
async fn flood_with_pings(hub: &TestHub, path: &str) -> usize {
    let stream = TcpStream::connect(hub.address).await.unwrap();
    let url = format!("ws://{}{path}", hub.address);
    let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let mut stream = socket.into_inner();
    // A ping of 125 bytes with a mask of zeros.
    let mut ping = vec![0x89, 0xFD, 0, 0, 0, 0];
    ping.resize(131, b'x');
    let pings = ping.repeat(1000);
    let mut sent = 0;
    while stream.write_all(&pings).await.is_ok() {
        sent += pings.len();
    }
    sent
}

#[tokio::test]
async fn pings_whose_pongs_are_not_read_are_no_longer_read() {
    let hub = TestHub::with(|options| {
        options.heartbeat.write_timeout = Duration::from_millis(500);
    })
    .await;
    for path in ["/", "/otel"] {
        let sent = in_time(path, flood_with_pings(&hub, path)).await;
        // What fits the buffers of the system.
        assert!(sent < 64 << 20, "{sent} bytes at {path}");
    }
    assert_hub_works(&hub).await;
}

#[tokio::test]
async fn telemetry_that_falls_silent_is_dropped() {
    let hub = TestHub::with(|options| {
        options.heartbeat.ping_after = Duration::from_millis(20);
        options.heartbeat.silence_timeout = Duration::from_millis(200);
    })
    .await;
    let stream = TcpStream::connect(hub.address).await.unwrap();
    let url = format!("ws://{}/otel", hub.address);
    let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    // Not polled as a WebSocket, so it sends no pong.
    let mut stream = socket.into_inner();
    let mut received = Vec::new();
    let end = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut received);
    let _ = in_time("the end", end).await;
}

#[tokio::test]
async fn a_caller_that_reads_slowly_gets_every_reply() {
    let hub = TestHub::with(|options| {
        options.queue = QueueLimits {
            messages: 100_000,
            bytes: 6 << 20,
        };
    })
    .await;
    let mut slow = RawWorker::named(hub.address, "slow").await;
    let big = json!({ "scope": "s", "key": "k", "value": "x".repeat(1 << 20) });
    slow.call(ID, "state::set", &big).await;
    slow.receive().await;
    // More than its queue and the buffers of the system hold.
    for number in 0..40 {
        let ask = call_frame(number, "state::get", &json!({ "scope": "s", "key": "k" }));
        slow.0.feed(ask).await.unwrap();
    }
    slow.0.flush().await.unwrap();
    // Everything that does not wait for it is done.
    assert_hub_works(&hub).await;
    for _ in 0..40 {
        let answer = slow.receive().await;
        assert_eq!(answer["result"].as_str().unwrap().len(), 1 << 20);
    }
}

#[tokio::test]
async fn a_result_that_does_not_fit_becomes_an_error_and_the_caller_stays() {
    let hub = TestHub::with(|options| options.queue.bytes = 6 << 20).await;
    let worker = hub.worker("callee").await;
    let (go, _) = tokio::sync::watch::channel(false);
    let wait = go.clone();
    let large = handler(move |_| {
        let mut wait = wait.subscribe();
        async move {
            let _ = wait.wait_for(|go| *go).await;
            Ok(Some(json!("x".repeat(1 << 20))))
        }
    });
    worker.register_function(function("large"), large);
    wait_for_function(&worker, "large").await;
    let mut slow = RawWorker::named(hub.address, "slow").await;
    for number in 0..24 {
        slow.0
            .feed(call_frame(number, "large", &json!({})))
            .await
            .unwrap();
    }
    slow.0.flush().await.unwrap();
    let open = async {
        while call(
            &worker,
            "engine::workers::info",
            json!({ "name": "callee" }),
        )
        .await
        .unwrap()["worker"]["active_invocations"]
            != 24
        {}
    };
    in_time("the calls", open).await;
    // All results come at once, and it reads none of them until the last has come.
    go.send_replace(true);
    let done = async {
        while call(
            &worker,
            "engine::workers::info",
            json!({ "name": "callee" }),
        )
        .await
        .unwrap()["worker"]["active_invocations"]
            != 0
        {}
    };
    in_time("the results", done).await;
    let (mut results, mut dropped) = (0, 0);
    for _ in 0..24 {
        let answer = slow.receive().await;
        match answer["error"]["code"].as_str() {
            None => results += 1,
            Some("caller_overloaded") => dropped += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert!(results > 5 && dropped > 5, "{results} and {dropped}");
}

#[tokio::test]
async fn deaf_readers_share_a_budget_and_others_are_served() {
    let hub = TestHub::with(|options| options.max_queued_bytes = 4 << 20).await;
    let mut deaf = Vec::new();
    for number in 0..4 {
        let id = format!("deaf-{number}");
        let mut worker = RawWorker::named(hub.address, &id).await;
        worker.register(&id).await;
        worker.flush().await;
        deaf.push(worker);
    }
    // Until a call is refused: four queues of 64 MiB would hold far more.
    let mut flood = RawWorker::named(hub.address, "flood").await;
    let payload = json!(["x".repeat(1 << 20)]);
    let mut sent = 0;
    let refused = loop {
        let call = call_frame(sent, &format!("deaf-{}", sent % 4), &payload);
        flood.0.send(call).await.unwrap();
        sent += 1;
        assert!(sent < 200, "no call was refused");
        flood.send_json(&json!({ "type": "ping" })).await;
        let answer = flood.receive().await;
        if answer["type"] != "pong" {
            break answer;
        }
    };
    assert_eq!(refused["error"]["code"], "worker_overloaded");
    let caller = hub.worker("caller").await;
    let worker = hub.worker("callee").await;
    worker.register_function(function("echo"), echo());
    wait_for_function(&caller, "echo").await;
    let small = json!(["x".repeat(100_000)]);
    assert_eq!(call(&caller, "echo", small.clone()).await, Ok(small));
}

#[tokio::test]
async fn many_triggers_share_one_event() {
    const TRIGGERS: usize = 200;
    let hub = TestHub::with(|options| options.queue.bytes = 2 << 20).await;
    let mut subscriber = RawWorker::named(hub.address, "subscriber").await;
    subscriber.register("receive").await;
    for number in 0..TRIGGERS {
        subscriber
            .send_json(
                &json!({ "type": "registertrigger", "id": format!("t{number}"),
                "trigger_type": "state", "function_id": "receive", "config": { "scope": "s" } }),
            )
            .await;
    }
    subscriber.flush().await;
    let writer = hub.worker("writer").await;
    let row = json!({ "scope": "s", "key": "k", "value": "x".repeat(256 << 10) });
    call(&writer, "state::set", row).await.unwrap();
    for _ in 0..TRIGGERS {
        let event = subscriber.receive().await;
        assert_eq!(event["function_id"], "receive");
        assert_eq!(
            event["data"]["new_value"].as_str().unwrap().len(),
            256 << 10
        );
    }
}

#[tokio::test]
async fn conditions_that_never_answer_do_not_delay_other_events() {
    const TRIGGERS: usize = 110;
    let hub = TestHub::start().await;
    let mut silent = RawWorker::named(hub.address, "silent").await;
    silent.register("never").await;
    silent.register("receive").await;
    for number in 0..TRIGGERS {
        let config = json!({ "scope": "s", "condition_function_id": "never" });
        silent
            .send_json(
                &json!({ "type": "registertrigger", "id": format!("t{number}"),
                "trigger_type": "state", "function_id": "receive", "config": config }),
            )
            .await;
    }
    silent.flush().await;
    let worker = hub.worker("worker").await;
    let (record, mut calls) = crate::common::recorder();
    worker.register_function(function("record"), record);
    worker.register_trigger(trigger("u", "state", "record", &json!({ "scope": "s" })));
    wait_for_function(&worker, "record").await;
    for number in 0..10 {
        let row = json!({ "scope": "s", "key": "k", "value": number });
        call(&worker, "state::set", row).await.unwrap();
        let event = in_time("the event", calls.recv()).await.unwrap();
        assert_eq!(event["new_value"], number);
    }
    let info = call(
        &worker,
        "engine::workers::info",
        json!({ "name": "silent" }),
    )
    .await;
    assert_eq!(info.unwrap()["worker"]["active_invocations"], 64);
}
