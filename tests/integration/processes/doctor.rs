//! `skills doctor` on healthy and broken folders, engines and stores.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skills_iii::ErrorBody;
use skills_iii::client::{TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::files::write;
use skills_test_support::handler::returns;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};

const DEV: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity label=dev\nI am dev.\n";

fn run(dir: &Path, url: &str, more: &[&str]) -> Output {
    skills_command()
        .arg("doctor")
        .args(["--url", url, "--config"])
        .arg(dir.join("config.yaml"))
        .arg("--data-dir")
        .arg(dir.join("data"))
        .args(more)
        .output()
        .unwrap()
}

/// The report of `skills doctor --json`, and its exit code.
async fn doctor(dir: &Path, url: &str) -> (Value, Option<i32>) {
    let (dir, url) = (dir.to_owned(), url.to_owned());
    let run = move || run(&dir, &url, &["--json"]);
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["command"], "doctor");
    (report["data"].take(), output.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_reported_and_set_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let url = NO_ENGINE;
    let (report, code) = doctor(dir, url).await;
    assert_eq!(code, Some(1));
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("config.yaml"), "{warning}");

    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/a.md", "# A");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["healthy"], true);
    assert_eq!(report["skills"][0]["id"], "a");
    assert_eq!(report["patterns"]["skills"][0]["files"], 1);
    assert_eq!(report["engine"]["state"], "absent");
    assert_eq!(report["store"]["state"], "empty");
    assert!(!dir.join("data").exists(), "it creates nothing");

    write(dir, "docs/B.md", "# B");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let reason = report["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("has 'B'"), "{reason}");

    let output = run(dir, url, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "not running; commands use the data directory",
        "data: nothing stored yet",
        "pattern  docs/*.md (files: 2, skills: 1)",
        "skill    a  ",
        "skipped  ",
        "skills: 1, prompts: 0, agents: 0, skipped: 1, shadowed: 0",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: 1 finding\n"
    );
}

/// A pattern whose files an earlier pattern matched is not one without matches.
#[tokio::test(flavor = "multi_thread")]
async fn the_matches_of_each_pattern_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let patterns =
        "['docs/**/*.md', 'docs/{a,b}.md', '[', 'docs/**/*.md', 'docs/*.txt', 'docs/z*.md']";
    write(dir, "config.yaml", format!("skills: {patterns}\n"));
    for file in ["a.md", "b.md", "C.md", "d.txt"] {
        write(dir, &format!("docs/{file}"), "# Text");
    }
    let (report, _) = doctor(dir, NO_ENGINE).await;
    let counted = |pattern: &str, [files, served, earlier]: [usize; 3]| json!({ "pattern": pattern, "files": files, "served": served, "earlier": earlier });
    assert_eq!(
        report["patterns"]["skills"],
        json!([
            counted("docs/**/*.md", [3, 2, 0]),
            counted("docs/{a,b}.md", [2, 0, 2]),
            counted("[", [0, 0, 0]),
            counted("docs/**/*.md", [3, 0, 3]),
            counted("docs/*.txt", [1, 0, 0]),
            counted("docs/z*.md", [0, 0, 0]),
        ]),
        "{report:#}"
    );
    let skipped = report["skipped"].as_array().unwrap();
    let nothing = skipped
        .iter()
        .filter(|skipped| skipped["reason"] == "matches no file");
    let nothing: Vec<_> = nothing.map(|skipped| &skipped["place"]).collect();
    assert_eq!(nothing, ["pattern `docs/z*.md`"], "{report:#}");
    let text = String::from_utf8(run(dir, NO_ENGINE, &[]).stdout).unwrap();
    let words = "docs/{a,b}.md (files: 2, skills: 0, matched by an earlier pattern: 2)\n";
    assert!(text.contains(words), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_the_id_of_a_plane_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['*.md']\nagents: ['*.3md']\n");
    write(dir, "dev.3md", DEV);
    write(dir, "dev.md", "# Not the agent\n");
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let file = dir.join("dev.md");
    let reason = format!(
        "has the id `dev` that {} has already; rename one",
        file.display()
    );
    let expected = json!([{ "place": dir.join("dev.3md"), "reason": reason }]);
    assert_eq!(report["skipped"], expected);
}

/// As for the other commands.
#[test]
fn the_url_can_come_from_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let engine_url = |more: &[&str]| {
        let output = skills_command()
            .args(["doctor", "--json", "--quiet", "--data-dir"])
            .arg(dir.path().join("data"))
            .args(more)
            .env("SKILLS_URL", "ws://localhost:1")
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["data"]["engine"]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(engine_url(&[]), "ws://localhost:1");
    assert_eq!(engine_url(&["--url", NO_ENGINE]), NO_ENGINE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shadowed_file_is_a_finding_with_and_without_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/taken.md", "# From a file\n");
    write(dir, "docs/free.md", "# Free\n");
    let data = dir.join("data");
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&data, &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    let registered = peer.register_skill("taken", "# From a worker").await;
    let expected = json!([{
        "kind": "skill",
        "name": "taken",
        "path": dir.join("docs/taken.md"),
        "by": "state",
        "registered_at": registered["registered_at"],
    }]);
    let (report, code) = doctor(dir, &url).await;
    assert_eq!(code, Some(1));
    assert_eq!(report["engine"]["state"], "serving", "{report:#}");
    assert_eq!(report["store"]["state"], "healthy", "{report:#}");
    assert_eq!(report["shadowed"], expected);
    serve.kill().await;

    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    assert_eq!(report["engine"]["state"], "absent");
    let store = &report["store"];
    assert_eq!(
        (&store["state"], &store["schema_version"], &store["rows"]),
        (&json!("healthy"), &json!(1), &json!(1))
    );
    assert_eq!(report["shadowed"], expected);
}

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

#[tokio::test(flavor = "multi_thread")]
async fn skills_that_clients_are_not_offered_are_named_with_the_cure() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    write(dir, "docs/a_b.md", "# A");
    write(dir, "docs/team.md", "# Team");
    for n in 0..512 {
        write(dir, &format!("docs/team/s{n}.md"), "# S");
    }
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(0), "notes are no findings: {report:#}");
    let unlisted = report["unlisted"].as_array().unwrap();
    let shown: Vec<_> = unlisted
        .iter()
        .map(|one| (one["id"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    let [(first, name), (second, many)] = shown[..] else {
        panic!("{shown:?}");
    };
    assert_eq!([first, second], ["a_b", "team"]);
    assert!(
        name.ends_with("give it another id, such as `a-b`"),
        "{name}"
    );
    assert!(many.contains("has 513 files of"), "{many}");
    assert!(many.contains("the 512 skills below it"), "{many}");
    assert!(
        many.contains("give it an id that is not above them"),
        "{many}"
    );
}
