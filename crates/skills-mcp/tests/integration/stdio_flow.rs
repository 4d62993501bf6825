//! Order, cancellation, back-pressure and the end of a session over stdio.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_mcp::stdio::Limits;
use skills_test_support::TIMEOUT;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::fake_handler::FakeHandler;
use crate::stdio_client::{StdioClient, limits};

fn call(id: u32, tool: &str, argument: u32) -> String {
    let params = json!({ "name": tool, "arguments": { "a": argument } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn read(id: u32) -> String {
    let params = json!({ "uri": "value:" });
    json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params }).to_string()
}

fn ping(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string()
}

fn cancel(id: u32) -> String {
    let params = json!({ "requestId": id });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string()
}

/// The response to this id.
async fn response(client: &mut StdioClient, id: u32) -> Value {
    loop {
        let message = client.next().await;
        if message["id"] == id {
            return message;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_sees_the_writes_before_it() {
    let mut client = StdioClient::new(&FakeHandler::default(), limits());
    for round in 0..200 {
        let id = round * 3;
        client.send(call(id, "write", round)).await;
        client.send(read(id + 1)).await;
        client.send(call(id + 2, "read", 0)).await;
        let mut seen = 0;
        while seen < 3 {
            let message = client.next().await.to_string();
            seen += 1;
            let current = message.contains(&format!("Number({round})"));
            assert!(
                current || message.contains("written"),
                "round {round}: {message}"
            );
        }
    }
    client.close().await;
}

#[tokio::test]
async fn pings_and_other_calls_do_not_wait_for_a_slow_one() {
    let handler = FakeHandler::default();
    let mut client = StdioClient::new(&handler, limits());
    client.send(call(1, "wait", 0)).await;
    client.send(read(2)).await;
    client.send(ping(3)).await;
    client.send(call(4, "write", 0)).await;
    let mut passed = [
        client.next().await["id"].clone(),
        client.next().await["id"].clone(),
    ];
    passed.sort_by_key(Value::to_string);
    assert_eq!(passed, [json!(3), json!(4)]);
    assert_eq!(
        handler.state.reads.load(Ordering::SeqCst),
        0,
        "the read waits"
    );
    handler.state.go.notify_one();
    let rest = client.close().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
}

#[tokio::test]
async fn a_read_waits_for_writes_only_up_to_a_limit() {
    let impatient = Limits {
        order: Duration::from_millis(20),
        ..limits()
    };
    let mut client = StdioClient::new(&FakeHandler::default(), impatient);
    client.send(call(1, "hang", 0)).await;
    client.send(read(2)).await;
    assert_eq!(client.next().await["id"], 2);
}

#[tokio::test]
async fn a_cancelled_request_has_no_response() {
    let handler = FakeHandler::default();
    let mut client = StdioClient::new(&handler, limits());
    client.send(call(1, "wait", 0)).await;
    client.send(read(2)).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    client.send(cancel(2)).await;
    client.send(cancel(1)).await;
    timeout(TIMEOUT, handler.state.cancelled.notified())
        .await
        .unwrap();
    client.send(ping(3)).await;
    let rest = client.close().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(
        handler.state.reads.load(Ordering::SeqCst),
        0,
        "it was not started"
    );
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let handler = FakeHandler::default();
    let mut client = StdioClient::new(&handler, limits());
    client.send(call(1, "wait", 0)).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    client.send(ping(1)).await;
    let refused = client.next().await;
    assert_eq!(refused["id"], 1);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    handler.state.go.notify_one();
    let rest = client.close().await;
    assert!(rest.len() == 1 && rest[0].contains("done"), "{rest:?}");
}

/// A `subscriptions/listen` request of 2026-07-28.
fn listen(id: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "notifications": { "resourcesListChanged": true } });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#)
}

#[tokio::test]
async fn notifications_have_the_id_of_their_subscription_and_the_end_does_not_wait_for_it() {
    for id in ["7", r#""seven""#] {
        let mut client = StdioClient::new(&FakeHandler::default(), limits());
        client.send(listen(id)).await;
        for method in [
            "notifications/subscriptions/acknowledged",
            "notifications/resources/list_changed",
        ] {
            let line = client.line().await.unwrap();
            assert!(line.contains(method), "{line}");
            let subscription = format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#);
            assert!(line.contains(&subscription), "{line}");
        }
        client.close().await;
    }
}

#[tokio::test]
async fn subscriptions_have_a_limit() {
    let few = Limits {
        subscriptions: 3,
        ..limits()
    };
    let mut client = StdioClient::new(&FakeHandler::default(), few);
    for id in 0..4 {
        client.send(listen(&id.to_string())).await;
    }
    let refused = response(&mut client, 3).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_before_the_end_of_input_is_answered() {
    for _ in 0..20 {
        let mut client = StdioClient::new(&FakeHandler::default(), limits());
        for id in 0..200 {
            client
                .send(if id % 2 == 0 {
                    read(id)
                } else {
                    call(id, "write", id)
                })
                .await;
        }
        assert_eq!(client.close().await.len(), 200);
    }
}

#[tokio::test]
async fn slow_calls_are_cancelled_after_the_end_of_input() {
    let handler = FakeHandler::default();
    let impatient = Limits {
        drain: Duration::from_millis(20),
        ..limits()
    };
    let mut client = StdioClient::new(&handler, impatient);
    client.send(call(1, "wait", 0)).await;
    client.send(call(2, "hang", 0)).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    client.close().await;
    timeout(TIMEOUT, handler.state.cancelled.notified())
        .await
        .unwrap();
}

/// A process can be suspended on a busy machine.
#[tokio::test]
async fn a_stall_after_the_end_of_input_loses_no_response() {
    let handler = FakeHandler::default();
    let drain = Duration::from_millis(100);
    let mut client = StdioClient::new(&handler, Limits { drain, ..limits() });
    client.send(call(1, "wait", 0)).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    drop(client.take_input());
    let run_other_tasks = async || {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    // The server reads the end of the input.
    run_other_tasks().await;
    // Blocks the only thread.
    let stalled = Instant::now();
    while stalled.elapsed() < drain * 3 {
        std::hint::spin_loop();
    }
    // The server sees the deadline before the call is finished.
    run_other_tasks().await;
    handler.state.go.notify_one();
    assert!(client.next().await.to_string().contains("done"));
    client.wait().await;
}

#[tokio::test]
async fn a_stop_ends_it_after_the_pending_responses() {
    let handler = FakeHandler::default();
    let mut client = StdioClient::new(&handler, limits());
    client.send(call(1, "wait", 0)).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    client.stop.cancel();
    handler.state.go.notify_one();
    assert_eq!(client.next().await["id"], 1);
    assert_eq!(client.line().await, None);
    client.wait().await;
}

#[tokio::test]
async fn a_closed_output_ends_it_without_an_error() {
    let mut client = StdioClient::new(&FakeHandler::default(), limits());
    client.send(ping(1)).await;
    client.next().await;
    let (mut to, server) = client.stop_reading();
    // The response cannot be written.
    to.as_mut().unwrap().write_all(b"x\n").await.unwrap();
    timeout(TIMEOUT, server).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_not_read_from() {
    const REQUESTS: u32 = 1000;
    const SIZE: usize = 64 << 10;
    let handler = FakeHandler::default();
    handler.state.size.store(SIZE, Ordering::SeqCst);
    let limits = Limits {
        requests: 100,
        output_bytes: 1 << 20,
        ..limits()
    };
    let mut client = StdioClient::with_buffer(&handler, limits, 16 << 10);
    let mut input = client.take_input();
    let writing = tokio::spawn(async move {
        for id in 0..REQUESTS {
            let line = format!("{}\n", read(id));
            input.write_all(line.as_bytes()).await.unwrap();
        }
    });
    let most = limits.requests;
    timeout(TIMEOUT, handler.state.reading.notified())
        .await
        .unwrap();
    for _ in 0..50_000 {
        tokio::task::yield_now().await;
    }
    let begun = handler.state.reads.load(Ordering::SeqCst);
    assert!(begun <= most, "{begun} reads were begun, {most} at most");
    assert!(!writing.is_finished(), "the server must stop reading");
    for read in 0..REQUESTS as usize {
        client.line().await.unwrap();
        let begun = handler.state.reads.load(Ordering::SeqCst);
        assert!(begun <= read + 1 + most, "{begun} begun after {read}");
    }
    writing.await.unwrap();
    assert!(client.close().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_lines_have_back_pressure_too() {
    let mut client = StdioClient::with_buffer(&FakeHandler::default(), limits(), 4096);
    let mut input = client.take_input();
    let writing = tokio::spawn(async move {
        for _ in 0..20_000 {
            input.write_all(b"nonsense\n").await.unwrap();
        }
    });
    for _ in 0..50_000 {
        tokio::task::yield_now().await;
    }
    assert!(!writing.is_finished(), "the server must stop reading");
    for _ in 0..20_000 {
        assert_eq!(client.next().await["error"]["code"], -32700);
    }
    writing.await.unwrap();
    assert!(client.close().await.is_empty());
}
