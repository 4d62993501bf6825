//! Documents on disk: what is served, what is skipped, and for which reason.

use std::fs;
use std::sync::Arc;

use skills_core::Source;

use super::block_on;
use crate::Sources;
use crate::limits::DOCUMENT_MAX;

const DEV: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n\
    @plane z=1 label=search triggers=find\nLook.\n";

fn sources(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let sources = Sources::new(folder.path(), &[], &[], &["*".into(), "[".into()]);
    (folder, sources)
}

fn body(sources: &Sources, id: &str) -> Option<Arc<str>> {
    block_on(sources.skill(&id.parse().unwrap())).unwrap()
}

#[test]
fn an_edit_is_visible_in_the_next_read() {
    let (folder, sources) = sources(&[("a.3md", DEV.as_bytes())]);
    assert_eq!(body(&sources, "dev/search").as_deref(), Some("Look."));
    assert_eq!(body(&sources, "dev").as_deref(), Some("I am dev."));
    assert_eq!(body(&sources, "dev/nope"), None);
    // The same length, within a tick of the clock.
    fs::write(folder.path().join("a.3md"), DEV.replace("Look", "Seek")).unwrap();
    assert_eq!(body(&sources, "dev/search").as_deref(), Some("Seek."));
    fs::remove_file(folder.path().join("a.3md")).unwrap();
    assert_eq!(body(&sources, "dev/search"), None);
}

#[test]
fn an_unchanged_document_is_parsed_once() {
    let (_folder, sources) = sources(&[("a.3md", DEV.as_bytes())]);
    let deadline = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    // Waits until the file is old enough to be remembered.
    loop {
        let (first, again) = (
            sources.agents.walk().unwrap(),
            sources.agents.walk().unwrap(),
        );
        if Arc::ptr_eq(&first.files[0].entry, &again.files[0].entry) {
            break;
        }
        assert!(std::time::SystemTime::now() < deadline, "parsed every time");
    }
}

#[test]
fn every_file_that_is_not_served_has_a_reason() {
    let large = vec![b'-'; DOCUMENT_MAX + 1];
    let (_folder, sources) = sources(&[
        ("a.3md", DEV.as_bytes()),
        ("b.3md", DEV.as_bytes()),
        ("c.3md", b"# text"),
        ("d.3md", b"\xff"),
        ("e.3md", &large),
        ("f.md", b"# markdown"),
    ]);
    let listed = sources.agents.walk().unwrap();
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
