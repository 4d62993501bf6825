//! Reads in a session over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_iii::client::Handler as Function;
use skills_mcp::http::HttpOptions;
use skills_test_support::http_server::HttpServer;

use super::fixture::Fixture;

struct SessionClient {
    server: HttpServer,
    session: String,
}

impl SessionClient {
    async fn connect(fixture: &Fixture) -> Self {
        let server = HttpServer::start(fixture.handler.clone(), HttpOptions::default()).await;
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            },
        });
        let response = server.post(&[], &initialize.to_string()).await;
        let session = response.header("mcp-session-id").unwrap().to_owned();
        Self { server, session }
    }

    async fn read(&self, uri: &str) -> Value {
        let read = json!({
            "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri },
        });
        let session = [("Mcp-Session-Id", self.session.as_str())];
        let answer = self.server.post(&session, &read.to_string()).await;
        assert_eq!(answer.status, 200, "{uri}: {}", answer.body);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        answer.message()
    }
}

#[tokio::test]
async fn a_read_in_a_session_sees_every_write_before_it() {
    let fixture = Fixture::new().await;
    let client = SessionClient::connect(&fixture).await;
    let missing = client.read("iii://a").await;
    assert_eq!(missing["error"]["code"], -32002);
    for body in ["# One", "# Two"] {
        fixture.register_skill("a", body).await;
        let contents = json!([{ "uri": "iii://a", "mimeType": "text/markdown", "text": body }]);
        let expected = json!({ "jsonrpc": "2.0", "id": 1, "result": { "contents": contents } });
        assert_eq!(client.read("iii://a").await, expected);
    }
    let index = client.read("iii://skills").await;
    let index = index["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(index.contains("iii://a"), "{index}");
    let id = "a".parse().unwrap();
    assert!(fixture.registry().unregister_skill(&id).await.unwrap());
    assert_eq!(client.read("iii://a").await, missing);
    client.server.stop().await;
}

#[tokio::test]
async fn a_function_that_is_read_in_a_session_is_called_once() {
    let fixture = Fixture::new().await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let count: Function = Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        let answer = to_raw_value("counted").unwrap();
        Box::pin(std::future::ready(Ok(Some(answer))))
    });
    fixture
        .register_function(json!({ "id": "count::up" }), count)
        .await;
    let client = SessionClient::connect(&fixture).await;
    let read = client.read("iii://fn/count/up").await;
    assert_eq!(read["result"]["contents"][0]["text"], "counted");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    client.server.stop().await;
}
