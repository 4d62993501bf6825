//! The log: stderr that is closed, full or not read, and repeated complaints.

use std::process::{Command as StdCommand, Stdio};

use skills_test_support::TIMEOUT;
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};
use skills_test_support::raw_request::{UPGRADE, connect_worker, request, wait_processed};
use skills_test_support::raw_socket::text_frame;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// `skills serve` on a free port for workers, with its address.
fn serve(data: &std::path::Path) -> (StdCommand, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let mut command = skills_command();
    command
        .args(["serve", "--url", &url, "--http", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(data);
    (command, url)
}

fn spawn(command: StdCommand, stderr: impl Into<Stdio>) -> Child {
    let mut command = Command::from(command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true);
    command.spawn().unwrap()
}

/// Ends a process as an operator does.
async fn terminate(mut child: Child) {
    let pid = child.id().unwrap().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(sent.unwrap().success());
    let status = timeout(TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn mcp_answers_where_the_reader_of_stderr_is_gone() {
    let data = tempfile::tempdir().unwrap();
    let (reader, stderr) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = skills_command();
    command.arg("mcp").arg("--data-dir").arg(data.path());
    let mut child = spawn(command, stderr);
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    to.write_all(ping).await.unwrap();
    let mut line = String::new();
    let mut from = BufReader::new(from);
    let read = timeout(TIMEOUT, from.read_line(&mut line)).await;
    read.unwrap().unwrap();
    assert!(line.contains("result"), "{line:?}");
    drop(to);
    let status = timeout(TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn serve_runs_on_a_full_log_disk() {
    let data = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let (command, url) = serve(data.path());
    let child = spawn(command, full.unwrap());
    let peer = Peer::connect(&url, "peer").await;
    peer.register_skill("a", "# A").await;
    assert_eq!(peer.read("iii://a").await.unwrap(), "# A");
    terminate(child).await;
}

/// More log lines than the pipe and the buffer hold, from frames that are all different.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_blocks_nothing_and_is_counted() {
    let data = tempfile::tempdir().unwrap();
    let (mut command, url) = serve(data.path());
    command.env("RUST_LOG", "trace");
    let mut child = spawn(command, Stdio::piped());
    let peer = Peer::connect(&url, "peer").await;
    let mut worker = connect_worker(&url).await;
    let frames = (0..5000).map(|number| text_frame(&format!("{{\"type\":\"odd{number}\"}}")));
    let frames = frames.collect::<Vec<_>>().concat();
    let written = timeout(TIMEOUT, worker.write_all(&frames)).await;
    written.unwrap().unwrap();
    wait_processed(&mut worker).await;
    peer.register_skill("a", "# A").await;
    assert_eq!(peer.read("iii://a").await.unwrap(), "# A");
    // Once the pipe is read, the log says what is missing.
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    loop {
        let line = timeout(TIMEOUT, log.next_line()).await.unwrap().unwrap();
        let line = line.expect("the log has a line about dropped lines");
        if line.contains("log lines were dropped") {
            assert!(line.contains("dropped="), "{line}");
            break;
        }
    }
    terminate(child).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_a_process_whose_log_nobody_reads() {
    let data = tempfile::tempdir().unwrap();
    let (mut command, url) = serve(data.path());
    command.env("RUST_LOG", "trace");
    let child = spawn(command, Stdio::piped());
    let peer = Peer::connect(&url, "peer").await;
    let mut worker = connect_worker(&url).await;
    let frames = text_frame("{\"type\":\"odd\"}").repeat(5000);
    let written = timeout(TIMEOUT, worker.write_all(&frames)).await;
    written.unwrap().unwrap();
    wait_processed(&mut worker).await;
    peer.register_skill("a", "# A").await;
    terminate(child).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_complaint_is_one_line_and_a_count() {
    const REFUSALS: usize = 100;
    let dir = tempfile::tempdir().unwrap();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let address = url.strip_prefix("ws://").unwrap();
    for _ in 0..REFUSALS {
        let head = format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{UPGRADE}\r\n");
        assert_eq!(request(address, &head).await.1, Some(403));
    }
    let (_, log) = serve.terminate().await;
    let refused = |line: &&str| line.contains("refused a connection");
    let lines: Vec<_> = log.lines().filter(refused).collect();
    let [first, count] = lines[..] else {
        panic!("{log}");
    };
    assert!(
        first.contains("\"message\":\"refused a connection\""),
        "{first}"
    );
    assert!(count.contains("more lines like"), "{count}");
    assert!(
        count.contains(&format!("\"count\":{}", REFUSALS - 1)),
        "{count}"
    );
}
