//! `skills watch`: changes of a local registry and of one on an engine.

use serde_json::{Value, json};
use skills_test_support::NO_ENGINE;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};

use super::transcript::Transcript;

/// Starts a watch on the data directory of `s`, unless `more` has another target, and waits until
/// it has begun.
async fn watch(s: &Transcript, more: &[&str]) -> SkillsProcess {
    let mut command = skills_command();
    command
        .arg("watch")
        .args(more)
        .env("SKILLS_URL", NO_ENGINE)
        .env("SKILLS_DATA_DIR", s.path("data"))
        .current_dir(s.path("."));
    let mut watch = SkillsProcess::spawn(command);
    watch.wait_for_log("note: watching; Ctrl-C ends it").await;
    watch
}

/// The next line without its time.
async fn line(watch: &mut SkillsProcess) -> String {
    let line = watch.stdout_line().await;
    let (time, rest) = line.split_once(' ').expect("a time");
    assert!(
        time.len() == "14:03:22Z".len() && time.ends_with('Z'),
        "{line}"
    );
    rest.to_owned()
}

#[tokio::test]
async fn every_change_is_a_line() {
    let s = Transcript::new();
    let mut watch = watch(&s, &["--count", "3"]).await;
    s.run_with("skills register a/b -", "# B\n");
    assert_eq!(line(&mut watch).await, "register   skill  a/b: registered");
    s.run("skills prompts register p --function w::p --description d");
    assert_eq!(line(&mut watch).await, "register   prompt p: registered");
    s.run("skills unregister nothing");
    s.run("skills unregister a/b");
    // The other process may record the version of the removal a moment later.
    let removed = line(&mut watch).await;
    let reasons = ["unregistered", "no longer registered"];
    let lines = reasons.map(|reason| format!("unregister skill  a/b: {reason}"));
    assert!(lines.contains(&removed), "{removed}");
    assert!(
        watch.wait().await.0.success(),
        "it ends after three changes"
    );
}

#[tokio::test]
async fn what_happened_to_a_registered_skill_is_told() {
    let s = Transcript::new();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&s.path("data"), &[]).await;
    let mut watch = watch(&s, &["--url", &url]).await;
    s.file("one.md", "# One\n").file("two.md", "# Two\n");
    for (command, expected) in [
        ("register a one.md", "register   skill  a: registered"),
        (
            "register a one.md --owner mailer",
            "register   skill  a: registered again, unchanged, owner mailer",
        ),
        (
            "register a two.md --owner mailer",
            "register   skill  a: replaced, owner mailer",
        ),
        (
            "rollback a 1",
            "register   skill  a: rolled back to version 1, owner mailer",
        ),
        (
            "gc",
            "unregister skill  a: removed by `skills gc`, owner mailer",
        ),
        (
            "rollback a 2",
            "register   skill  a: rolled back to version 2",
        ),
        ("unregister a", "unregister skill  a: unregistered"),
    ] {
        s.run(&format!("skills {command} --url {url}"));
        assert_eq!(line(&mut watch).await, expected, "after {command}");
    }
}

#[tokio::test]
async fn every_change_is_a_json_document() {
    let s = Transcript::new();
    let mut watch = watch(&s, &["--json", "--count", "1"]).await;
    s.run_with("skills register a - --owner w", "# A\n");
    let line: Value = serde_json::from_str(&watch.stdout_line().await).unwrap();
    assert_eq!(line["command"], "watch");
    let mut data = line["data"].clone();
    let at = data["at"].take();
    assert!(at.as_str().is_some_and(|at| at.ends_with('Z')), "{at}");
    let expected = json!({
        "at": null, "op": "register", "kind": "skill", "id": "a", "reason": "registered",
        "origin": "state", "owner": "w",
    });
    assert_eq!(data, expected);
    assert!(watch.wait().await.0.success());
}

#[tokio::test]
async fn a_file_is_a_change_unless_a_registered_skill_hides_it() {
    let s = Transcript::new();
    s.file("config.yaml", "skills:\n  - docs/*.md\n")
        .file("docs/seen.md", "# Seen\n");
    s.run_with("skills register hidden -", "# Registered\n");
    let mut watch = watch(&s, &["--count", "3"]).await;
    s.file("docs/hidden.md", "# Hidden\n")
        .file("docs/new.md", "# New\n");
    assert_eq!(line(&mut watch).await, "register   skill  new: file added");
    s.file("docs/seen.md", "# Seen and edited\n");
    assert_eq!(
        line(&mut watch).await,
        "register   skill  seen: file edited"
    );
    std::fs::remove_file(s.path("docs/seen.md")).unwrap();
    assert_eq!(
        line(&mut watch).await,
        "unregister skill  seen: file removed"
    );
    assert!(watch.wait().await.0.success());
}

#[cfg(unix)]
#[tokio::test]
async fn sigint_ends_it_without_an_error() {
    let s = Transcript::new();
    let watch = watch(&s, &[]).await;
    watch.signal("INT").await;
    assert!(watch.wait().await.0.success());
}

#[tokio::test]
async fn a_closed_stdout_ends_it_without_an_error() {
    let s = Transcript::new();
    let mut watch = watch(&s, &[]).await;
    watch.stdout = None;
    // Repeated: a process that another test is starting holds this end of the pipe until it
    // runs.
    let ended = (0..500).find_map(|n| {
        s.run_with("skills register a -", format!("# {n}\n"));
        watch.try_wait()
    });
    assert!(ended.expect("it ends").success());
}

#[tokio::test]
async fn the_loss_of_the_engine_is_reported() {
    let s = Transcript::new();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&s.path("data"), &[]).await;
    let mut watch = watch(&s, &["--url", &url]).await;
    s.run_with(&format!("skills register a - --url {url}"), "# A\n");
    assert_eq!(line(&mut watch).await, "register   skill  a: registered");
    serve.kill().await;
    let warning = watch.stderr_line().await.unwrap();
    assert!(
        warning.starts_with("warning: the engine disconnected ("),
        "{warning}"
    );
    assert!(warning.ends_with("); reconnecting"), "{warning}");
}
