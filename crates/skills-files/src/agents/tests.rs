//! Documents on disk: what is served, what is skipped, and for which reason.

use std::fs;

use super::*;

const DEV: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n\
    @plane z=1 label=search triggers=find\nLook.\n";

fn agents(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Agents) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let agents = Agents::new(folder.path(), &["*".into(), "[".into()]);
    (folder, agents)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

fn body(agents: &Agents, id: &str) -> Option<Arc<str>> {
    block_on(agents.skill(&id.parse().unwrap())).unwrap()
}

#[test]
fn an_edit_is_visible_in_the_next_read() {
    let (folder, agents) = agents(&[("a.3md", DEV.as_bytes())]);
    assert_eq!(body(&agents, "dev/search").as_deref(), Some("Look."));
    assert_eq!(body(&agents, "dev").as_deref(), Some("I am dev."));
    assert_eq!(body(&agents, "dev/nope"), None);
    // The same length, within a tick of the clock.
    fs::write(folder.path().join("a.3md"), DEV.replace("Look", "Seek")).unwrap();
    assert_eq!(body(&agents, "dev/search").as_deref(), Some("Seek."));
    fs::remove_file(folder.path().join("a.3md")).unwrap();
    assert_eq!(body(&agents, "dev/search"), None);
}

#[test]
fn an_unchanged_document_is_parsed_once() {
    let (_folder, agents) = agents(&[("a.3md", DEV.as_bytes())]);
    let deadline = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    // Waits until the file is old enough to be remembered.
    loop {
        let (first, again) = (agents.0.walk(), agents.0.walk());
        if Arc::ptr_eq(&first.files[0].entry, &again.files[0].entry) {
            break;
        }
        assert!(std::time::SystemTime::now() < deadline, "parsed every time");
    }
}

#[test]
fn every_file_that_is_not_served_has_a_reason() {
    let large = vec![b'-'; DOCUMENT_MAX + 1];
    let (_folder, agents) = agents(&[
        ("a.3md", DEV.as_bytes()),
        ("b.3md", DEV.as_bytes()),
        ("c.3md", b"# text"),
        ("d.3md", b"\xff"),
        ("e.3md", &large),
        ("f.md", b"# markdown"),
    ]);
    let listed = agents.0.walk();
    assert_eq!(listed.files.len(), 1);
    let reasons: Vec<_> = listed.skipped.iter().map(|s| s.reason.as_str()).collect();
    for (at, expected) in [
        "is not a valid pattern",
        "does not end in `.3md`",
        "is the agent `dev` that ",
        "is not a 3md document: 1:1: ",
        "is not UTF-8",
        "is too large: 5242881 bytes, at most 5242880",
    ]
    .iter()
    .enumerate()
    {
        assert!(reasons[at].contains(expected), "{at}: {reasons:#?}");
    }
    assert_eq!(reasons.len(), 6);
}
