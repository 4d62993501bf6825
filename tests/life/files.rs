//! Markdown files, served by the program and told about at its start.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::engine::Peer;
use crate::process::Skills;

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_served_next_to_what_workers_register() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(
        dir,
        "config.yaml",
        "skills: ['docs/**/*.md']\nprompts: ['prompts/*.md']\n",
    );
    write(
        dir,
        "docs/house/style.md",
        "# House style\n\nHow we write.\n",
    );
    write(dir, "docs/taken.md", "# From a file\n");
    write(dir, "docs/README.md", "# No id\n");
    write(
        dir,
        "prompts/open-pr.md",
        "---\ndescription: Opens.\n---\nOpen it.\n",
    );
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let data = dir.join("data");

    let (serve, url) = Skills::serve(&data, &more).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(peer.ids().await, ["house/style", "taken"]);
    assert_eq!(peer.read("iii://taken").await.unwrap(), "# From a file\n");
    peer.register("taken", "# From a worker").await;
    assert_eq!(peer.read("iii://taken").await.unwrap(), "# From a worker");
    let index = peer.read("iii://skills").await.unwrap();
    assert!(
        index.contains("## Custom skills") && index.contains("House style"),
        "{index}"
    );
    let listed = peer.call("prompts::list", json!({})).await.unwrap();
    assert_eq!(listed["prompts"][0]["origin"], "fs", "{listed}");
    let asked = json!({ "name": "open-pr", "arguments": { "any": "thing" } });
    let got = peer.call("prompts::mcp-get", asked).await.unwrap();
    assert_eq!(got["messages"][0]["role"], "user");
    assert_eq!(got["messages"][0]["content"]["text"], "Open it.\n");
    // An edit is seen without a restart.
    write(
        dir,
        "docs/house/style.md",
        "# Other style\n\nHow we write.\n",
    );
    let body = peer.read("iii://house/style").await.unwrap();
    assert!(body.starts_with("# Other style"), "{body}");
    serve.kill().await;

    let mut again = Skills::start(&[
        "serve",
        "--data-dir",
        data.to_str().unwrap(),
        "--http",
        "127.0.0.1:0",
        "--url",
        "ws://127.0.0.1:0",
        "--config",
        config.to_str().unwrap(),
    ]);
    let loaded = again.says("skill file loaded").await;
    let path = dir.join("docs/house/style.md");
    assert_eq!(loaded["path"], path.to_str().unwrap(), "{loaded}");
    let skipped = again.says("docs/README.md").await;
    assert_eq!(skipped["level"], "WARN");
    assert!(skipped["reason"].as_str().unwrap().contains("has 'R'"));
    let totals = again.says("\"files\"").await;
    assert_eq!(
        (&totals["skills"], &totals["prompts"], &totals["skipped"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let hidden = again.says("a worker registered a skill with this id").await;
    assert_eq!(hidden["name"], "taken");
}

/// What `skills doctor --json` says of a folder with these files, and its exit code.
fn doctor(files: &[(&str, &str)]) -> (serde_json::Value, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(dir.path(), path, text);
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_skills"))
        .args(["doctor", "--json", "--config"])
        .arg(dir.path().join("config.yaml"))
        .output()
        .unwrap();
    let said = serde_json::from_slice(&output.stdout).unwrap();
    (said, output.status.code())
}

#[test]
fn the_doctor_says_what_is_wrong_and_so_does_its_exit_code() {
    let config = ("config.yaml", "skills: ['docs/*.md']\n");
    let (said, code) = doctor(&[config, ("docs/a.md", "# A")]);
    assert_eq!(code, Some(0), "{said:#}");
    assert_eq!(said["healthy"], true);
    assert_eq!(said["skills"][0]["id"], "a");
    assert_eq!(said["patterns"]["skills"][0]["files"], 1);

    let (said, code) = doctor(&[config, ("docs/A.md", "# A")]);
    assert_eq!(code, Some(1), "{said:#}");
    let reason = said["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("has 'A'"), "{reason}");

    let (said, code) = doctor(&[]);
    assert_eq!(code, Some(1));
    assert!(
        said["warnings"][0]
            .as_str()
            .unwrap()
            .contains("config.yaml")
    );
}
