//! `skills watch`: changes as they happen, from this machine and from engines.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use super::hub::Serve;
use super::transcript::Transcript;

/// A watch that has begun; killed when dropped.
struct Watch {
    child: Child,
    lines: Option<Lines<BufReader<ChildStdout>>>,
    said: BufReader<ChildStderr>,
}

impl Watch {
    /// On the data directory of a session, unless `more` says where.
    fn start(session: &Transcript, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skills"))
            .arg("watch")
            .args(more)
            .env("SKILLS_URL", "ws://127.0.0.1:1")
            .env("SKILLS_DATA_DIR", session.path("data"))
            .current_dir(session.path("."))
            .env_remove("RUST_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        while next_line(&mut said) != "note: watching; Ctrl-C ends it\n" {}
        Self {
            child,
            lines: Some(lines),
            said,
        }
    }

    fn next(&mut self) -> String {
        let lines = self.lines.as_mut().unwrap();
        lines.next().expect("a change").unwrap()
    }
}

/// The next line; its end is a failure.
fn next_line(said: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended");
    line
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_change_is_a_line() {
    let s = Transcript::new();
    let mut watch = Watch::start(&s, &["--count", "3"]);
    s.run_with("skills register a/b -", "# B\n");
    assert_eq!(watch.next(), "register   skill  a/b");
    s.run("skills prompts register p --function w::p --description d");
    assert_eq!(watch.next(), "register   prompt p");
    s.run("skills unregister nothing");
    s.run("skills unregister a/b");
    assert_eq!(watch.next(), "unregister skill  a/b");
    assert!(watch.child.wait().unwrap().success(), "it ends after three");
}

#[test]
fn every_change_is_a_document() {
    let s = Transcript::new();
    let mut watch = Watch::start(&s, &["--json", "--count", "1"]);
    s.run_with("skills register a -", "# A\n");
    let expected = r#"{"schema_version":1,"command":"watch","data":{"op":"register","kind":"skill","id":"a"}}"#;
    assert_eq!(watch.next(), expected);
    assert!(watch.child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_well() {
    let s = Transcript::new();
    let mut watch = Watch::start(&s, &[]);
    let pid = watch.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(watch.child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_ends_it_well() {
    let s = Transcript::new();
    let mut watch = Watch::start(&s, &[]);
    watch.lines = None;
    // More than once: another test may be starting a program, which holds our end of the pipe
    // until it runs.
    let ended = (0..500).find_map(|n| {
        s.run_with("skills register a -", format!("# {n}\n"));
        watch.child.try_wait().unwrap()
    });
    assert!(ended.expect("it ends").success());
}

#[test]
fn an_engine_is_watched_and_its_end_is_told() {
    let s = Transcript::new();
    let serve = Serve::start(&s);
    let url = serve.url.clone();
    let mut watch = Watch::start(&s, &["--url", &url]);
    s.run_with(&format!("skills register a - --url {url}"), "# A\n");
    assert_eq!(watch.next(), "register   skill  a");
    drop(serve);
    let told = next_line(&mut watch.said);
    assert!(told.starts_with("warning: the engine is gone ("), "{told}");
    assert!(told.ends_with("); waiting for it\n"), "{told}");
}
