//! `skills serve`: ports, signals, crashes, and a data directory shared by two.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use skills_test_support::engine::{Peer, next_event};
use skills_test_support::files::replace;
use skills_test_support::process::{Addresses, SkillsProcess};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_kill() {
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
async fn a_polite_signal_ends_it_cleanly() {
    let dir = tempfile::tempdir().unwrap();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let _connected = Peer::connect(&url, "peer").await;
    let (status, said) = serve.terminate().await;
    assert!(status.success(), "{said}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_happens_every_day_is_no_warning() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &std::fs::canonicalize(dir.path()).unwrap();
    replace(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    replace(dir, "docs/sub/a.md", "# A\n");
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    let mut notices = peer.subscribe("skills::on-change", "peer::heard");
    // Once an edit is heard of, files are followed.
    for n in 0.. {
        replace(dir, "docs/sub/a.md", &format!("# A{n}\n"));
        let asked = Duration::from_millis(300);
        if timeout(asked, next_event(&mut notices)).await.is_ok() {
            break;
        }
        assert!(n < 200, "no edit was ever told of");
    }
    // A folder goes, and the notice after that says that the program has looked again.
    std::fs::remove_dir_all(dir.join("docs/sub")).unwrap();
    while next_event(&mut notices).await["op"] != "unregister" {}
    replace(dir, "docs/b.md", "# B\n");
    assert_eq!(next_event(&mut notices).await["id"], "b");
    // Somebody looks whether anybody listens.
    let address = url.strip_prefix("ws://").unwrap();
    drop(tokio::net::TcpStream::connect(address).await.unwrap());
    peer.skill_ids().await;
    let (_, said) = serve.terminate().await;
    assert!(!said.contains("WARN"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_an_error_that_says_who_might_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let second = tempfile::tempdir().unwrap();
    let second = SkillsProcess::start_serve(second.path(), &["--url", &url]);
    let (status, said) = second.wait().await;
    assert_eq!(status.code(), Some(5), "{said}");
    assert!(
        said.contains("cannot listen on") && said.contains("may be running"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_is_a_file_is_an_error_that_names_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let (status, said) = SkillsProcess::start_serve(file.path(), &[]).wait().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains(path), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_data_directory_see_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (_one, Addresses { url: first, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let (_two, Addresses { url: second, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let here = Peer::connect(&first, "here").await;
    let there = Peer::connect(&second, "there").await;
    let mut notices = there.subscribe("skills::on-change", "there::heard");
    there.register_skill("warm", "W").await;
    assert_eq!(next_event(&mut notices).await["id"], "warm");
    here.register_skill("shared", "# Shared").await;
    assert_eq!(
        next_event(&mut notices).await,
        json!({ "op": "register", "id": "shared" })
    );
    assert_eq!(there.read("iii://shared").await.unwrap(), "# Shared");
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
