//! MCP over HTTP: access, invalid messages, limits, sessions and shutdown.

use std::time::Duration;

use serde_json::{Value, json};
use skills_access::AccessPolicy;
use skills_mcp::http::HttpOptions;
use skills_test_support::TIMEOUT;
use skills_test_support::http_server::HttpServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::fake_handler::FakeHandler;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

pub async fn serve() -> HttpServer {
    HttpServer::start(FakeHandler::default(), HttpOptions::default()).await
}

/// Opens a session and returns its id.
pub async fn session(server: &HttpServer) -> String {
    let response = server.post(&[], INITIALIZE).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let ready = server
        .post(&[("Mcp-Session-Id", &session)], INITIALIZED)
        .await;
    assert_eq!(ready.status, 202);
    session
}

/// A request of protocol version 2026-07-28, with its headers.
fn stateless(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    for name in ["name", "uri"] {
        if let Some(name) = params[name].as_str() {
            headers.push(("Mcp-Name", name.to_owned()));
        }
    }
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    (headers, body.to_string())
}

fn borrow<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let headers = headers.iter();
    headers
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

#[tokio::test]
async fn a_request_in_a_session_and_one_without() {
    let server = serve().await;
    let session = session(&server).await;
    let pong = server.post(&[("Mcp-Session-Id", &session)], PING).await;
    assert_eq!(pong.message()["result"], json!({}));
    let (headers, body) = stateless("resources/read", json!({ "uri": "value:" }));
    let read = server.post(&borrow(&headers), &body).await;
    assert_eq!(read.status, 200);
    assert_eq!(read.header("content-type"), Some("application/json"));
    assert_eq!(read.message()["result"]["resultType"], "complete");
    let gone = server
        .request("DELETE", &[("Mcp-Session-Id", &session)], "")
        .await;
    assert_eq!(gone.status, 204);
    let after = server.post(&[("Mcp-Session-Id", &session)], PING).await;
    assert_eq!(after.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn the_header_with_the_name_must_match_the_body() {
    let server = serve().await;
    let (plain, body) = stateless("resources/read", json!({ "uri": "value:" }));
    let mut headers = borrow(&plain);
    headers.retain(|(name, _)| *name != "Mcp-Name");
    for (name, status) in [
        ("value:", 200),
        ("=?base64?dmFsdWU6?=", 200),
        ("another:", 400),
    ] {
        let headers = [&headers[..], &[("Mcp-Name", name)]].concat();
        let response = server.post(&headers, &body).await;
        assert_eq!(response.status, status, "for {name}: {}", response.body);
        if status == 400 {
            assert_eq!(response.message()["error"]["code"], -32020);
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn invalid_messages_are_refused() {
    let server = serve().await;
    for (body, status, code, id) in [
        ("{", 400, -32700, json!(null)),
        ("", 400, -32700, json!(null)),
        ("hello", 400, -32700, json!(null)),
        ("\u{1}", 400, -32700, json!(null)),
        ("42", 400, -32600, json!(null)),
        ("[]", 400, -32600, json!(null)),
        ("{}", 400, -32600, json!(null)),
        (&format!("[{PING}]"), 400, -32600, json!(null)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            400,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#,
            400,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            400,
            -32600,
            json!(1.5),
        ),
        (
            r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#,
            400,
            -32600,
            json!(3),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":3}"#,
            400,
            -32600,
            json!(3),
        ),
    ] {
        let response = server.post(&[], body).await;
        assert_eq!(response.status, status, "for {body}: {}", response.body);
        let message = response.message();
        assert_eq!(message["error"]["code"], code, "for {body}: {message}");
        assert_eq!(message["id"], id, "for {body}: {message}");
    }
    server.stop().await;
}

#[tokio::test]
async fn access_is_limited_by_host_origin_and_token() {
    let options = HttpOptions {
        access: AccessPolicy {
            allowed_hosts: vec!["skills.example.com".to_owned()],
            allowed_origins: vec!["https://app.example.com".to_owned()],
            token: Some("secret".to_owned()),
        },
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let secret = ("Authorization", "Bearer secret");
    for (headers, status) in [
        (vec![], 401),
        (vec![("Authorization", "Bearer wrong")], 401),
        (vec![secret], 200),
        (vec![secret, ("Host", "evil.example")], 403),
        (vec![secret, ("Host", "skills.example.com")], 200),
        (vec![secret, ("Origin", "http://evil.example")], 403),
        (vec![secret, ("Origin", "null")], 403),
        (vec![secret, ("Origin", "http://localhost:3000")], 200),
        (vec![secret, ("Origin", "https://app.example.com")], 200),
    ] {
        let response = server.post(&headers, INITIALIZE).await;
        assert_eq!(response.status, status, "for {headers:?}");
        let challenge = response.header("www-authenticate");
        assert_eq!(challenge.is_some(), status == 401, "for {headers:?}");
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let options = HttpOptions {
        max_body_bytes: 1000,
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let long = " ".repeat(1001 - PING.len()) + PING;
    let response = server.post(&[], &long).await;
    assert_eq!(response.status, 413);
    assert_eq!(response.message()["error"]["code"], -32600);
    assert_eq!(server.post(&[], INITIALIZE).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn incomplete_and_slow_requests_time_out() {
    let options = HttpOptions {
        body_timeout: Duration::from_millis(50),
        request_timeout: Duration::from_millis(50),
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let half = server
        .request("POST", &[("Content-Length", "100")], "{")
        .await;
    assert_eq!(half.status, 408, "{}", half.body);
    let (headers, body) = stateless("tools/call", json!({ "name": "hang" }));
    let response = server.post(&borrow(&headers), &body).await;
    assert_eq!(response.status, 504);
    assert_eq!(response.message()["error"]["code"], -32603);
    let request: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(response.message()["id"], request["id"]);
    server.stop().await;
}

#[tokio::test]
async fn new_sessions_close_only_sessions_that_were_never_used() {
    let options = HttpOptions {
        max_sessions: 3,
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let used = [session(&server).await, session(&server).await];
    for _ in 0..20 {
        assert_eq!(server.post(&[], INITIALIZE).await.status, 200);
    }
    let third = session(&server).await;
    let refused = server.post(&[], INITIALIZE).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    for session in used.iter().chain([&third]) {
        let alive = server.post(&[("Mcp-Session-Id", session)], PING).await;
        assert_eq!(alive.status, 200);
    }
    server.stop().await;
}

#[tokio::test]
async fn sessions_with_a_stream_are_kept_and_a_new_one_is_refused() {
    let options = HttpOptions {
        max_sessions: 2,
        ..HttpOptions::default()
    };
    let server = HttpServer::start(FakeHandler::default(), options).await;
    let (mut sessions, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let session = session(&server).await;
        let mut stream = server
            .open("GET", &[("Mcp-Session-Id", &session)], "")
            .await;
        let mut first = [0; 12];
        timeout(TIMEOUT, stream.read_exact(&mut first))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        streams.push(stream);
        sessions.push(session);
    }
    let refused = server.post(&[], INITIALIZE).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    assert!(
        refused.message()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("2 sessions")
    );
    let gone = [("Mcp-Session-Id", sessions[1].as_str())];
    assert_eq!(server.request("DELETE", &gone, "").await.status, 204);
    assert_eq!(server.post(&[], INITIALIZE).await.status, 200);
    server.stop().await;
    let mut rest = Vec::new();
    timeout(TIMEOUT, streams[0].read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_shutdown_finishes_requests_and_ends_streams() {
    let handler = FakeHandler::default();
    let server = HttpServer::start(handler.clone(), HttpOptions::default()).await;
    let session = session(&server).await;
    let mut events = server
        .open("GET", &[("Mcp-Session-Id", &session)], "")
        .await;
    let (headers, body) = stateless("subscriptions/listen", json!({ "notifications": {} }));
    let mut listening = server.open("POST", &borrow(&headers), &body).await;
    let (headers, body) = stateless("tools/call", json!({ "name": "wait" }));
    let mut headers = borrow(&headers);
    headers.push(("Connection", "close"));
    let mut waiting = server.open("POST", &headers, &body).await;
    timeout(TIMEOUT, handler.state.waiting.notified())
        .await
        .unwrap();
    server.shutdown.cancel();
    handler.state.go.notify_one();
    let mut response = String::new();
    timeout(TIMEOUT, waiting.read_to_string(&mut response))
        .await
        .unwrap()
        .unwrap();
    assert!(response.contains("done"), "{response}");
    for stream in [&mut events, &mut listening] {
        let mut rest = Vec::new();
        timeout(TIMEOUT, stream.read_to_end(&mut rest))
            .await
            .unwrap()
            .unwrap();
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_disconnected_clients_are_released() {
    let options = HttpOptions {
        max_sessions: 100,
        ..HttpOptions::default()
    };
    let server = std::sync::Arc::new(HttpServer::start(FakeHandler::default(), options).await);
    let mut clients = JoinSet::new();
    for number in 0..1000 {
        if clients.len() >= 50 {
            clients.join_next().await.unwrap().unwrap();
        }
        let server = server.clone();
        clients.spawn(async move {
            match number % 5 {
                0 => drop(server.connect().await),
                1 => drop(server.open("POST", &[], INITIALIZE).await),
                2 => {
                    let half = &INITIALIZE[..INITIALIZE.len() / 2];
                    let length = INITIALIZE.len().to_string();
                    drop(
                        server
                            .open("POST", &[("Content-Length", &length)], half)
                            .await,
                    );
                }
                3 => {
                    let mut stream = server.connect().await;
                    let _ = stream.write_all(b"\x16\x03\x01 GET nonsense\r\n\r\n").await;
                }
                _ => {
                    // Refused while all hundred sessions have a stream.
                    let response = server.post(&[], INITIALIZE).await;
                    if let Some(session) = response.header("mcp-session-id") {
                        drop(server.open("GET", &[("Mcp-Session-Id", session)], "").await);
                    }
                }
            }
        });
    }
    while clients.join_next().await.is_some_and(|client| {
        client.unwrap();
        true
    }) {}
    // Until the server has detected the closed connections, the limit can be reached.
    timeout(TIMEOUT, async {
        while server.post(&[], INITIALIZE).await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    let session = session(&server).await;
    let pong = server.post(&[("Mcp-Session-Id", &session)], PING).await;
    assert_eq!(pong.message()["result"], json!({}));
    let server = std::sync::Arc::into_inner(server).unwrap();
    server.stop().await;
}
