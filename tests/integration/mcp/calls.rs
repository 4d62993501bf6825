//! Calls that are slow, cancelled, fail or panic, and messages about them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use skills_core::{Engine, Failure, Json, Pending, Registry};
use skills_mcp::{McpSettings, RegistryServer};
use skills_test_support::TIMEOUT;
use skills_test_support::handler::fails;
use skills_test_support::test_client::{TestClient, stateless};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::fixture::Fixture;

/// An engine with a slow and a panicking function, and no list of functions.
#[derive(Default)]
struct FakeEngine {
    started: Arc<Notify>,
    release: Arc<Notify>,
    dropped: Arc<Notify>,
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Engine for FakeEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        _: Json,
        _: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        Box::pin(async move {
            match function {
                "w::slow" => {
                    let _guard = NotifyOnDrop(Arc::clone(&self.dropped));
                    self.started.notify_one();
                    self.release.notified().await;
                    Ok(Some(RawValue::from_string("\"done\"".into()).unwrap()))
                }
                "w::panic" => panic!("on purpose"),
                _ => Err(Failure::Absent),
            }
        })
    }

    fn send(&self, _: &str, _: Json) {}
}

fn client(engine: &Arc<FakeEngine>, tick: Duration) -> TestClient {
    let settings = McpSettings {
        progress_interval: tick,
        ..McpSettings::default()
    };
    let stop = CancellationToken::new();
    let port = Arc::clone(engine) as Arc<dyn Engine>;
    let now = || "2026-01-01T00:00:00.000000Z".to_owned();
    let registry = Registry::new(
        Arc::clone(&port),
        Vec::new(),
        skills_core::RegistrySettings::default(),
        now,
    );
    let handler = RegistryServer::new(Arc::new(registry), port, settings, stop.clone());
    TestClient::serve(handler, stop)
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_without_a_response() {
    let engine = Arc::new(FakeEngine::default());
    let mut client = client(&engine, TIMEOUT);
    client.initialize("2025-06-18").await;
    let id = client
        .send("tools/call", json!({ "name": "w__slow" }))
        .await;
    timeout(TIMEOUT, engine.started.notified()).await.unwrap();
    client
        .notify("notifications/cancelled", json!({ "requestId": id }))
        .await;
    timeout(TIMEOUT, engine.dropped.notified()).await.unwrap();
    // The next response is that of the ping.
    assert_eq!(client.request("ping", json!({})).await.unwrap(), json!({}));
    client.close().await;
}

#[tokio::test]
async fn a_slow_call_with_a_token_reports_progress() {
    let engine = Arc::new(FakeEngine::default());
    let mut client = client(&engine, Duration::from_millis(20));
    client.initialize("2025-06-18").await;
    let params = json!({ "name": "w__slow", "_meta": { "progressToken": "t" } });
    let id = client.send("tools/call", params).await;
    let first = client.notification("notifications/progress").await;
    let second = client.notification("notifications/progress").await;
    assert_eq!(first["progressToken"], "t");
    assert!(
        first["message"]
            .as_str()
            .unwrap()
            .starts_with("w__slow has been running")
    );
    let progress = |notice: &Value| notice["progress"].as_f64().unwrap();
    assert!(progress(&second) > progress(&first));
    engine.release.notify_one();
    let result = client.response(id).await.unwrap();
    assert_eq!(result["content"][0]["text"], "done");
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_session_continues() {
    let engine = Arc::new(FakeEngine::default());
    let mut client = client(&engine, TIMEOUT);
    client.initialize("2025-06-18").await;
    let error = client
        .request("tools/call", json!({ "name": "w__panic" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32603);
    assert_eq!(client.request("ping", json!({})).await.unwrap(), json!({}));
}

#[tokio::test]
async fn a_lost_engine_is_an_error_and_not_an_empty_list() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    fixture.embedded.leave().await;
    fixture.registry().disconnected();
    for method in ["tools/list", "resources/list", "prompts/list"] {
        let error = client.request(method, json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32603, "for {method}: {error}");
        assert_eq!(error["data"]["hint"], "is the engine running?", "{method}");
    }
}

#[tokio::test]
async fn messages_follow_the_log_level_of_the_client() {
    let fixture = Fixture::new().await;
    fixture
        .register_function(json!({ "id": "w::bad" }), fails("oops", "no ink"))
        .await;
    let mut client = fixture.client().await;
    let bad = json!({ "name": "w__bad" });
    client.request("tools/call", bad.clone()).await.unwrap();
    assert!(
        !client.has_notification("notifications/message").await,
        "no level was set"
    );
    client
        .request("logging/setLevel", json!({ "level": "error" }))
        .await
        .unwrap();
    client.request("tools/call", bad.clone()).await.unwrap();
    assert!(
        !client.has_notification("notifications/message").await,
        "a warning is below an error"
    );
    client
        .request("logging/setLevel", json!({ "level": "warning" }))
        .await
        .unwrap();
    client.request("tools/call", bad.clone()).await.unwrap();
    let message = client.notification("notifications/message").await;
    assert_eq!(message["level"], "warning");
    assert_eq!(message["logger"], "skills");
    assert!(message["data"].as_str().unwrap().contains("no ink"));
    // In 2026-07-28 the level is part of each request.
    client
        .request_stateless("tools/call", bad.clone())
        .await
        .unwrap();
    assert!(!client.has_notification("notifications/message").await);
    let mut params = stateless(bad);
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    client.request("tools/call", params).await.unwrap();
    assert!(client.has_notification("notifications/message").await);
}

#[tokio::test]
async fn a_damaged_row_is_a_message() {
    let fixture = Fixture::new().await;
    let row = json!({ "scope": "skills", "key": "a", "value": { "id": "a" } });
    fixture.peer.call("state::set", row).await.unwrap();
    let mut client = fixture.client().await;
    client
        .request("logging/setLevel", json!({ "level": "warning" }))
        .await
        .unwrap();
    // The event of the row arrives later than the response.
    let message = timeout(TIMEOUT, async {
        loop {
            client.request("resources/list", json!({})).await.unwrap();
            if client.has_notification("notifications/message").await {
                return client.notification("notifications/message").await;
            }
        }
    });
    let message = message.await.unwrap();
    let text = message["data"].as_str().unwrap();
    assert!(
        text.contains("skills") && text.contains("not served"),
        "{text}"
    );
}
