//! Reads in a session over HTTP: which headers are accepted, and cancellation.

use serde_json::json;
use skills_mcp::http::HttpOptions;
use skills_test_support::TIMEOUT;
use skills_test_support::http_server::HttpServer;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::fake_handler::FakeHandler;
use crate::http::{serve, session};

fn read(uri: &str) -> String {
    let params = json!({ "uri": uri });
    json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": params }).to_string()
}

#[tokio::test]
async fn the_headers_of_a_read_in_a_session_are_checked() {
    let server = serve().await;
    let session = session(&server).await;
    let ours = ("Mcp-Session-Id", session.as_str());
    for (headers, status) in [
        (vec![ours], 200),
        (vec![ours, ("MCP-Protocol-Version", "2024-11-05")], 200),
        (vec![ours, ("MCP-Protocol-Version", "2025-11-25")], 200),
        (vec![ours, ("MCP-Protocol-Version", "2026-07-28")], 400),
        (vec![ours, ("MCP-Protocol-Version", "1999-01-01")], 400),
        (vec![ours, ("Accept", "application/json")], 406),
        (vec![ours, ("Content-Type", "text/plain")], 415),
        (vec![ours, ("Origin", "http://evil.example")], 403),
        (vec![("Mcp-Session-Id", "unknown")], 404),
        (vec![("MCP-Protocol-Version", "2025-11-25")], 400),
    ] {
        let response = server.post(&headers, &read("value:")).await;
        assert_eq!(
            response.status, status,
            "for {headers:?}: {}",
            response.body
        );
    }
    let gone = server.request("DELETE", &[ours], "").await;
    assert_eq!(gone.status, 204);
    assert_eq!(server.post(&[ours], &read("value:")).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn a_read_in_a_session_can_be_cancelled() {
    let handler = FakeHandler::default();
    let server = HttpServer::start(handler.clone(), HttpOptions::default()).await;
    let session = session(&server).await;
    let ours = ("Mcp-Session-Id", session.as_str());
    let mut waiting = server
        .open("POST", &[ours, ("Connection", "close")], &read("never:"))
        .await;
    timeout(TIMEOUT, handler.state.reading.notified())
        .await
        .unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
    assert_eq!(server.post(&[ours], cancel).await.status, 202);
    let mut response = String::new();
    timeout(TIMEOUT, waiting.read_to_string(&mut response))
        .await
        .unwrap()
        .unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(
        !response.contains("jsonrpc"),
        "a cancelled request gets no response: {response}"
    );
    server.stop().await;
}
