//! `skills doctor` with an engine that is damaged, foreign or without a registry.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use skills_iii::ErrorBody;
use skills_iii::client::{TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::files::write;
use skills_test_support::handler::returns;
use skills_test_support::process::{Addresses, SkillsProcess};

use super::doctor::{DEV, doctor, run};

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_registry_and_an_invalid_store_are_findings() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "state_timeout_ms: 5000\n");
    write(dir, "data/state.db", "no database at all ".repeat(100));
    let engine = TestEngine::start().await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(2)),
        "{report:#}"
    );
    assert_eq!(report["engine"]["state"], "idle");
    let message = report["store"]["message"].as_str().unwrap();
    assert!(
        message.contains("is not a SQLite database; the file was left as it is"),
        "{message}"
    );
    let (report, code) = doctor(dir, "http://127.0.0.1:1").await;
    assert_eq!(code, Some(1));
    assert_eq!(report["engine"]["state"], "refusing");
    let message = report["engine"]["message"].as_str().unwrap();
    assert!(
        message.contains("looks like ws://127.0.0.1:49134"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_rows_are_findings_with_and_without_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "agents: ['*.3md']\n");
    write(dir, "dev.3md", DEV);
    let rows = [
        json!({ "scope": "skills", "key": "bad", "value": { "id": 5 } }),
        json!({ "scope": "prompts", "key": "bad", "value": { "name": "bad" } }),
        json!({ "scope": "skills", "key": "dev", "value":
            { "id": "dev", "skill": "# D", "registered_at": "2026-01-01T00:00:00.000000Z" } }),
    ];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    for row in &rows {
        peer.call("state::set", row.clone()).await.unwrap();
    }
    let (served, code) = doctor(dir, &url).await;
    assert_eq!(code, Some(1));
    assert_eq!(served["engine"]["state"], "serving");
    assert_eq!(served["findings"], 3, "{served:#}");
    let places = [
        &served["damaged"][0]["place"],
        &served["damaged"][1]["place"],
    ];
    assert_eq!(places, ["skills/?", "prompts/bad"], "{served:#}");
    assert_eq!(served["shadowed"][0]["name"], "dev", "{served:#}");
    let text = String::from_utf8(run(dir, &url, &[]).stdout).unwrap();
    assert!(text.contains("\ndamaged  skills/?: "), "{text}");
    serve.kill().await;

    let (kept, _) = doctor(dir, NO_ENGINE).await;
    for part in ["findings", "shadowed"] {
        assert_eq!(kept[part], served[part], "{part}");
    }
    // The data directory has the key that a list of an engine does not have.
    assert_eq!(kept["damaged"][0]["place"], "skills/bad");
    for (kept, served) in [
        (
            &kept["damaged"][0]["reason"],
            &served["damaged"][0]["reason"],
        ),
        (&kept["damaged"][1], &served["damaged"][1]),
    ] {
        assert_eq!(kept, served);
    }

    // The rows are checked on an engine without a registry too.
    let engine = TestEngine::start().await;
    let peer = Peer::connect(&engine.url, "peer").await;
    for row in rows {
        peer.call("state::set", row).await.unwrap();
    }
    let (idle, _) = doctor(dir, &engine.url).await;
    assert_eq!(idle["engine"]["state"], "idle");
    for part in ["damaged", "shadowed"] {
        assert_eq!(idle[part], served[part], "{part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn state_that_an_engine_cannot_read_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "state_timeout_ms: 5000\n");
    let engine = TestEngine::without_state().await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(2)),
        "{report:#}"
    );
    let damaged = &report["damaged"][0];
    assert_eq!(damaged["place"], *engine.url);
    let reason = damaged["reason"].as_str().unwrap();
    assert!(reason.contains("could not list the skills"), "{reason}");
}

/// A worker that provides a type and makes no call, as another registry would.
struct Silent;

impl TriggerProvider for Silent {
    fn on_register(&self, _: TriggerSpec) -> Result<(), ErrorBody> {
        Ok(())
    }

    fn on_unregister(&self, _: &str) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_provider_of_a_trigger_type_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "state_timeout_ms: 5000\n");
    let engine = TestEngine::start().await;
    let foreign = engine.peer("foreign").await;
    let on_change = TriggerTypeSpec {
        id: "skills::on-change".into(),
        ..TriggerTypeSpec::default()
    };
    foreign.0.register_trigger_type(on_change, Arc::new(Silent));
    let registry = engine.peer("registry").await;
    for (function, answer) in [
        ("skills::register", json!({})),
        ("skills::list", json!({ "skills": [] })),
        ("prompts::list", json!({ "prompts": [] })),
    ] {
        registry.register_function(function, returns(answer)).await;
    }
    foreign
        .call_until_ok(
            "engine::triggers::info",
            json!({ "id": "skills::on-change" }),
        )
        .await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["engine"]["state"], "serving", "{report:#}");
    let damaged = &report["damaged"][0];
    assert_eq!(damaged["place"], "skills::on-change", "{report:#}");
    let reason = damaged["reason"].as_str().unwrap();
    assert!(
        reason.contains("`foreign`") && reason.contains("`registry`"),
        "{reason}"
    );

    // The provider goes; the type has none, which is not a finding.
    foreign.0.shutdown(Duration::from_secs(5)).await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(code, Some(0), "{report:#}");
}
