//! Functions behind prompts and sections that misbehave: each gives an error that
//! says what happened, and nothing else stops.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_iii::ErrorBody;
use tokio::sync::Notify;

use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::process::SkillsProcess;

struct Scene {
    engine: TestEngine,
    _worker: SkillsProcess,
    peer: Peer,
    handlers: Peer,
    _config: tempfile::TempDir,
}

/// A worker that waits for everybody.
async fn scene() -> Scene {
    patient_for(30_000).await
}

/// A worker that waits so many milliseconds for anybody.
async fn patient_for(milliseconds: u32) -> Scene {
    let engine = TestEngine::start().await;
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yaml");
    std::fs::write(&config, format!("state_timeout_ms: {milliseconds}\n")).unwrap();
    let mut worker = SkillsProcess::worker(&engine.url, &["--config", config.to_str().unwrap()]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let handlers = Peer::connect(&engine.url, "handlers").await;
    peer.call_until_ok("skills::list", json!({})).await;
    Scene {
        engine,
        _worker: worker,
        peer,
        handlers,
        _config: dir,
    }
}

impl Scene {
    async fn prompt(&self, handler: &str) -> Result<Value, String> {
        let prompt = json!({ "name": "p", "description": "d", "function_id": handler });
        self.peer.call("prompts::register", prompt).await.unwrap();
        self.peer
            .call("prompts::mcp-get", json!({ "name": "p" }))
            .await
    }

    async fn fails(&self, handler: &str, path: &str, words: &[&str]) {
        for said in [
            self.prompt(handler).await.unwrap_err(),
            self.peer
                .read(&format!("iii://fn/{path}"))
                .await
                .unwrap_err(),
        ] {
            for word in words.iter().chain(&[handler]) {
                assert!(said.contains(word), "{said:?} has no {word:?}");
            }
        }
        // Nobody else is bothered.
        self.peer.register_skill("still", "here").await;
    }
}

fn answer(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_absent() {
    scene()
        .await
        .fails("w::absent", "w/absent", &["is absent", "not_found"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs() {
    let scene = patient_for(1500).await;
    scene
        .handlers
        .register_function("w::hang", Arc::new(|_| Box::pin(std::future::pending())))
        .await;
    scene
        .fails("w::hang", "w/hang", &["too slow", "1500 ms", "timed_out"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails() {
    let scene = scene().await;
    let fail = |_| {
        Box::pin(std::future::ready(Err(ErrorBody::new(
            "E1",
            "out of paper",
        )))) as _
    };
    scene
        .handlers
        .register_function("w::fail", Arc::new(fail))
        .await;
    scene
        .fails(
            "w::fail",
            "w/fail",
            &["failed: out of paper", "unavailable"],
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_panics() {
    let scene = scene().await;
    scene
        .handlers
        .register_function(
            "w::panic",
            Arc::new(|_| Box::pin(async { panic!("oh no") })),
        )
        .await;
    scene
        .fails("w::panic", "w/panic", &["failed", "unavailable"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_returns_garbage() {
    let scene = scene().await;
    let garbage = |_| Box::pin(std::future::ready(Ok(Some(answer(&json!([1, 2])))))) as _;
    scene
        .handlers
        .register_function("w::garbage", Arc::new(garbage))
        .await;
    let said = scene.prompt("w::garbage").await.unwrap_err();
    assert!(said.contains("unsupported shape (a list)"), "{said}");
    assert_eq!(
        scene.peer.read("iii://fn/w/garbage").await.unwrap(),
        "[\n  1,\n  2\n]"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_whose_worker_vanishes_while_it_is_asked() {
    let scene = scene().await;
    let asked = Arc::new(Notify::new());
    let ring = Arc::clone(&asked);
    let leaving = Peer::connect(&scene.engine.url, "leaving").await;
    leaving
        .register_function(
            "w::vanish",
            Arc::new(move |_| {
                ring.notify_one();
                Box::pin(std::future::pending())
            }),
        )
        .await;
    let asking = scene.prompt("w::vanish");
    let gone = async {
        asked.notified().await;
        drop(leaving);
    };
    let (said, ()) = tokio::join!(asking, gone);
    let said = said.unwrap_err();
    assert!(said.contains("w::vanish"), "{said}");
    assert!(
        said.contains("went away") || said.contains("too slow"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_in_an_internal_namespace_is_never_asked() {
    let scene = scene().await;
    let said = scene.prompt("state::list").await.unwrap_err();
    assert!(
        said.contains("internal namespace") && said.contains("forbidden"),
        "{said}"
    );
    let said = scene.peer.read("iii://fn/state/list").await.unwrap_err();
    assert!(
        said.contains("internal namespace") && said.contains("forbidden"),
        "{said}"
    );
}
