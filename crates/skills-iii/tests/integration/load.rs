//! Load: the hub keeps running, delays no other worker, and its memory stays bounded.

use std::time::Duration;

use crate::common::{
    ID, RawWorker, TIMEOUT, TestHub, assert_hub_works, echo, function, handler, in_time, raw,
    value, wait_for_function,
};
use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use skills_iii::{CallError, QueueLimits};
use tokio_tungstenite::tungstenite::Message as Frame;

#[tokio::test]
async fn ten_thousand_calls_over_one_socket_all_get_a_reply() {
    let hub = TestHub::start().await;
    let worker = hub.worker("callee").await;
    worker.register_function(function("echo"), echo());
    wait_for_function(&worker, "echo").await;
    let caller = RawWorker::named(hub.address, "caller").await;
    let (mut write, mut read) = caller.0.split();
    let writer = async {
        for number in 0..10_000 {
            let call = json!({ "type": "invokefunction", "function_id": "echo", "data": [number],
                "invocation_id": format!("00000000-0000-4000-8000-{number:012}") });
            write.feed(Frame::text(call.to_string())).await.unwrap();
        }
        write.flush().await.unwrap();
    };
    let reader = async {
        let mut answered = vec![false; 10_000];
        for _ in 0..10_000 {
            let frame = read.next().await.unwrap().unwrap();
            let answer: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap();
            let number = usize::try_from(answer["result"][0].as_u64().unwrap()).unwrap();
            assert!(
                !std::mem::replace(&mut answered[number], true),
                "{number} came twice"
            );
        }
    };
    in_time("the answers", async { tokio::join!(writer, reader) }).await;
}

#[tokio::test]
async fn a_worker_that_never_reads_is_dropped_and_delays_no_other() {
    let hub = TestHub::with(|options| {
        options.queue = QueueLimits {
            messages: 1000,
            bytes: 1 << 20,
        };
        options.heartbeat.write_timeout = Duration::from_secs(2);
    })
    .await;
    let (caller, other) = (hub.worker("caller").await, hub.worker("other").await);
    other.register_function(function("echo"), echo());
    let mut deaf = RawWorker::named(hub.address, "deaf").await;
    deaf.register("deaf").await;
    deaf.flush().await;
    wait_for_function(&other, "echo").await;
    // From here on it never reads. The calls exceed the socket buffers and its queue together and
    // are sent at once, so that the queue is full before the write timeout, also on a slow machine.
    let payload = json!(["x".repeat(100_000)]);
    let calls = (0..300).map(|_| caller.call("deaf", raw(&payload), TIMEOUT));
    let others = async {
        for _ in 0..20 {
            let answer = other.call("echo", raw(&json!([1])), TIMEOUT).await.unwrap();
            assert_eq!(value(answer), json!([1]), "other workers are hub meanwhile");
        }
    };
    let flood = async { tokio::join!(join_all(calls), others) };
    let (outcomes, ()) = in_time("it to be dropped", flood).await;
    let mut overloaded = false;
    for outcome in outcomes {
        match outcome.unwrap_err() {
            CallError::Remote(error) if error.code == "worker_overloaded" => overloaded = true,
            CallError::Remote(error) if error.code == "invocation_stopped" => {}
            CallError::NotFound(_) => {}
            other => panic!("{other}"),
        }
    }
    assert!(overloaded, "no call was refused because of a full queue");
    let gone = caller
        .call("deaf", raw(&json!([])), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(gone, CallError::NotFound("deaf".to_owned()));
}

#[tokio::test]
async fn a_caller_that_never_reads_its_replies_is_dropped() {
    let hub = TestHub::with(|options| {
        options.queue = QueueLimits {
            messages: 100_000,
            bytes: 8 << 20,
        };
        options.heartbeat.write_timeout = Duration::from_millis(500);
    })
    .await;
    let mut deaf = RawWorker::named(hub.address, "deaf").await;
    let big = json!({ "scope": "s", "key": "k", "value": "x".repeat(1 << 20) });
    deaf.call(ID, "state::set", &big).await;
    let asking = async {
        let ask = json!({ "type": "invokefunction", "invocation_id": ID,
            "function_id": "state::get", "data": { "scope": "s", "key": "k" } });
        while deaf.0.send(Frame::text(ask.to_string())).await.is_ok() {}
    };
    in_time("the hub to drop it", asking).await;
    assert_hub_works(&hub).await;
}

#[tokio::test]
async fn the_pending_calls_of_a_disconnected_caller_are_removed() {
    let hub = TestHub::start().await;
    let watcher = hub.worker("watcher").await;
    let worker = hub.worker("callee").await;
    worker.register_function(function("never"), handler(|_| std::future::pending()));
    wait_for_function(&watcher, "never").await;
    let mut caller = RawWorker::named(hub.address, "caller").await;
    caller.call(ID, "never", &json!({})).await;
    let open = async || {
        let ask = json!({ "name": "callee" });
        let info = watcher
            .call("engine::workers::info", raw(&ask), TIMEOUT)
            .await
            .unwrap();
        value(info)["worker"]["active_invocations"]
            .as_u64()
            .unwrap()
    };
    in_time("the call", async { while open().await != 1 {} }).await;
    drop(caller);
    in_time("it to be forgotten", async { while open().await != 0 {} }).await;
}
