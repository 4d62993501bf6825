//! Markdown files as a source: what is served, what is logged at the start, and events of edits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use skills_test_support::engine::{Peer, TestEngine, next_event};
use skills_test_support::files::{replace, write};
use skills_test_support::process::{Addresses, SkillsProcess};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn files_are_served_beside_registered_skills() {
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

    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&data, &more).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(peer.skill_ids().await, ["house/style", "taken"]);
    assert_eq!(peer.read("iii://taken").await.unwrap(), "# From a file\n");
    peer.register_skill("taken", "# From a worker").await;
    assert_eq!(peer.read("iii://taken").await.unwrap(), "# From a worker");
    let index = peer.read("iii://skills").await.unwrap();
    assert!(
        index.contains("## Custom skills") && index.contains("House style"),
        "{index}"
    );
    let listed = peer.call("prompts::list", json!({})).await.unwrap();
    assert_eq!(listed["prompts"][0]["origin"], "fs", "{listed}");
    let arguments = json!({ "name": "open-pr", "arguments": { "any": "thing" } });
    let got = peer.call("prompts::mcp-get", arguments).await.unwrap();
    assert_eq!(got["messages"][0]["role"], "user");
    assert_eq!(got["messages"][0]["content"]["text"], "Open it.\n");
    // An edit is served without a restart.
    write(
        dir,
        "docs/house/style.md",
        "# Other style\n\nHow we write.\n",
    );
    let body = peer.read("iii://house/style").await.unwrap();
    assert!(body.starts_with("# Other style"), "{body}");
    serve.kill().await;

    let mut restarted = SkillsProcess::start_serve(&data, &["--config", config.to_str().unwrap()]);
    let loaded = restarted.wait_for_log("skill file loaded").await;
    let path = dir.join("docs/house/style.md");
    assert_eq!(loaded["path"], path.to_str().unwrap(), "{loaded}");
    let skipped = restarted.wait_for_log("docs/README.md").await;
    assert_eq!(skipped["level"], "WARN");
    assert!(skipped["reason"].as_str().unwrap().contains("has 'R'"));
    let totals = restarted.wait_for_log("\"files\"").await;
    assert_eq!(
        (&totals["skills"], &totals["prompts"], &totals["skipped"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let hidden = restarted
        .wait_for_log("a worker registered a skill with this id")
        .await;
    assert_eq!(hidden["name"], "taken");
}

/// With an embedded engine, and as a worker on another.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_files_are_events() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(
        dir,
        "config.yaml",
        "skills: ['docs/**/*.md']\nprompts: ['later/*.md']\n",
    );
    replace(dir, "docs/old.md", "# Old\n");
    let config = dir.join("config.yaml");
    let config = config.to_str().unwrap();
    let (serve, Addresses { url, .. }) =
        SkillsProcess::serve(&dir.join("data"), &["--config", config]).await;
    check_events_of_files(dir, &url).await;
    serve.kill().await;

    fs::remove_dir_all(dir.join("later")).unwrap();
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &["--config", config]);
    worker.wait_for_log("serving").await;
    check_events_of_files(dir, &engine.url).await;
}

async fn check_events_of_files(dir: &Path, url: &str) {
    let peer = Peer::connect(url, "peer").await;
    let mut skills = peer.subscribe("skills::on-change", "peer::on-skills");
    let mut prompts = peer.subscribe("prompts::on-change", "peer::on-prompts");
    let taken = json!({ "id": "taken", "skill": "# From a worker" });
    peer.call_until_ok("skills::register", taken).await;
    let probe = wait_for_probe(dir, &mut skills).await;
    let mut expect = async |op: &str, id: &str| {
        // More of these events can still arrive.
        let registered = json!({ "op": "register", "id": "taken" });
        let mut event = next_event(&mut skills).await;
        while event == probe || event == registered {
            event = next_event(&mut skills).await;
        }
        assert_eq!(event, json!({ "op": op, "id": id }));
    };
    replace(dir, "docs/new/a.md", "# A\n");
    expect("register", "new/a").await;
    // No events: a registered skill shadows the first file, and the second has an invalid id.
    replace(dir, "docs/taken.md", "# From a file\n");
    replace(dir, "docs/README.md", "# No id\n");
    replace(dir, "docs/new/a.md", "# B\n");
    expect("register", "new/a").await;
    fs::remove_file(dir.join("docs/taken.md")).unwrap();
    fs::remove_dir_all(dir.join("docs/new")).unwrap();
    expect("unregister", "new/a").await;
    replace(dir, "docs/new/b.md", "# B\n");
    expect("register", "new/b").await;
    fs::remove_dir_all(dir.join("docs/new")).unwrap();
    expect("unregister", "new/b").await;

    // A folder that did not exist when the program started.
    replace(dir, "later/x.md", "---\ndescription: x\n---\nHi\n");
    let expected = json!({ "op": "register", "name": "x" });
    assert_eq!(next_event(&mut prompts).await, expected);
}

/// Writes a file until its event arrives: then the subscription and the watcher are in place.
pub(super) async fn wait_for_probe(dir: &Path, skills: &mut UnboundedReceiver<Value>) -> Value {
    let probe = json!({ "op": "register", "id": "probe" });
    let interval = Duration::from_millis(300);
    for n in 0.. {
        replace(dir, "docs/probe.md", format!("# Probe {n}\n"));
        let event = timeout(interval, next_event(skills)).await;
        if event.is_ok_and(|event| event == probe) {
            break;
        }
        assert!(n < 200, "no event arrived");
    }
    probe
}

/// A list without files would tell every reader that they were deleted.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn without_file_handles_a_list_is_an_error_and_no_file_is_unregistered() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(
        dir,
        "config.yaml",
        "skills: ['docs/**/*.md']\nprompts: ['prompts/*.md']\n",
    );
    write(dir, "docs/a/b.md", "# B\n");
    write(dir, "prompts/p.md", "---\ndescription: d\n---\nHi\n");
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (mut serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    let mut skills = peer.subscribe("skills::on-change", "peer::on-skills");
    let probe = wait_for_probe(dir, &mut skills).await;

    serve.limit_handles(3).await;
    for (function, input) in [
        ("skills::list", json!({})),
        ("skills::resources-list", json!({})),
        ("skills::resources-read", json!({ "uri": "iii://skills" })),
        ("skills::resources-read", json!({ "uri": "iii://a/b" })),
        ("prompts::list", json!({})),
    ] {
        let error = peer.call(function, input).await.unwrap_err();
        assert!(error.contains("Too many open files"), "{function}: {error}");
    }
    fs::write(dir.join("docs/probe.md"), "# Other\n").unwrap();
    serve.wait_for_log("could not list the skill files").await;

    serve.limit_handles(1024).await;
    replace(dir, "docs/new.md", "# New\n");
    let mut event = next_event(&mut skills).await;
    while event == probe {
        event = next_event(&mut skills).await;
    }
    assert_eq!(event, json!({ "op": "register", "id": "new" }));
    assert_eq!(peer.skill_ids().await, ["a/b", "new", "probe"]);
}

/// The files are followed before the server is ready, so no edit after that is missed.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_right_after_ready_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    for n in 0..300 {
        replace(dir, &format!("skills/s{n}.md"), "# Before\n");
    }
    let skills = dir.join("skills");
    let (mut serve, _) = SkillsProcess::serve(&dir.join("data"), &[skills.to_str().unwrap()]).await;
    replace(dir, "skills/s299.md", "# After\n");
    let edit = serve.wait_for_log("skill file added or changed").await;
    assert_eq!(edit["id"], "s299");
}
