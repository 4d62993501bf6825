//! What one HTTP client, and all together, may use: bodies, `initialize`, streams, responses.

use std::sync::atomic::Ordering;

use serde_json::json;
use skills_mcp::http::HttpOptions;
use skills_mcp::limits::{
    MAX_HTTP_BODIES_BYTES, MAX_HTTP_RESPONSES_BYTES, MAX_INITIALIZE_BYTES, MAX_SESSION_STREAMS,
};
use skills_test_support::TIMEOUT;
use skills_test_support::http_server::HttpServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::fake_handler::FakeHandler;
use crate::http::{serve, session};

fn initialize(name: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": name, "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

/// The status line of a response.
async fn status(stream: &mut TcpStream) -> String {
    let mut line = Vec::new();
    let read = async {
        while !line.ends_with(b"\r\n") {
            line.push(stream.read_u8().await.unwrap());
        }
    };
    timeout(TIMEOUT, read).await.unwrap();
    String::from_utf8(line).unwrap()
}

#[tokio::test]
async fn initialize_is_small() {
    let server = serve().await;
    let refused = server
        .post(&[], &initialize(&"x".repeat(MAX_INITIALIZE_BYTES)))
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.message()["error"]["code"], -32600);
    assert_eq!(refused.message()["id"], 1);
    assert_eq!(refused.header("mcp-session-id"), None);
    let accepted = server.post(&[], &initialize(&"x".repeat(60_000))).await;
    assert_eq!(accepted.status, 200);
    server.stop().await;
}

/// Bodies that arrive slowly, or never: together they stay within a budget, and small requests are
/// served meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_bodies_have_one_budget() {
    let server = serve().await;
    let size = HttpOptions::default().max_body_bytes;
    let length = size.to_string();
    let part = vec![b' '; size - 1];
    // More than the budget, so one of them is refused.
    let mut slow = JoinSet::new();
    for _ in 0..=MAX_HTTP_BODIES_BYTES / part.len() {
        let mut stream = server
            .open("POST", &[("Content-Length", &length)], "")
            .await;
        let part = part.clone();
        slow.spawn(async move {
            // The server may close the connection of a body that it refuses.
            let _ = stream.write_all(&part).await;
            status(&mut stream).await
        });
    }
    let line = timeout(TIMEOUT, slow.join_next()).await.unwrap().unwrap();
    let line = line.unwrap();
    assert!(line.starts_with("HTTP/1.1 503"), "{line}");
    let small = server.post(&[], &initialize("small")).await;
    assert_eq!(small.status, 200, "{}", small.body);
    slow.shutdown().await;
    // Their part of the budget is free again.
    let large = " ".repeat(size - 1000) + r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    timeout(TIMEOUT, async {
        while server.post(&[], &large).await.status == 503 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    server.stop().await;
}

#[tokio::test]
async fn streams_are_limited_for_a_session_and_for_all() {
    let options = HttpOptions {
        max_streams: MAX_SESSION_STREAMS + 1,
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let (one, other) = (session(&server).await, session(&server).await);
    let mut streams = Vec::new();
    for (session, expected) in std::iter::repeat_n((&one, "200"), MAX_SESSION_STREAMS).chain([
        (&one, "503"),
        (&other, "200"),
        (&other, "503"),
    ]) {
        let headers = [("Mcp-Session-Id", session.as_str())];
        let mut stream = server.open("GET", &headers, "").await;
        let line = status(&mut stream).await;
        assert!(line.contains(expected), "expected {expected}: {line}");
        streams.push(stream);
    }
    let request = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let pong = server.post(&[("Mcp-Session-Id", &one)], request).await;
    assert_eq!(pong.status, 200, "requests are not streams");
    server.stop().await;
}

/// Clients that ask for large responses and do not read them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_responses_have_one_budget() {
    const LARGE: usize = 16 << 20;
    let handler = FakeHandler::default();
    let server = HttpServer::start(handler.clone(), HttpOptions::default()).await;
    let session = session(&server).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    handler.state.size.store(LARGE, Ordering::SeqCst);
    let mut unread = Vec::new();
    let mut closed = false;
    for id in 0..=MAX_HTTP_RESPONSES_BYTES / LARGE {
        let params = json!({ "uri": "value:" });
        let read =
            json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params });
        let mut stream = server.open("POST", &headers, &read.to_string()).await;
        let line = status(&mut stream).await;
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        // Wait for a part of the response, or for the end of the connection.
        let mut part = vec![0; 100_000];
        closed |= timeout(TIMEOUT, stream.read_exact(&mut part))
            .await
            .unwrap()
            .is_err();
        unread.push(stream);
    }
    assert!(closed, "the last response does not fit the budget");
    handler.state.size.store(0, Ordering::SeqCst);
    let small = json!({ "jsonrpc": "2.0", "id": 99, "method": "ping" }).to_string();
    assert_eq!(server.post(&headers, &small).await.status, 200);
    drop(unread);
    server.stop().await;
}

/// The SDK answers these with 415 and a text.
#[tokio::test]
async fn bad_parameters_are_an_error_of_the_protocol() {
    let server = serve().await;
    let session = session(&server).await;
    let ours = [("Mcp-Session-Id", session.as_str())];
    for (body, code) in [
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":5}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"no/such","params":[1]}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#, -32601),
    ] {
        let response = server.post(&ours, body).await;
        assert!(
            matches!(response.status, 200 | 400 | 404),
            "{body}: {}",
            response.status
        );
        let message = response.message();
        assert_eq!(message["error"]["code"], code, "for {body}: {message}");
        assert_eq!(message["id"], 5, "for {body}: {message}");
    }
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":5}"#,
    ] {
        let response = server.post(&ours, body).await;
        assert!(
            matches!(response.status, 202 | 400),
            "{body}: {}",
            response.status
        );
    }
    for params in ["", r#","params":{}"#, r#","params":[]"#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"initialize"{params}}}"#);
        let response = server.post(&[], &body).await;
        assert_eq!(response.status, 400, "{body}: {}", response.body);
        assert_eq!(response.message()["error"]["code"], -32602, "for {body}");
    }
    server.stop().await;
}
