//! `skills mcp <file>` as a process: framing, the end of its streams, and clients that do not read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use skills_mcp::document::LINE_MAX;
use skills_test_support::document::{SAMPLE, call};
use skills_test_support::process::{SkillsProcess, output_of, skills_command};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

/// A folder with one document.
pub fn folder(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.3md");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// Serves a document to an input that ends.
pub fn serve(path: &Path, input: impl Into<Vec<u8>>, more: &[&str]) -> Output {
    let mut command = skills_command();
    command.arg("mcp").arg(path).args(more);
    output_of(command, input)
}

/// Starts to serve a document.
pub fn start(path: &Path, more: &[&str]) -> SkillsProcess {
    let path = path.to_str().unwrap();
    SkillsProcess::start(&[&["mcp", path], more].concat())
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn a_valid_document_is_logged_and_served_until_the_input_ends() {
    let (_folder, path) = folder(SAMPLE);
    let clean = SAMPLE
        .replace("Back to [[z=3]].", "Back.")
        .replace("label=loop", "label=loop triggers=loop");
    std::fs::write(&path, clean.replace("tie, tie, Tie, TIE", "tie")).unwrap();
    let output = serve(&path, format!("{PING}\n"), &[]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), format!("{PONG}\n"));
    let line = format!("[agent-3md mcp] dev: 5 skills from {}\n", path.display());
    assert_eq!(text(&output.stderr), line);
}

/// Parts of characters, and a last line without a newline.
#[tokio::test]
async fn lines_can_arrive_in_parts() {
    let (_folder, path) = folder(SAMPLE);
    let mut server = start(&path, &[]);
    let mut stdin = server.stdin.take().unwrap();
    let line = r#"{"jsonrpc":"2.0","id":"é🐛","method":"ping"}"#;
    for byte in format!("{line}\r\n").bytes() {
        stdin.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(
        server.stdout_line().await,
        r#"{"jsonrpc":"2.0","id":"é🐛","result":{}}"#
    );
    stdin.write_all(PING.as_bytes()).await.unwrap();
    drop(stdin);
    assert_eq!(server.stdout_line().await, PONG);
    let rest = server.stdout.as_mut().unwrap().next_line().await;
    assert_eq!(rest.unwrap(), None);
    assert!(server.wait().await.0.success());
}

/// Nothing inside the line is taken for a request.
#[test]
fn a_line_over_the_limit_is_one_error() {
    let (_folder, path) = folder(SAMPLE);
    let mut input = vec![b' '; LINE_MAX * 2 + LINE_MAX / 2];
    input.extend_from_slice(PING.as_bytes());
    input.extend_from_slice(b"\n");
    input.extend_from_slice(PING.as_bytes());
    let output = serve(&path, input, &[]);
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: line exceeded maximum size"}}"#;
    assert_eq!(text(&output.stdout), format!("{refused}\n{PONG}\n"));
    assert!(output.status.success());
}

#[test]
fn invalid_utf8_is_a_parse_error() {
    let (_folder, path) = folder(SAMPLE);
    let output = serve(
        &path,
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n\0\n",
        &[],
    );
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#;
    assert_eq!(text(&output.stdout), format!("{refused}\n{refused}\n"));
}

/// A thousand pipelined responses arrive in order.
#[tokio::test]
async fn a_client_that_reads_late_loses_nothing() {
    let (_folder, path) = folder(&many(200));
    let mut server = start(&path, &[]);
    let mut stdin = server.stdin.take().unwrap();
    let writer = tokio::spawn(async move {
        for id in 0..1_000 {
            let line = call("list_skills", "{}").replace("\"id\":1", &format!("\"id\":{id}"));
            stdin
                .write_all(format!("{line}\n").as_bytes())
                .await
                .unwrap();
        }
        // Kept open, so that the end of the input is not what flushes the responses.
        stdin
    });
    // Most responses do not fit into the pipe, so the server continues only as they are read.
    for id in 0..1_000 {
        let line = server.stdout_line().await;
        let start: String = line.chars().take(40).collect();
        assert!(start.contains(&format!("\"id\":{id},")), "{start}");
        assert!(line.ends_with("]\"}]}}"));
    }
    drop(writer.await.unwrap());
}

#[tokio::test]
async fn a_closed_stdout_ends_the_server_without_an_error() {
    let (_folder, path) = folder(&many(200));
    let mut server = start(&path, &[]);
    drop(server.stdout.take());
    server.write_line(&call("list_skills", "{}")).await;
    drop(server.stdin.take());
    let (status, stderr) = server.wait().await;
    assert!(status.success());
    let loaded = stderr.lines().filter(|line| line.contains("skills from"));
    assert_eq!(loaded.count(), 1);
}

/// A document with this many skills.
pub fn many(skills: usize) -> String {
    let mut text =
        String::from("---\n3md: 1.0\nagent: many\n---\n@plane z=0 kind=identity\nMany.\n");
    for z in 1..=skills {
        let _ = write!(
            text,
            "@plane z={z} label=skill{z} triggers=\"do number{z}, topic{}\" cost=low tool=\"run {{x}}\" inputs=x\nHow to do {z}.\n\nStep by step.\n",
            z % 100
        );
    }
    text
}

/// The client is gone, and something else holds the other end of its pipe.
#[cfg(unix)]
#[tokio::test]
async fn the_end_of_the_input_ends_it_while_its_answers_are_not_read() {
    let body = "x".repeat(10_000);
    let (_folder, path) = folder(&format!(
        "{SAMPLE}\n@plane z=5 label=long triggers=l\n{body}\n"
    ));
    let mut server = start(&path, &[]);
    let mut stdin = server.stdin.take().unwrap();
    let calls = format!("{}\n", call("get_skill", r#"{"name":"long"}"#)).repeat(100);
    stdin.write_all(calls.as_bytes()).await.unwrap();
    drop(stdin);
    let (status, stderr) = server.wait().await;
    assert!(status.success(), "{stderr}");
}

#[tokio::test]
async fn a_reader_that_is_slow_gets_every_answer_after_the_end_of_the_input() {
    let body = "x".repeat(10_000);
    let (_folder, path) = folder(&format!(
        "{SAMPLE}\n@plane z=5 label=long triggers=l\n{body}\n"
    ));
    let mut server = start(&path, &[]);
    let mut stdin = server.stdin.take().unwrap();
    let calls = format!("{}\n", call("get_skill", r#"{"name":"long"}"#)).repeat(100);
    stdin.write_all(calls.as_bytes()).await.unwrap();
    drop(stdin);
    for _ in 0..100 {
        assert!(server.stdout_line().await.contains(&body));
        tokio::task::yield_now().await;
    }
    assert!(server.wait().await.0.success());
}
