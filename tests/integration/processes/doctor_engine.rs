//! `skills doctor` with an engine that is damaged, foreign or without a registry.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skills_iii::ErrorBody;
use skills_iii::client::{TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::files::write;
use skills_test_support::process::{Addresses, SkillsProcess};

use super::doctor::{DEV, doctor, found};

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_registry_and_an_invalid_store_are_findings() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "state_timeout_ms: 5000\n");
    write(dir, "data/state.db", "no database at all ".repeat(100));
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1), "{report:#}");
    let store = found(&report, "store");
    let words = "is not a SQLite database (the file was left as it is";
    assert!(store[0].1.contains(words), "{report:#}");

    let engine = TestEngine::start().await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(
        (code, &report["problems"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let reason = &found(&report, "engine")[0].1;
    assert!(reason.contains("no registry there offers"), "{reason}");
    let (report, code) = doctor(dir, "http://127.0.0.1:1").await;
    assert_eq!(code, Some(1));
    let reason = &found(&report, "engine")[0].1;
    assert!(
        reason.contains("looks like ws://127.0.0.1:49134"),
        "{reason}"
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
    let config = dir.join("config.yaml");
    let config = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &config).await;
    let peer = Peer::connect(&url, "peer").await;
    for row in &rows {
        peer.call("state::set", row.clone()).await.unwrap();
    }
    let (served, code) = doctor(dir, &url).await;
    assert_eq!(code, Some(1));
    assert_eq!(served["checked"]["what"], "registry");
    assert_eq!(served["problems"], 3, "{served:#}");
    let places = |report: &Value, group: &str| {
        let found = found(report, group).into_iter();
        found.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let damaged = ["skills/bad", "prompts/bad"];
    assert_eq!(places(&served, "damaged"), damaged, "{served:#}");
    let hidden = found(&served, "hidden");
    assert!(
        hidden[0].1.contains("skill `dev` was registered"),
        "{served:#}"
    );
    serve.kill().await;
    let (kept, _) = doctor(dir, NO_ENGINE).await;
    assert_eq!(kept["findings"], served["findings"]);

    // The rows are checked on an engine without a registry too.
    let engine = TestEngine::start().await;
    let peer = Peer::connect(&engine.url, "peer").await;
    for row in rows {
        peer.call("state::set", row).await.unwrap();
    }
    let (idle, _) = doctor(dir, &engine.url).await;
    assert_eq!(idle["checked"]["what"], "engine");
    assert_eq!(found(&idle, "hidden"), hidden);
    // A list of an engine does not have the keys.
    assert_eq!(places(&idle, "damaged"), ["skills/?", "prompts/bad"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_that_an_engine_cannot_read_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "state_timeout_ms: 5000\n");
    let engine = TestEngine::without_state().await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(
        (code, &report["problems"]),
        (Some(1), &json!(2)),
        "{report:#}"
    );
    let reason = &found(&report, "store")[0].1;
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
    foreign
        .call_until_ok(
            "engine::triggers::info",
            json!({ "id": "skills::on-change" }),
        )
        .await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving on the engine").await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["checked"]["what"], "registry", "{report:#}");
    let [(place, reason)] = &found(&report, "engine")[..] else {
        panic!("{report:#}");
    };
    assert_eq!(place, "skills::on-change");
    assert!(
        reason.contains("`foreign`") && reason.contains("the registry (`skills"),
        "{reason}"
    );

    // The provider goes; the type has none, which is not a finding.
    foreign.0.shutdown(Duration::from_secs(5)).await;
    let (report, code) = doctor(dir, &engine.url).await;
    assert_eq!(code, Some(0), "{report:#}");
}
