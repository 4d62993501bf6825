//! `skills serve`: ports, signals, crashes, tokens, and two processes on one data directory.

use std::time::Duration;

use serde_json::json;
use skills_test_support::engine::{Peer, next_event};
use skills_test_support::files::replace;
use skills_test_support::process::{Addresses, SkillsProcess, output_of, skills_command};
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_survive_sigkill() {
    let dir = tempfile::tempdir().unwrap();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    for n in 0..50 {
        peer.register_skill(&format!("s{n}"), &format!("# Skill {n}"))
            .await;
    }
    let prompt = json!({ "name": "p", "description": "d", "function_id": "w::p" });
    peer.call("prompts::register", prompt).await.unwrap();
    serve.kill().await;
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(peer.skill_ids().await.len(), 50);
    assert_eq!(peer.read("iii://s49").await.unwrap(), "# Skill 49");
    let prompts = peer.call("prompts::list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"][0]["name"], "p");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_it_without_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let _connected = Peer::connect(&url, "peer").await;
    let (status, stderr) = serve.terminate().await;
    assert!(status.success(), "{stderr}");
}

/// Counts are written when the process stops; a kill loses what was counted since the last write,
/// never what was written.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn counts_of_use_survive_a_restart_and_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let fetched = async |peer: &Peer| {
        let stats = peer.call("skills::stats", json!({})).await.unwrap();
        stats["skills"][0]["fetched"].as_u64().unwrap()
    };
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    peer.register_skill("a", "# A").await;
    peer.read("iii://a").await.unwrap();
    peer.read("iii://a").await.unwrap();
    assert_eq!(fetched(&peer).await, 2);
    let (status, stderr) = serve.terminate().await;
    assert!(status.success(), "{stderr}");
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(fetched(&peer).await, 2);
    peer.read("iii://a").await.unwrap();
    assert_eq!(fetched(&peer).await, 3);
    serve.kill().await;
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    assert!((2..=3).contains(&fetched(&peer).await));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ordinary_events_log_no_warning() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &std::fs::canonicalize(dir.path()).unwrap();
    replace(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    replace(dir, "docs/sub/a.md", "# A\n");
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    // The first event shows that the watcher is in place.
    for n in 0.. {
        replace(dir, "docs/sub/a.md", format!("# A{n}\n"));
        let interval = Duration::from_millis(300);
        if timeout(interval, next_event(&mut events)).await.is_ok() {
            break;
        }
        assert!(n < 200, "no event arrived");
    }
    // The event of the next file shows that the removal of the folder was handled.
    std::fs::remove_dir_all(dir.join("docs/sub")).unwrap();
    while next_event(&mut events).await["op"] != "unregister" {}
    replace(dir, "docs/b.md", "# B\n");
    assert_eq!(next_event(&mut events).await["id"], "b");
    // A connection without a handshake, as a port check makes it.
    let address = url.strip_prefix("ws://").unwrap();
    drop(tokio::net::TcpStream::connect(address).await.unwrap());
    peer.skill_ids().await;
    let (_, stderr) = serve.terminate().await;
    assert!(!stderr.contains("WARN"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_an_error_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let (_serve, Addresses { url, http }) = SkillsProcess::serve(dir.path(), &[]).await;
    let second = tempfile::tempdir().unwrap();
    let second = SkillsProcess::start_serve(second.path(), &["--url", &url]);
    let (status, stderr) = second.wait().await;
    assert_eq!(status.code(), Some(5), "{stderr}");
    assert!(
        stderr.contains("the port is in use")
            && stderr.contains("`skills` without `serve` joins it"),
        "{stderr}"
    );
    // An engine does not listen there, and `skills` could not join it.
    let http = http.to_string();
    let third = tempfile::tempdir().unwrap();
    let third = SkillsProcess::start_serve(third.path(), &["--http", &http]);
    let (status, stderr) = third.wait().await;
    assert_eq!(status.code(), Some(5), "{stderr}");
    assert!(
        stderr.contains("choose another with --http") && !stderr.contains("joins"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_is_a_file_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let (status, stderr) = SkillsProcess::start_serve(file.path(), &[]).wait().await;
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(path), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_data_directory_exchange_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (_one, Addresses { url: first, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let (_two, Addresses { url: second, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let first_peer = Peer::connect(&first, "first").await;
    let second_peer = Peer::connect(&second, "second").await;
    let mut events = second_peer.subscribe("skills::on-change", "second::on-change");
    second_peer.register_skill("warm", "W").await;
    assert_eq!(next_event(&mut events).await["id"], "warm");
    first_peer.register_skill("shared", "# Shared").await;
    assert_eq!(
        next_event(&mut events).await,
        json!({ "op": "register", "id": "shared" })
    );
    assert_eq!(second_peer.read("iii://shared").await.unwrap(), "# Shared");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_required_where_one_is_set() {
    let dir = tempfile::tempdir().unwrap();
    let (_serve, Addresses { url, .. }) =
        SkillsProcess::serve(dir.path(), &["--token", "s3cret"]).await;
    let refused =
        skills_iii::Client::connect(&url, skills_iii::ClientOptions::named("no")).unwrap();
    let options = skills_iii::ClientOptions {
        token: Some("s3cret".into()),
        ..skills_iii::ClientOptions::named("yes")
    };
    let admitted = skills_iii::Client::connect(&url, options).unwrap();
    admitted.wait_connected().await.unwrap();
    assert!(refused.worker_id().is_none());
    assert_eq!(Peer(admitted).skill_ids().await, [""; 0]);
}

/// A server with such a token would start, and no client could connect.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_no_client_can_send_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for (token, problem) in [
        ("", "it is empty"),
        (
            " ",
            "its character 1 is not visible ASCII, or a space at an end",
        ),
        (
            "s\u{e9}cret",
            "its character 2 is not visible ASCII, or a space at an end",
        ),
    ] {
        let option = SkillsProcess::start_serve(dir.path(), &["--token", token]);
        let mut command = skills_command();
        command.args(["list", "--json"]).env("SKILLS_TOKEN", token);
        let variable = output_of(command, "");
        let (status, stderr) = option.wait().await;
        assert_eq!(status.code(), Some(2), "{stderr}");
        assert_eq!(variable.status.code(), Some(2));
        for text in [stderr, String::from_utf8(variable.stdout).unwrap()] {
            assert!(text.contains("--token or SKILLS_TOKEN"), "{text}");
            assert!(text.contains(problem), "{text}");
            assert!(
                text.contains("visible ASCII characters; leave it out"),
                "{text}"
            );
            assert!(!text.contains("cret"), "a secret is repeated: {text}");
        }
    }
}
