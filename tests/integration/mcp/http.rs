//! Reads in a session over HTTP, which are answered by two ways that must not differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_iii::client::Handler as Function;
use skills_mcp::http::HttpOptions;

use super::fixture::Fixture;
use skills_test_support::http_server::HttpServer;

struct Visitor {
    server: HttpServer,
    session: String,
}

impl Visitor {
    async fn arrive(fixture: &Fixture) -> Self {
        let server = HttpServer::start(fixture.handler.clone(), HttpOptions::default()).await;
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            },
        });
        let welcome = server.post(&[], &hello.to_string()).await;
        let session = welcome.header("mcp-session-id").unwrap().to_owned();
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
    let visitor = Visitor::arrive(&fixture).await;
    let missing = visitor.read("iii://a").await;
    assert_eq!(missing["error"]["code"], -32002);
    for body in ["# One", "# Two"] {
        fixture.register_skill("a", body).await;
        let contents = json!([{ "uri": "iii://a", "mimeType": "text/markdown", "text": body }]);
        let expected = json!({ "jsonrpc": "2.0", "id": 1, "result": { "contents": contents } });
        assert_eq!(visitor.read("iii://a").await, expected);
    }
    let index = visitor.read("iii://skills").await;
    let index = index["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(index.contains("iii://a"), "{index}");
    let id = "a".parse().unwrap();
    assert!(fixture.registry().unregister_skill(&id).await.unwrap());
    assert_eq!(visitor.read("iii://a").await, missing);
    visitor.server.stop().await;
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
    let visitor = Visitor::arrive(&fixture).await;
    let read = visitor.read("iii://fn/count/up").await;
    assert_eq!(read["result"]["contents"][0]["text"], "counted");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    visitor.server.stop().await;
}
