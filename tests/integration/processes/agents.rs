//! agent.3md documents as a source of skills, and what the program logs about them at its start.

use std::fs;

use serde_json::json;
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};

use super::doctor::found;

const DEV: &str = r#"---
3md: 1.0
agent: Dev
---
@plane z=0 kind=identity
I am dev, see [[z=1]].

@plane z=1 label="Code search" triggers="find code"
Look for it, then [[z=2|read it]].

@plane z=2 label=read triggers="open file"
# Reading

How to read a file.
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_planes_of_a_document_are_skills() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    let config = dir.join("config.yaml");
    fs::write(&config, "agents: ['*.3md']\n").unwrap();
    fs::write(dir.join("dev.3md"), DEV).unwrap();
    fs::write(dir.join("bad.3md"), "# no document\n").unwrap();
    let config = config.to_str().unwrap();
    let data = dir.join("data");

    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&data, &["--config", config]).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(
        peer.skill_ids().await,
        ["dev", "dev/code-search", "dev/read"]
    );
    let listed = peer.call("skills::list", json!({})).await.unwrap();
    assert_eq!(listed["skills"][0]["origin"], "3md", "{listed}");
    let index = peer.read("iii://skills").await.unwrap();
    let line = "  - [`dev/read`](iii://dev/read) — Reading — How to read a file.";
    assert!(index.contains(line), "{index}");
    let fetched = peer.call("skill::fetch", json!({ "uri": "iii://dev/code-search" }));
    assert_eq!(
        fetched.await.unwrap(),
        "# iii://dev/code-search\n\nLook for it, then [read it](iii://dev/read)."
    );
    // A registered skill takes precedence.
    peer.register_skill("dev/read", "# From a worker").await;
    assert_eq!(
        peer.read("iii://dev/read").await.unwrap(),
        "# From a worker"
    );
    // An edit is served without a restart; an invalid document is not served.
    fs::write(dir.join("dev.3md"), DEV.replace("I am dev", "I was dev")).unwrap();
    let body = peer.read("iii://dev").await.unwrap();
    assert_eq!(body, "I was dev, see [Code search](iii://dev/code-search).");
    fs::write(dir.join("dev.3md"), DEV.replace("z=2|", "z=9|")).unwrap();
    assert_eq!(peer.skill_ids().await, ["dev/read"]);
    let problem = peer.read("iii://dev").await.unwrap_err();
    assert!(problem.contains("not found"), "{problem}");
    serve.kill().await;

    let doctor = skills_command()
        .args(["doctor", "--json", "--all", "--config", config])
        .args(["--url", NO_ENGINE, "--data-dir"])
        .arg(dir.join("nothing"))
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let report = &report["data"];
    assert_eq!(doctor.status.code(), Some(1), "{report:#}");
    let well = found(report, "well");
    let pattern = ("pattern *.3md".to_owned(), "files: 2, agents: 0".to_owned());
    assert!(well.contains(&pattern), "{report:#}");
    let reasons = format!("{:?}", found(report, "not_served"));
    assert!(reasons.contains("[dead-link]") && reasons.contains("is not a 3md document"));

    fs::write(dir.join("dev.3md"), DEV).unwrap();
    let mut restarted = SkillsProcess::start_serve(&data, &["--config", config]);
    let loaded = restarted.wait_for_log("agent loaded").await;
    assert_eq!(
        (&loaded["agent"], &loaded["skills"]),
        (&json!("dev"), &json!(3))
    );
    let skipped = restarted.wait_for_log("bad.3md").await;
    assert_eq!(skipped["level"], "WARN");
    let totals = restarted.wait_for_log("\"agents\"").await;
    assert_eq!(
        (&totals["agents"], &totals["skipped"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn routing_finds_planes_and_files_and_resolving_follows_their_links() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yaml");
    fs::write(&config, "agents: ['*.3md']\nskills: ['*.md']\n").unwrap();
    fs::write(dir.path().join("dev.3md"), DEV).unwrap();
    let grep = "---\ntriggers: [grep, find code]\n---\n# Grep\n";
    fs::write(dir.path().join("grep.md"), grep).unwrap();
    let more = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) =
        SkillsProcess::serve(&dir.path().join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    let routed = peer.call("skills::route", json!({ "text": "grep, find the code" }));
    let routed = routed.await.unwrap();
    let found = |at: usize, field: &str| routed["matches"][at][field].clone();
    assert_eq!(found(0, "id"), "grep");
    assert_eq!(found(0, "matched"), json!(["grep", "find code"]));
    assert_eq!(found(1, "id"), "dev/code-search");
    assert_eq!(found(1, "matched"), json!(["find code"]));
    let resolved = peer
        .call("skills::resolve", json!({ "id": "dev" }))
        .await
        .unwrap();
    let chain: Vec<_> = resolved["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["id"])
        .collect();
    assert_eq!(chain, ["dev", "dev/code-search", "dev/read"]);
    assert_eq!(resolved["complete"], true);
    serve.kill().await;
}
