//! The program itself: framing, ends, and clients that do not read.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;

use skills_mcp::document::LINE_MAX;
use tempfile::TempDir;

use super::sample::{SAMPLE, call};

/// A folder with one document.
pub fn folder(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.3md");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

pub fn skills() -> Command {
    Command::new(env!("CARGO_BIN_EXE_skills"))
}

/// Runs the server on an input that ends.
pub fn serve(path: &Path, input: impl Into<Vec<u8>>, more: &[&str]) -> Output {
    let mut child = Server::start(path, more);
    let (mut to, input) = (child.input.take().unwrap(), input.into());
    // It may well end before it has read everything.
    let writer = thread::spawn(move || drop(to.write_all(&input)));
    let output = child.end();
    writer.join().unwrap();
    output
}

/// A running server; killed when dropped.
pub struct Server {
    child: Option<Child>,
    pub input: Option<ChildStdin>,
}

impl Server {
    pub fn start(path: &Path, more: &[&str]) -> Self {
        let mut child = skills()
            .arg("mcp")
            .arg(path)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let child = Some(child);
        Self { child, input }
    }

    pub fn outputs(&mut self) -> (BufReader<ChildStdout>, BufReader<ChildStderr>) {
        let child = self.child.as_mut().unwrap();
        (
            BufReader::new(child.stdout.take().unwrap()),
            BufReader::new(child.stderr.take().unwrap()),
        )
    }

    pub fn ask(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn end(mut self) -> Output {
        drop(self.input.take());
        self.child.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn a_good_document_is_announced_on_stderr_and_served_until_the_input_ends() {
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

/// Points 8 and 9: pieces of characters, and a last line without an end.
#[test]
fn lines_may_come_in_any_pieces() {
    let (_folder, path) = folder(SAMPLE);
    let mut server = Server::start(&path, &[]);
    let (mut stdout, _stderr) = server.outputs();
    let line = r#"{"jsonrpc":"2.0","id":"é🐛","method":"ping"}"#;
    let mut answer = String::new();
    for byte in format!("{line}\r\n").bytes() {
        server.input.as_mut().unwrap().write_all(&[byte]).unwrap();
    }
    stdout.read_line(&mut answer).unwrap();
    assert_eq!(
        answer,
        "{\"jsonrpc\":\"2.0\",\"id\":\"é🐛\",\"result\":{}}\n"
    );
    server
        .input
        .as_mut()
        .unwrap()
        .write_all(PING.as_bytes())
        .unwrap();
    assert!(server.end().status.success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, format!("{PONG}\n"));
}

/// Point 7: an endless line is answered once, and nothing inside it is taken for a request.
#[test]
fn a_line_that_is_too_long_is_answered_once_and_hides_nothing() {
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
fn bytes_that_are_no_text_are_a_parse_error() {
    let (_folder, path) = folder(SAMPLE);
    let output = serve(
        &path,
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n\0\n",
        &[],
    );
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#;
    assert_eq!(text(&output.stdout), format!("{refused}\n{refused}\n"));
}

/// Point 4: a thousand pipelined answers to a client that reads late all arrive, in order.
#[test]
fn a_client_that_reads_late_loses_nothing() {
    let (_folder, path) = folder(&many(200));
    let mut server = Server::start(&path, &[]);
    let (mut stdout, _stderr) = server.outputs();
    let mut input = server.input.take().unwrap();
    let (sent, all_sent) = std::sync::mpsc::channel();
    let writer = thread::spawn(move || {
        for id in 0..1_000 {
            let line = call("list_skills", "{}").replace("\"id\":1", &format!("\"id\":{id}"));
            writeln!(input, "{line}").unwrap();
        }
        sent.send(()).unwrap();
    });
    // Most of what is asked for does not fit between us: only reading moves things on.
    let mut line = String::new();
    for id in 0..1_000 {
        line.clear();
        stdout.read_line(&mut line).unwrap();
        let start: String = line.chars().take(40).collect();
        assert!(start.contains(&format!("\"id\":{id},")), "{start}");
        assert!(line.ends_with("]\"}]}}\n"));
    }
    all_sent.recv().unwrap();
    writer.join().unwrap();
}

#[test]
fn a_client_that_goes_away_ends_the_server_quietly() {
    let (_folder, path) = folder(&many(200));
    let mut server = Server::start(&path, &[]);
    let (stdout, mut stderr) = server.outputs();
    drop(stdout);
    server.ask(&call("list_skills", "{}"));
    let output = server.end();
    assert!(output.status.success());
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(
        said.lines()
            .filter(|line| line.contains("skills from"))
            .count(),
        1
    );
}

/// A document of so many skills, each with two triggers of its own.
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
