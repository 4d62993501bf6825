//! The log is not read, or cannot be written.

use std::fs::File;
use std::process::Stdio;

use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::process::{SkillsProcess, serve_arguments, skills_command};
use skills_test_support::raw_socket::{RawSocket, text_frame};
use skills_test_support::{NO_ENGINE, TIMEOUT};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

/// `skills serve` on a port that is chosen here, because the log that names it is not read.
async fn serve(dir: &std::path::Path, stderr: Stdio) -> (Child, String) {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", free.local_addr().unwrap());
    drop(free);
    let mut command = skills_command();
    command.args(serve_arguments(dir, &["--url", &url]));
    let child = Command::from(command)
        .stdin(Stdio::null())
        .stderr(stderr)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    (child, url)
}

async fn connect(url: &str) -> Peer {
    let peer = timeout(TIMEOUT, Peer::connect(url, "peer")).await.unwrap();
    peer.call_until_ok("skills::list", json!({})).await;
    peer
}

async fn terminate(mut child: Child) {
    let pid = child.id().unwrap().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(sent.unwrap().success());
    let status = timeout(TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

/// Sends frames that are worth a complaint, and waits until they were handled.
async fn send_bad_frames(url: &str, count: usize) {
    let address = url.trim_start_matches("ws://").parse().unwrap();
    let mut socket = RawSocket::connect(address).await.unwrap();
    socket
        .send(&text_frame("{ not a message").repeat(count))
        .await
        .unwrap();
    socket
        .send(&text_frame(r#"{"type":"ping"}"#))
        .await
        .unwrap();
    let (mut received, _sender) = socket.split();
    let mut bytes = Vec::new();
    let read = async {
        while !String::from_utf8_lossy(&bytes).contains(r#""pong""#) {
            let more = received.read_buf(&mut bytes).await.unwrap();
            assert!(more > 0, "the connection ended");
        }
    };
    timeout(TIMEOUT, read).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_answers_when_the_reader_of_its_stderr_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    // A warning before the first answer.
    let config = dir.path().join("config.yaml");
    std::fs::write(&config, "colour: blue\n").unwrap();
    let mut command = skills_command();
    command
        .args(["mcp", "--url", NO_ENGINE, "--config"])
        .arg(config)
        .arg("--data-dir")
        .arg(dir.path())
        .env("RUST_LOG", "debug");
    let mut child = Command::from(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(PING.as_bytes()).await.unwrap();
    let answer = timeout(TIMEOUT, answers.next_line()).await.unwrap();
    let answer: Value = serde_json::from_str(&answer.unwrap().unwrap()).unwrap();
    assert_eq!(answer["id"], 1);
    drop(stdin);
    let status = timeout(TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn serve_works_when_the_disk_of_its_log_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (child, url) = serve(dir.path(), full.into()).await;
    let peer = connect(&url).await;
    send_bad_frames(&url, 100).await;
    peer.register_skill("a", "# A").await;
    terminate(child).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_blocks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // Held open and never read.
    let (reader, writer) = std::io::pipe().unwrap();
    let (child, url) = serve(dir.path(), writer.into()).await;
    let peer = connect(&url).await;
    send_bad_frames(&url, 4_500).await;
    peer.register_skill("a", "# A").await;
    assert_eq!(peer.skill_ids().await, ["a"]);
    terminate(child).await;
    drop(reader);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_complaints_are_few_lines() {
    let dir = tempfile::tempdir().unwrap();
    let (process, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    send_bad_frames(&addresses.url, 4_500).await;
    let (status, stderr) = process.terminate().await;
    assert!(status.success(), "{stderr}");
    let lines = stderr.lines().count();
    assert!(lines < 100, "{lines} lines for 4,500 frames");
}
