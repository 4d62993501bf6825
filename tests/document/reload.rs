//! A document that changes while it is served.

use std::io::BufRead;
use std::path::Path;

use crate::process::{Server, folder};
use crate::sample::{SAMPLE, call};

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// The next line; the end of the stream is none.
fn next(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line
}

/// Reads until a line has these words.
fn until(from: &mut impl BufRead, words: &str) -> String {
    loop {
        let line = next(from);
        assert!(!line.is_empty(), "it never said {words:?}");
        if line.contains(words) {
            return line;
        }
    }
}

fn replace(path: &Path, text: &str) {
    let other = path.with_extension("tmp");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(&other, path).unwrap();
}

#[test]
fn an_edit_is_served_and_announced_and_a_broken_one_is_not() {
    let (_folder, path) = folder(SAMPLE);
    let mut server = Server::start(&path, &[]);
    let (mut stdout, mut stderr) = server.outputs();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    server.ask(hello);
    next(&mut stdout);
    until(&mut stderr, "5 skills from");

    // As editors do it: another file takes the name.
    replace(&path, &SAMPLE.replace("Half.", "Whole."));
    assert_eq!(next(&mut stdout), CHANGED);
    until(&mut stderr, "5 skills from");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(next(&mut stdout).contains("Whole."));

    // Broken: said on stderr, nothing announced, the last good one stays.
    replace(&path, "---\nno end");
    until(&mut stderr, "still serving the last good document");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(next(&mut stdout).contains("Whole."));

    // Gone: the same.
    std::fs::remove_file(&path).unwrap();
    until(&mut stderr, "cannot read");
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(next(&mut stdout).contains("Whole."));

    // Back, written in place.
    std::fs::write(&path, SAMPLE.replace("Half.", "Again.")).unwrap();
    assert_eq!(next(&mut stdout), CHANGED);
    server.ask(&call("get_skill", r#"{"z":1.5}"#));
    assert!(next(&mut stdout).contains("Again."));
    drop((stdout, stderr));
    server.end();
}

#[test]
fn a_strict_server_keeps_the_last_document_without_errors() {
    let good = SAMPLE.replace("[[z=3]]", "nothing");
    let (_folder, path) = folder(&good);
    let mut server = Server::start(&path, &["--strict"]);
    let (mut stdout, mut stderr) = server.outputs();
    until(&mut stderr, "5 skills from");
    replace(&path, SAMPLE);
    until(
        &mut stderr,
        "now has errors; still serving the last good document",
    );
    server.ask(&call("get_skill", r#"{"z":3}"#));
    assert!(next(&mut stdout).contains("Back to nothing."));
}
