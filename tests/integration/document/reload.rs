//! A document that changes while it is served.

use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::process::{Server, folder};
use super::sample::{SAMPLE, call};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// Longer than anything here takes on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The lines of an output, none of them waited for without end.
struct Said(Receiver<String>);

impl Said {
    fn new(output: impl BufRead + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines
                .map(|line| sender.send(line))
                .take_while(Result::is_ok)
                .count()
        });
        Self(lines)
    }

    fn next(&self) -> String {
        self.0.recv_timeout(TIMEOUT).unwrap()
    }

    /// Reads until a line has these words.
    fn until(&self, words: &str) {
        while !self.next().contains(words) {}
    }
}

fn start(path: &Path, more: &[&str]) -> (Server, Said, Said) {
    let mut server = Server::start(path, more);
    let (stdout, stderr) = server.outputs();
    (server, Said::new(stdout), Said::new(stderr))
}

fn replace(path: &Path, text: &str) {
    let other = path.with_extension("tmp");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(&other, path).unwrap();
}

#[test]
fn an_edit_is_served_and_announced_and_a_broken_one_is_not() {
    let (_folder, path) = folder(SAMPLE);
    let (mut server, stdout, stderr) = start(&path, &[]);
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    server.ask(hello);
    stdout.next();
    stderr.until("5 skills from");

    // As editors do it: another file takes the name.
    replace(&path, &SAMPLE.replace("Half.", "Whole."));
    assert_eq!(stdout.next(), CHANGED);
    stderr.until("5 skills from");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(stdout.next().contains("Whole."));

    // Broken: said on stderr, nothing announced, the last good one stays.
    replace(&path, "---\nno end");
    stderr.until("still serving the last good document");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(stdout.next().contains("Whole."));

    // Gone: the same.
    std::fs::remove_file(&path).unwrap();
    stderr.until("cannot read");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(stdout.next().contains("Whole."));

    // Back, written in place.
    std::fs::write(&path, SAMPLE.replace("Half.", "Again.")).unwrap();
    assert_eq!(stdout.next(), CHANGED);
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(stdout.next().contains("Again."));
}

#[test]
fn a_strict_server_keeps_the_last_document_without_errors() {
    let good = SAMPLE.replace("[[z=3]]", "nothing");
    let (_folder, path) = folder(&good);
    let (mut server, stdout, stderr) = start(&path, &["--strict"]);
    stderr.until("5 skills from");
    replace(&path, SAMPLE);
    stderr.until("now has errors; still serving the last good document");
    server.ask(&call("get_skill", r#"{"z":3}"#));
    assert!(stdout.next().contains("Back to nothing."));
}
