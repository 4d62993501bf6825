//! A backup of a registry that runs, while a worker writes; then a kill, and the restore.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess, output_of, skills_command};

fn skills(args: &[&str]) -> Output {
    let mut command = skills_command();
    command.args(args);
    output_of(command, "")
}

#[track_caller]
fn succeeded(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_acknowledged_before_a_backup_is_there_after_a_kill_and_a_restore() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&path("data"), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    for n in 0..50 {
        let skill =
            json!({ "id": format!("s{n}"), "skill": format!("# Skill {n}"), "owner": "peer" });
        peer.call("skills::register", skill).await.unwrap();
    }
    let prompt = json!({ "name": "p", "description": "d", "function_id": "w::p" });
    peer.call("prompts::register", prompt).await.unwrap();
    let writer = tokio::spawn({
        let url = url.clone();
        async move {
            let busy = Peer::connect(&url, "busy").await;
            for n in 0_u64.. {
                busy.register_skill("busy", &format!("# Busy {n}")).await;
            }
        }
    });
    let file = path("registry.backup");
    let backup = ["backup", text(&file), "--url", &url, "--json"];
    let backup = backup.map(str::to_owned);
    let made = tokio::task::spawn_blocking(move || skills(&backup.each_ref().map(String::as_str)));
    let made = succeeded(&made.await.unwrap());
    assert_eq!(made["data"]["rows"]["prompts"], 1, "{made}");
    writer.abort();
    serve.kill().await;
    let new = path("new");
    let restored = ["restore", text(&file), "--data-dir", text(&new), "--json"];
    let restored = succeeded(&skills(&restored));
    assert_eq!(restored["data"]["rows"], made["data"]["rows"]);
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&new, &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    for n in [0, 49] {
        let body = peer.read(&format!("iii://s{n}")).await.unwrap();
        assert_eq!(body, format!("# Skill {n}"));
    }
    let skills = peer.call("skills::list", json!({})).await.unwrap();
    let skills = skills["skills"].as_array().unwrap();
    let owned = skills.iter().filter(|skill| skill["owner"] == "peer");
    assert_eq!(owned.count(), 50);
    let prompts = peer.call("prompts::list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"][0]["name"], "p");
}
