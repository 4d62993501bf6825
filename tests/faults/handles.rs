//! The process is out of file handles, and then it has some again.

use std::fs;
use std::process::Command;

use serde_json::json;
use skills_test_support::engine::{Peer, next_event};
use skills_test_support::files::{replace, write};
use skills_test_support::process::{SkillsProcess, serve_arguments, skills_path};
use skills_test_support::usage::{Usage, set_limit};
use tokio::net::TcpStream;

use super::support::healthz;

#[tokio::test(flavor = "multi_thread")]
async fn out_of_handles_no_skill_disappears_and_none_is_announced_as_gone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    for name in ["a", "b", "sub/c"] {
        write(dir, &format!("docs/{name}.md"), format!("# {name}\n"));
    }
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (serve, addresses) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    assert_eq!(peer.skill_ids().await, ["a", "b", "sub/c"]);

    // No handle can be opened: all numbers below the limit are in use.
    let handles = Usage::of(serve.pid()).unwrap().handles;
    set_limit(serve.pid(), &format!("--nofile={handles}:"));
    write(dir, "docs/sub/c.md", "# Changed\n");
    for _ in 0..20 {
        // An error or the whole list, and never a part of it.
        match peer.call("skills::list", json!({})).await {
            Ok(list) => assert_eq!(list["skills"].as_array().unwrap().len(), 3, "{list}"),
            Err(error) => assert!(error.contains("open files"), "{error}"),
        }
        if let Ok(index) = peer.read("iii://skills").await {
            assert!(index.contains("iii://sub/c"), "{index}");
        }
    }

    set_limit(serve.pid(), "--nofile=1024:");
    assert_eq!(peer.skill_ids().await, ["a", "b", "sub/c"]);
    // The watcher works too: repeated, because the first change may fall into its recovery.
    let mut seen = Vec::new();
    replace(dir, "docs/d.md", "# D\n");
    while seen
        .last()
        .is_none_or(|event: &serde_json::Value| event["id"] != "d")
    {
        seen.push(next_event(&mut events).await);
    }
    let gone: Vec<_> = seen
        .iter()
        .filter(|event| event["op"] == "unregister")
        .collect();
    assert!(gone.is_empty(), "{gone:?}");
}

/// The connections of others do not take the handles that state and files need, and a new client is
/// accepted after them.
#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_lock_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    // The usual limit, from the start.
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 1024; exec \"$0\" \"$@\""])
        .arg(skills_path())
        .args(serve_arguments(dir.path(), &[]));
    let mut serve = SkillsProcess::spawn(command);
    let addresses = serve.wait_until_ready().await;
    let mut silent = Vec::new();
    for _ in 0..1_100 {
        for address in [addresses.workers(), addresses.http] {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
    }
    let peer = Peer::connect(&addresses.url, "peer").await;
    peer.register_skill("a", "# A").await;
    assert_eq!(peer.skill_ids().await, ["a"]);
    let (status, health) = healthz(addresses.http).await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{health}");
}
