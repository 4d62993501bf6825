//! A row that is damaged on disk: served around, reported, replaced and removed.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};

use super::doctor::found;

fn skills(dir: &Path, args: &[&str]) -> Output {
    let mut command = skills_command();
    command
        .current_dir(dir)
        .args(args)
        .arg("--data-dir")
        .arg(dir.join("data"));
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    let (stdout, stderr) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(!stderr.contains("panicked"), "{stderr}");
    String::from_utf8(stdout.clone()).unwrap()
}

/// A data directory with the skills `good` and `bad`; one byte of `bad` is not UTF-8.
fn damaged(dir: &Path) {
    for id in ["good", "bad"] {
        std::fs::write(dir.join("body.md"), format!("# {id} body\n")).unwrap();
        let body = dir.join("body.md");
        let output = skills(dir, &["register", id, body.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?}");
    }
    let database = dir.join("data/state.db");
    let mut bytes = std::fs::read(&database).unwrap();
    // The row follows its key; its version contains the text too.
    let row = br##"bad{"id":"bad","skill":"# bad"##;
    let at = bytes.windows(row.len()).position(|found| found == row);
    bytes[at.unwrap() + row.len() - 1] = 0xff;
    std::fs::write(&database, bytes).unwrap();
}

#[test]
fn commands_on_the_data_directory_serve_the_rest_and_report_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    damaged(dir);
    let list = skills(dir, &["list", "--flat"]);
    assert!(list.status.success(), "{list:?}");
    assert!(stdout(&list).starts_with("good "), "{list:?}");
    let warning = String::from_utf8_lossy(&list.stderr).into_owned();
    assert!(warning.contains("skills/bad: it is not UTF-8"), "{warning}");
    let index = skills(dir, &["index", "--json"]);
    assert!(index.status.success(), "{index:?}");
    assert!(stdout(&index).contains("iii://good"), "{index:?}");
    let read = skills(dir, &["read", "bad"]);
    assert_eq!(read.status.code(), Some(1), "{read:?}");

    let export = skills(dir, &["export", dir.join("out").to_str().unwrap()]);
    assert_eq!(export.status.code(), Some(1), "{export:?}");
    assert!(dir.join("out/good.md").exists());
    assert!(!dir.join("out/bad.md").exists());
    let message = String::from_utf8_lossy(&export.stderr).into_owned();
    assert!(message.contains("skills/bad: it is not UTF-8"), "{message}");

    let doctor = skills(dir, &["doctor", "--json", "--url", "ws://127.0.0.1:9"]);
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
    let report: Value = serde_json::from_str(&stdout(&doctor)).unwrap();
    let report = &report["data"];
    assert_eq!(report["problems"], 1, "{report:#}");
    assert_eq!(found(report, "damaged")[0].0, "skills/bad");

    let removed = skills(dir, &["unregister", "bad"]);
    assert_eq!(stdout(&removed), "bad\n", "{removed:?}");
    let doctor = skills(dir, &["doctor", "--url", "ws://127.0.0.1:9"]);
    assert!(doctor.status.success(), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_serves_the_rest_and_takes_a_replacement() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    damaged(dir);
    let (_serve, Addresses { url, http }) = SkillsProcess::serve(&dir.join("data"), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    let list = peer.call("skills::list", json!({})).await.unwrap();
    assert_eq!(list["skills"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["damaged"][0]["place"], "skills/bad", "{list}");
    assert!(peer.read("iii://skills").await.unwrap().contains("good"));
    let error = peer.read("iii://bad").await.unwrap_err();
    assert!(error.starts_with("broken: "), "{error}");
    let rows = peer.call("state::list", json!({ "scope": "skills" })).await;
    assert_eq!(rows.unwrap().as_array().unwrap().len(), 1);
    let health = health(http).await;
    assert!(health.contains(r#""skipped":1"#), "{health}");

    let url_args = ["--url", &url];
    let export = [&["export", "out"], &url_args[..]].concat();
    assert_eq!(skills(dir, &export).status.code(), Some(1));
    let doctor = skills(dir, &[&["doctor", "--json"], &url_args[..]].concat());
    assert!(stdout(&doctor).contains("skills/bad"), "{doctor:?}");

    peer.register_skill("bad", "# Well").await;
    assert_eq!(peer.read("iii://bad").await.unwrap(), "# Well");
    assert_eq!(peer.skill_ids().await, ["bad", "good"]);
    let rows = peer.call("state::list", json!({ "scope": "skills" })).await;
    assert_eq!(rows.unwrap().as_array().unwrap().len(), 2);
}

/// The answer of `/healthz`.
async fn health(http: std::net::SocketAddr) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut socket = tokio::net::TcpStream::connect(http).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}
