//! `skills mcp` on pipes, files and sockets: it responds and it ends.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use serde_json::Value;
use skills_test_support::process::skills_command;
use skills_test_support::{NO_ENGINE, TIMEOUT};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

/// `skills mcp` on a data directory.
fn command(data: &Path) -> Command {
    let mut command = Command::from(skills_command());
    command
        .args(["mcp", "--url", NO_ENGINE, "--data-dir"])
        .arg(data)
        .current_dir(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

async fn wait(mut child: Child) -> ExitStatus {
    timeout(TIMEOUT, child.wait()).await.unwrap().unwrap()
}

/// Sends a ping and reads the response.
async fn ping(to: &mut (impl AsyncWrite + Unpin), from: &mut (impl AsyncRead + Unpin)) {
    to.write_all(PING.as_bytes()).await.unwrap();
    let mut line = String::new();
    let mut from = BufReader::new(from);
    timeout(TIMEOUT, from.read_line(&mut line))
        .await
        .unwrap()
        .unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["id"], 1);
}

#[tokio::test]
async fn the_end_of_a_pipe_ends_it() {
    let data = TempDir::new().unwrap();
    let mut child = command(data.path()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    to.write_all(PING.repeat(100).as_bytes()).await.unwrap();
    drop(to);
    let mut output = String::new();
    timeout(TIMEOUT, from.read_to_string(&mut output))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(output.lines().count(), 100);
    assert!(wait(child).await.success());
}

#[tokio::test]
async fn files_are_valid_streams() {
    let data = TempDir::new().unwrap();
    let (input, output) = (data.path().join("in"), data.path().join("out"));
    std::fs::write(&input, PING.repeat(2000)).unwrap();
    let child = command(data.path())
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(std::fs::File::create(&output).unwrap())
        .spawn()
        .unwrap();
    assert!(wait(child).await.success());
    let output = std::fs::read_to_string(output).unwrap();
    assert_eq!(output.lines().count(), 2000);
}

#[tokio::test]
async fn a_closed_stdout_is_not_an_error() {
    let data = TempDir::new().unwrap();
    let mut child = command(data.path()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    ping(&mut to, &mut from).await;
    drop(from);
    // Repeated: a process that another test is starting holds this end of the pipe until it
    // runs.
    let write = async { while to.write_all(PING.as_bytes()).await.is_ok() {} };
    let (status, ()) = tokio::join!(wait(child), write);
    assert!(status.success());
}

/// Requests wait to be read, because responses wait to be read.
#[cfg(unix)]
#[tokio::test]
async fn the_end_of_a_pipe_ends_it_while_its_output_is_not_read() {
    let data = TempDir::new().unwrap();
    let mut child = command(data.path()).spawn().unwrap();
    let (mut to, _from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    to.write_all(PING.repeat(3000).as_bytes()).await.unwrap();
    drop(to);
    assert!(wait(child).await.success());
}

#[cfg(unix)]
mod unix {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream as StdStream;

    use tokio::net::UnixStream;

    use super::*;

    async fn terminate(child: Child) {
        let pid = child.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().await;
        assert!(sent.unwrap().success());
        assert!(wait(child).await.success());
    }

    #[tokio::test]
    async fn a_signal_ends_it_while_its_pipe_stays_open() {
        let data = TempDir::new().unwrap();
        let mut child = command(data.path()).spawn().unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        ping(&mut to, &mut from).await;
        terminate(child).await;
    }

    /// Node gives its children sockets.
    fn on_sockets(data: &Path) -> (Child, UnixStream, UnixStream) {
        let open = || {
            let (ours, theirs) = StdStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            (UnixStream::from_std(ours).unwrap(), OwnedFd::from(theirs))
        };
        let ((to, input), (from, output)) = (open(), open());
        // Dropping the command closes its ends.
        let child = command(data).stdin(input).stdout(output).spawn().unwrap();
        (child, to, from)
    }

    #[tokio::test]
    async fn a_signal_ends_it_while_its_socket_stays_open() {
        let data = TempDir::new().unwrap();
        let (child, mut to, mut from) = on_sockets(data.path());
        ping(&mut to, &mut from).await;
        terminate(child).await;
    }

    #[tokio::test]
    async fn the_end_of_a_socket_ends_it() {
        let data = TempDir::new().unwrap();
        let (child, mut to, mut from) = on_sockets(data.path());
        to.write_all(PING.repeat(100).as_bytes()).await.unwrap();
        drop(to);
        let mut output = String::new();
        timeout(TIMEOUT, from.read_to_string(&mut output))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(output.lines().count(), 100);
        assert!(wait(child).await.success());
    }

    #[tokio::test]
    async fn a_signal_ends_it_while_its_socket_is_not_read() {
        let data = TempDir::new().unwrap();
        let (child, mut to, mut from) = on_sockets(data.path());
        ping(&mut to, &mut from).await;
        // More than fits into a socket, so the task blocks until the end.
        let flood = tokio::spawn(async move {
            let _ = to.write_all(PING.repeat(100_000).as_bytes()).await;
        });
        terminate(child).await;
        flood.await.unwrap();
    }
}
