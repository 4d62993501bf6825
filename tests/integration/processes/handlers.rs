//! Functions behind prompts and sections that fail: each returns an error with the cause, and the
//! registry goes on.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_iii::ErrorBody;
use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::process::SkillsProcess;
use tokio::sync::Notify;

struct Fixture {
    engine: TestEngine,
    _worker: SkillsProcess,
    peer: Peer,
    handlers: Peer,
    _config: tempfile::TempDir,
}

/// A registry with a timeout that no test reaches.
async fn fixture() -> Fixture {
    with_timeout_ms(30_000).await
}

/// A registry that waits this long for a function.
async fn with_timeout_ms(timeout: u32) -> Fixture {
    let engine = TestEngine::start().await;
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yaml");
    std::fs::write(&config, format!("state_timeout_ms: {timeout}\n")).unwrap();
    let mut worker = SkillsProcess::worker(&engine.url, &["--config", config.to_str().unwrap()]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let handlers = Peer::connect(&engine.url, "handlers").await;
    peer.call_until_ok("skills::list", json!({})).await;
    Fixture {
        engine,
        _worker: worker,
        peer,
        handlers,
        _config: dir,
    }
}

impl Fixture {
    async fn prompt(&self, handler: &str) -> Result<Value, String> {
        let prompt = json!({ "name": "p", "description": "d", "function_id": handler });
        self.peer.call("prompts::register", prompt).await?;
        self.peer
            .call("prompts::mcp-get", json!({ "name": "p" }))
            .await
    }

    /// Both ways to call the function return an error with these words.
    async fn check_fails(&self, handler: &str, path: &str, words: &[&str]) {
        for error in [
            self.prompt(handler).await.unwrap_err(),
            self.peer
                .read(&format!("iii://fn/{path}"))
                .await
                .unwrap_err(),
        ] {
            for word in words.iter().chain(&[handler]) {
                assert!(error.contains(word), "{error:?} has no {word:?}");
            }
        }
        // The registry still works.
        self.peer.register_skill("still", "here").await;
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absent_function() {
    fixture()
        .await
        .check_fails("w::absent", "w/absent", &["is absent", "not_found"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_hangs() {
    let fixture = with_timeout_ms(1500).await;
    fixture
        .handlers
        .register_function("w::hang", Arc::new(|_| Box::pin(std::future::pending())))
        .await;
    fixture
        .check_fails("w::hang", "w/hang", &["too slow", "1500 ms", "timed_out"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_fails() {
    let fixture = fixture().await;
    let fail = |_| {
        Box::pin(std::future::ready(Err(ErrorBody::new(
            "E1",
            "out of paper",
        )))) as _
    };
    fixture
        .handlers
        .register_function("w::fail", Arc::new(fail))
        .await;
    fixture
        .check_fails("w::fail", "w/fail", &["failed: out of paper"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_panics() {
    let fixture = fixture().await;
    fixture
        .handlers
        .register_function(
            "w::panic",
            Arc::new(|_| Box::pin(async { panic!("oh no") })),
        )
        .await;
    fixture
        .check_fails("w::panic", "w/panic", &["failed"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_with_an_unsupported_result() {
    let fixture = fixture().await;
    let garbage = |_| Box::pin(std::future::ready(Ok(Some(raw(&json!([1, 2])))))) as _;
    fixture
        .handlers
        .register_function("w::garbage", Arc::new(garbage))
        .await;
    let error = fixture.prompt("w::garbage").await.unwrap_err();
    assert!(error.contains("unsupported shape (a list)"), "{error}");
    assert_eq!(
        fixture.peer.read("iii://fn/w/garbage").await.unwrap(),
        "[\n  1,\n  2\n]"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_whose_worker_disconnects_during_the_call() {
    let fixture = fixture().await;
    let called = Arc::new(Notify::new());
    let notify = Arc::clone(&called);
    let leaving = Peer::connect(&fixture.engine.url, "leaving").await;
    leaving
        .register_function(
            "w::vanish",
            Arc::new(move |_| {
                notify.notify_one();
                Box::pin(std::future::pending())
            }),
        )
        .await;
    let call = fixture.prompt("w::vanish");
    let disconnect = async {
        called.notified().await;
        drop(leaving);
    };
    let (error, ()) = tokio::join!(call, disconnect);
    let error = error.unwrap_err();
    assert!(error.contains("w::vanish"), "{error}");
    assert!(
        error.contains("disconnected") || error.contains("too slow"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_in_an_internal_namespace_is_not_called() {
    let fixture = fixture().await;
    let error = fixture.prompt("state::list").await.unwrap_err();
    assert!(
        error.contains("internal namespace") && error.contains("forbidden"),
        "{error}"
    );
    let error = fixture.peer.read("iii://fn/state/list").await.unwrap_err();
    assert!(
        error.contains("internal namespace") && error.contains("forbidden"),
        "{error}"
    );
}
