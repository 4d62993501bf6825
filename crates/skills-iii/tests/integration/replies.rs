//! What a worker answers on an engine that loses early replies, and how it receives events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_iii::Client;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

use crate::common::{
    ID, RawWorker, TestHub, echo, fast_options, function, handler, in_time, raw, wait_for_function,
};

/// A worker, and the engine at the other end of its connection.
async fn worker_and_engine(repeat_reply: Duration) -> (Client, RawWorker) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = fast_options("worker");
    options.repeat_reply = Some(repeat_reply);
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let worker = Client::connect(&url, options).unwrap();
    let (stream, _) = in_time("the worker", listener.accept()).await.unwrap();
    let mut engine = RawWorker(tokio_tungstenite::accept_async(stream).await.unwrap());
    engine
        .send_json(&json!({ "type": "workerregistered", "worker_id": "w" }))
        .await;
    (worker, engine)
}

/// The next reply of the worker.
async fn reply(engine: &mut RawWorker) -> Value {
    loop {
        let message = engine.receive().await;
        if message["type"] == "invocationresult" {
            return message;
        }
    }
}

#[tokio::test]
async fn an_early_reply_is_sent_again() {
    // A later reply is not sent again, so this leaves time for a busy machine.
    let (worker, mut engine) = worker_and_engine(Duration::from_secs(2)).await;
    worker.register_function(function("echo"), echo());
    engine.call(ID, "echo", &json!([1])).await;
    let answers = [reply(&mut engine).await, reply(&mut engine).await];
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["result"], json!([1]));
}

#[tokio::test]
async fn an_event_is_answered_once_and_not_before_the_reply_is_safe() {
    let safe_after = Duration::from_millis(300);
    let (worker, mut engine) = worker_and_engine(safe_after).await;
    worker.register_listener(function("hear"), handler(|_| async { Ok(None) }));
    worker.register_function(function("echo"), echo());
    let sent = Instant::now();
    engine.call(ID, "hear", &json!({ "event": 1 })).await;
    let answer = reply(&mut engine).await;
    assert_eq!(answer["invocation_id"], ID);
    if cfg!(target_os = "linux") {
        assert!(sent.elapsed() >= safe_after, "{:?}", sent.elapsed());
        // The replies of a later call come next, so the event has no second one.
        let other = ID.replace('0', "1");
        engine.call(&other, "echo", &json!([1])).await;
        for _ in 0..2 {
            assert_eq!(reply(&mut engine).await["invocation_id"], *other);
        }
    }
}

#[tokio::test]
async fn late_replies_are_sent_before_the_connection_closes() {
    let (worker, mut engine) = worker_and_engine(Duration::from_hours(1)).await;
    worker.register_listener(function("hear"), handler(|_| async { Ok(None) }));
    worker.register_function(function("echo"), echo());
    engine.call(ID, "hear", &json!({})).await;
    // Messages are handled in order.
    let other = ID.replace('0', "1");
    engine.call(&other, "echo", &json!([1])).await;
    while reply(&mut engine).await["invocation_id"] != *other {}
    let (mut answered, shut_down) = (Vec::new(), worker.shutdown(Duration::from_secs(5)));
    let read = async {
        while answered.len() < 2 {
            answered.push(reply(&mut engine).await["invocation_id"].clone());
        }
    };
    tokio::join!(shut_down, read);
    if cfg!(target_os = "linux") {
        assert_eq!(answered, [json!(ID), json!(other)]);
    }
}

#[tokio::test]
async fn an_event_whose_handler_waits_does_not_hold_up_the_next() {
    let hub = TestHub::start().await;
    for worker in [hub.hub.attach("attached"), hub.worker("remote").await] {
        let gate = Arc::new(Notify::new());
        let (done, mut heard) = mpsc::unbounded_channel();
        let hear = handler(move |event| {
            let (gate, done) = (Arc::clone(&gate), done.clone());
            async move {
                let waits = event["waits"] == true;
                if waits {
                    gate.notified().await;
                } else {
                    gate.notify_one();
                }
                done.send(waits).unwrap();
                Ok(None)
            }
        });
        let id = format!("{}::hear", worker.name());
        worker.register_listener(function(&id), hear);
        wait_for_function(&worker, &id).await;
        for waits in [true, false] {
            worker.send(&id, raw(&json!({ "waits": waits })));
        }
        for expected in [false, true] {
            let waited = in_time("an event", heard.recv()).await;
            assert_eq!(waited, Some(expected));
        }
    }
}
