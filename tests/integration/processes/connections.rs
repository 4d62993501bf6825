//! Clients that connect and send nothing.

#![cfg(unix)]

use skills_test_support::engine::Peer;
use skills_test_support::process::{SkillsProcess, skills_command, skills_path};
use skills_test_support::raw_request::request;
use tokio::net::TcpStream;

/// Files that the process may open.
const HANDLES: usize = 128;

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_keep_nobody_out() {
    let data = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new("sh");
    command.envs(
        skills_command()
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let limited = format!("ulimit -n {HANDLES}; exec \"$0\" \"$@\"");
    command.args([
        "-c",
        &limited,
        &skills_path(),
        "serve",
        "--log-format",
        "json",
    ]);
    command.args([
        "--url",
        "ws://127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--data-dir",
    ]);
    command.arg(data.path());
    let mut process = SkillsProcess::spawn(command);
    let ready = process.wait_for_log("ready").await;
    let url = ready["workers"].as_str().unwrap();
    let http = ready["mcp"].as_str().unwrap();
    let http = http.strip_prefix("http://").unwrap();
    let http = http.strip_suffix("/mcp").unwrap();
    let mut silent = Vec::new();
    for address in [url.strip_prefix("ws://").unwrap(), http] {
        for _ in 0..HANDLES + 20 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
    }
    let peer = Peer::connect(url, "peer").await;
    peer.register_skill("a", "# A").await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {http}\r\n\r\n");
    assert_eq!(request(http, &head).await.1, Some(200));
    assert_eq!(peer.read("iii://a").await.unwrap(), "# A");
    let (status, log) = process.terminate().await;
    assert!(status.success());
    assert!(!log.contains("cannot accept"), "{log}");
}
