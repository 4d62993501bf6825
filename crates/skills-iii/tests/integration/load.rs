//! Too much of everything: none of it ends the hub, stalls others or grows without bound.

use std::time::Duration;

use crate::common::{
    Bare, ID, LONG, Served, echo, function, handler, offered, raw, soon, still_works, value,
};
use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use skills_iii::{CallError, QueueLimits};
use tokio_tungstenite::tungstenite::Message as Frame;

#[tokio::test]
async fn ten_thousand_calls_down_one_socket_are_all_answered() {
    let served = Served::start().await;
    let worker = served.worker("callee").await;
    worker.register_function(function("echo"), echo());
    offered(&worker, "echo").await;
    let caller = Bare::named(served.address, "caller").await;
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
    soon("the answers", async { tokio::join!(writer, reader) }).await;
}

#[tokio::test]
async fn a_frame_of_fifty_megabytes_is_taken_and_one_past_the_limit_ends_only_its_sender() {
    let mut options = crate::common::options();
    options.max_message_bytes = 64 << 20;
    let served = Served::with(options).await;
    let mut bare = Bare::named(served.address, "bare").await;
    let big = "x".repeat(50_000_000);
    bare.call(
        ID,
        "state::set",
        &json!({ "scope": "s", "key": "k", "value": big }),
    )
    .await;
    let answer = bare.hear().await;
    assert_eq!(
        answer["result"]["new_value"].as_str().unwrap().len(),
        50_000_000
    );
    let too_big = "x".repeat(65 << 20);
    let _cut_off = bare.0.send(Frame::text(too_big)).await;
    bare.ended().await;
    still_works(&served).await;
}

#[tokio::test]
async fn a_worker_that_never_reads_is_dropped_and_holds_nobody_up() {
    let mut options = crate::common::options();
    options.queue = QueueLimits {
        messages: 1000,
        bytes: 1 << 20,
    };
    options.heartbeat.write_timeout = Duration::from_secs(2);
    let served = Served::with(options).await;
    let (caller, other) = (served.worker("caller").await, served.worker("other").await);
    other.register_function(function("echo"), echo());
    let mut deaf = Bare::named(served.address, "deaf").await;
    deaf.offer("deaf").await;
    deaf.settled().await;
    offered(&other, "echo").await;
    // From here on it never reads. This is more than the system and its queue hold together, said
    // at once: however slow the machine, the queue is full before the connection counts as stalled.
    let payload = json!(["x".repeat(100_000)]);
    let calls = (0..300).map(|_| caller.call("deaf", raw(&payload), LONG));
    let others = async {
        for _ in 0..20 {
            let answer = other.call("echo", raw(&json!([1])), LONG).await.unwrap();
            assert_eq!(value(answer), json!([1]), "others are served meanwhile");
        }
    };
    let flood = async { tokio::join!(join_all(calls), others) };
    let (outcomes, ()) = soon("it to be dropped", flood).await;
    let mut overloaded = false;
    for outcome in outcomes {
        match outcome.unwrap_err() {
            CallError::Remote(error) if error.code == "worker_overloaded" => overloaded = true,
            CallError::Remote(error) if error.code == "invocation_stopped" => {}
            CallError::NotFound(_) => {}
            other => panic!("{other}"),
        }
    }
    assert!(overloaded, "its queue was full before it was dropped");
    let gone = caller
        .call("deaf", raw(&json!([])), LONG)
        .await
        .unwrap_err();
    assert_eq!(gone, CallError::NotFound("deaf".to_owned()));
}

#[tokio::test]
async fn a_caller_that_never_reads_its_answers_is_dropped() {
    let mut options = crate::common::options();
    options.queue = QueueLimits {
        messages: 100_000,
        bytes: 8 << 20,
    };
    let served = Served::with(options).await;
    let mut deaf = Bare::named(served.address, "deaf").await;
    let big = json!({ "scope": "s", "key": "k", "value": "x".repeat(1 << 20) });
    deaf.call(ID, "state::set", &big).await;
    let asking = async {
        let ask = json!({ "type": "invokefunction", "invocation_id": ID,
            "function_id": "state::get", "data": { "scope": "s", "key": "k" } });
        while deaf.0.send(Frame::text(ask.to_string())).await.is_ok() {}
    };
    soon("the hub to drop it", asking).await;
    still_works(&served).await;
}

#[tokio::test]
async fn calls_of_a_caller_that_left_are_forgotten() {
    let served = Served::start().await;
    let watcher = served.worker("watcher").await;
    let worker = served.worker("callee").await;
    worker.register_function(function("never"), handler(|_| std::future::pending()));
    offered(&watcher, "never").await;
    let mut caller = Bare::named(served.address, "caller").await;
    caller.call(ID, "never", &json!({})).await;
    let open = async || {
        let ask = json!({ "name": "callee" });
        let info = watcher
            .call("engine::workers::info", raw(&ask), LONG)
            .await
            .unwrap();
        value(info)["worker"]["active_invocations"]
            .as_u64()
            .unwrap()
    };
    soon("the call", async { while open().await != 1 {} }).await;
    drop(caller);
    soon("it to be forgotten", async { while open().await != 0 {} }).await;
}
