//! Damaged rows: each is one finding, and everything else is served.

use std::path::Path;
use std::process::Output;

use rusqlite::Connection;
use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::process::{SkillsProcess, skills_command};

use super::support::healthz;

/// Registers skills, stops, and damages the rows of two of them.
async fn damaged(dir: &Path) {
    let (serve, addresses) = SkillsProcess::serve(dir, &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    for id in ["a", "b", "c", "d"] {
        peer.register_skill(id, &format!("# {id}")).await;
    }
    serve.terminate().await;
    let database = Connection::open(dir.join("state.db")).unwrap();
    let damage = |key: &str, value: &str| {
        let sql = format!("UPDATE entries SET value = CAST({value} AS TEXT) WHERE key = ?");
        assert_eq!(database.execute(&sql, [key]).unwrap(), 1);
    };
    // One byte that is not UTF-8.
    damage("b", "x'7b226964223a2262ff227d'");
    // The beginning of an object.
    damage("c", "'{\"id\":\"c\",\"ski'");
}

fn command(dir: &Path, args: &[&str]) -> Output {
    let mut command = skills_command();
    command
        .args(args)
        .arg("--data-dir")
        .arg(dir)
        .current_dir(dir);
    command.output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_rows_are_served_and_a_damaged_row_can_be_replaced_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    damaged(dir.path()).await;
    let (serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    assert_eq!(peer.skill_ids().await, ["a", "d"]);
    assert_eq!(peer.read("iii://d").await.unwrap(), "# d");
    let index = peer.read("iii://skills").await.unwrap();
    assert!(
        index.contains("iii://a") && !index.contains("iii://b"),
        "{index}"
    );
    peer.read("iii://b").await.unwrap_err();
    let (status, health) = healthz(addresses.http).await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{health}");
    assert_eq!(
        (&health["skills"], &health["skipped"]),
        (&json!(2), &json!(2)),
        "{health}"
    );

    peer.register_skill("b", "# New").await;
    assert_eq!(peer.read("iii://b").await.unwrap(), "# New");
    peer.call("skills::unregister", json!({ "id": "c" }))
        .await
        .unwrap();
    assert_eq!(peer.skill_ids().await, ["a", "b", "d"]);
    let (_, health) = healthz(addresses.http).await;
    assert_eq!(
        (&health["skills"], &health["skipped"]),
        (&json!(3), &json!(0)),
        "{health}"
    );
    serve.terminate().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn export_leaves_a_damaged_row_out_and_exits_with_1() {
    let dir = tempfile::tempdir().unwrap();
    damaged(dir.path()).await;
    let target = dir.path().join("out");
    let output = command(dir.path(), &["export", target.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(std::fs::read_to_string(target.join("a.md")).unwrap(), "# a");
    assert!(!target.join("b.md").exists());
    let doctor = command(dir.path(), &["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let found = report["data"]["findings"].as_array().unwrap();
    let damaged = found.iter().filter(|entry| entry["group"] == "damaged");
    let places: Vec<_> = damaged.map(|row| &row["place"]).collect();
    assert_eq!(places, ["skills/b", "skills/c"], "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn import_replaces_damaged_rows() {
    let dir = tempfile::tempdir().unwrap();
    damaged(dir.path()).await;
    let docs = dir.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    for id in ["b", "e"] {
        std::fs::write(docs.join(format!("{id}.md")), "# New").unwrap();
    }
    let output = command(dir.path(), &["import", "docs"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(output.stdout, b"b.md\ne.md\n");
    let read = command(dir.path(), &["read", "b"]);
    assert_eq!(read.stdout, b"# New");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_cut_off_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    damaged(dir.path()).await;
    let path = dir.path().join("state.db");
    let bytes = std::fs::read(&path).unwrap();
    for length in [1, 100, 512, 4096, bytes.len() / 2] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let output = command(dir.path(), &["list"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{length}: {stderr}");
        assert!(stderr.contains("state.db"), "{length}: {stderr}");
        assert_eq!(
            std::fs::read(&path).unwrap().len(),
            length,
            "the file is left as it is"
        );
    }
}
