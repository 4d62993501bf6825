//! Every edit is visible at once, with as few reads and walks as possible.

use std::fs::File;
use std::time::{Duration, SystemTime};

use skills_core::{Change, SkillId, SourceSkill};

use super::*;
use crate::markdown::read_body;
use crate::open_file::OPENED;

impl Disk {
    /// Sets the modification time of a file.
    fn touch(&self, path: &str, modified: SystemTime) {
        let file = File::options().write(true).open(self.path(path));
        file.unwrap().set_modified(modified).unwrap();
    }
}

fn titles(sources: &Sources) -> String {
    let listing = block_on(sources.skills()).unwrap();
    let title = |skill: &SourceSkill| skill.head.title.clone().unwrap().to_string();
    listing
        .entries
        .iter()
        .map(title)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn an_edit_is_visible_in_the_next_call() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let sources = disk.sources(&["*.md"], &[]);
    let body = || block_on(sources.skill(&"a".parse().unwrap())).unwrap();
    assert_eq!(titles(&sources), "One");
    for text in ["Two", "Six", "Ten"] {
        // The same length, faster than any clock ticks.
        disk.write("a.md", format!("# {text}\n"));
        assert_eq!(titles(&sources), text);
        assert_eq!(body().as_deref(), Some(&*format!("# {text}\n")));
    }
    disk.write("b.md", "# New\n");
    assert_eq!(titles(&sources), "Ten New");
    fs::remove_file(disk.path("a.md")).unwrap();
    assert_eq!(titles(&sources), "New");
    assert_eq!(body(), None);
}

#[test]
fn an_edit_with_a_restored_time_is_visible() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let sources = disk.sources(&["*.md"], &[]);
    let now = SystemTime::now();
    disk.touch("a.md", now);
    assert_eq!(titles(&sources), "One");
    disk.write("a.md", "# Two\n");
    disk.touch("a.md", now);
    assert_eq!(titles(&sources), "Two");
}

/// Only where a file has a time that programs cannot set.
#[cfg(unix)]
#[test]
fn an_edit_with_an_old_time_is_visible() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let sources = disk.sources(&["*.md"], &[]);
    let long_ago = SystemTime::now() - Duration::from_hours(24);
    for text in ["One", "Two", "Six"] {
        disk.write("a.md", format!("# {text}\n"));
        disk.touch("a.md", long_ago);
        assert_eq!(titles(&sources), text);
    }
}

#[test]
fn an_unchanged_file_is_read_once_valid_or_not() {
    let files = [
        ("a.md", "# One\n"),
        ("sub/b.md", "# Two\n"),
        ("invalid.md", ""),
    ];
    let disk = Disk::with(&files);
    let skills = disk.sources(&["**/*.md"], &[]).skills;
    let opened = || OPENED.replace(0);
    opened();
    // Waits until the files are old enough to be remembered.
    let deadline = SystemTime::now() + Duration::from_mins(1);
    loop {
        assert_eq!(skills.walk().unwrap().files.len(), 2);
        if opened() == 0 {
            break;
        }
        assert!(SystemTime::now() < deadline, "read every time");
        std::thread::yield_now();
    }
    disk.write("a.md", "# Six\n");
    skills.walk().unwrap();
    assert_eq!(opened(), 1, "only the changed file");
}

#[test]
fn a_read_opens_one_file_without_a_walk() {
    let disk = Disk::with(&[
        ("docs/a.md", "# A"),
        ("docs/sub/b.md", "# B"),
        ("docs/sub/c.txt", "# C"),
        ("more/b.md", "# Other"),
    ]);
    let sources = disk.sources(&["docs/**/*.md", "docs/sub/*.md", "more/*.md"], &[]);
    let read = |id: &str| {
        OPENED.set(0);
        let read = sources
            .skills
            .lookup(&id.parse().unwrap(), &sources.visibility)
            .expect("no walk");
        (
            read.unwrap().map(|(_, body)| body.to_string()),
            OPENED.get(),
        )
    };
    assert_eq!(read("a"), (Some("# A".into()), 1));
    assert_eq!(read("sub/b"), (Some("# B".into()), 1));
    // `docs/sub/b.md` is `sub/b`: the first pattern gives the id.
    assert_eq!(read("b"), (Some("# Other".into()), 1));
    assert_eq!(read("sub/c"), (None, 0));
    assert_eq!(read("nothing"), (None, 0));
    assert_eq!(sources.walks(), 0);
}

/// Polls once and expects no result.
async fn start<F: Future + ?Sized>(mut listing: std::pin::Pin<&mut F>) {
    std::future::poll_fn(|context| {
        assert!(listing.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

#[test]
fn concurrent_listings_share_a_walk() {
    let disk = Disk::with(&[("a.md", "# A")]);
    let sources = disk.sources(&["*.md"], &[]);
    block_on(async {
        // No walk can end while this is held, so all calls overlap.
        let held = sources.skills.cache.pass(SystemTime::now());
        let mut all: Vec<_> = (0..100).map(|_| sources.skills()).collect();
        for listing in &mut all {
            start(listing.as_mut()).await;
        }
        drop(held);
        let mut counts = Vec::new();
        for listing in all {
            counts.push(listing.await.unwrap().entries.len());
        }
        assert_eq!(counts, [1; 100]);
    });
    // One for the first call, and one for the calls during its walk.
    assert_eq!(sources.walks(), 2);
}

#[test]
fn a_listing_after_an_edit_does_not_share_an_earlier_walk() {
    let disk = Disk::with(&[("a.md", "# A")]);
    let sources = disk.sources(&["*.md"], &[]);
    block_on(async {
        let held = sources.skills.cache.pass(SystemTime::now());
        let mut before = sources.skills();
        start(before.as_mut()).await;
        // Its walk has started and may or may not include the edit.
        while sources.walks() == 0 {
            std::thread::yield_now();
        }
        disk.write("b.md", "# B");
        let mut after = sources.skills();
        start(after.as_mut()).await;
        drop(held);
        assert!(!before.await.unwrap().entries.is_empty());
        assert_eq!(after.await.unwrap().entries.len(), 2);
    });
}

#[test]
fn an_unreadable_file_is_an_error_and_not_missing() {
    // No file system allows a name of this length, so the error is not "not found".
    let disk = Disk::with(&[("docs/a.md", "# A")]);
    let long = format!("{}/*.md", "a".repeat(300));
    let sources = disk.sources(&[&long, "docs/*.md"], &[]);
    let read = |id: &str| block_on(sources.skill(&id.parse().unwrap()));
    let error = read("b").unwrap_err();
    assert_eq!(error.kind(), skills_core::Kind::Broken);
    let text = error.to_string();
    assert!(text.starts_with("could not read skill `b`: "), "{text}");
    assert!(text.contains("cannot be read: "), "{text}");
    // Another pattern has this id.
    assert_eq!(read("a").unwrap().as_deref(), Some("# A"));
    let error = read_body(&disk.path(&"a".repeat(5_000)), false).unwrap_err();
    assert!(error.contains("cannot be read: "), "{error}");
}

#[test]
fn a_snapshot_reports_what_is_served_differently() {
    let disk = Disk::with(&[
        ("docs/a.md", "# A"),
        ("docs/b.md", "# B"),
        ("docs/sub/No.md", "# No id"),
        ("p/x.md", "---\ndescription: x\n---\nHi"),
    ]);
    let sources = disk.sources(&["docs/**/*.md", "later/*.md"], &["p/*.md"]);
    let snapshot = || block_on(sources.snapshot()).unwrap();
    let first = snapshot();
    let mut folders = first.folders.clone();
    folders.sort();
    let expected = ["docs", "docs/sub", "later", "p"].map(|path| disk.path(path));
    // A folder that does not exist yet is listed as well.
    assert!(folders.iter().any(|path| path.ends_with("later")));
    assert_eq!(folders.len(), expected.len(), "{folders:?}");
    assert_eq!(snapshot().changes_since(&first), []);
    disk.write("docs/sub/No.md", "# Still no id");
    assert_eq!(snapshot().changes_since(&first), []);
    disk.write("docs/b.md", "# C");
    disk.write("later/d.md", "# D");
    fs::remove_file(disk.path("docs/a.md")).unwrap();
    disk.write("p/x.md", "---\ndescription: other\n---\nHi");
    let skill = |id: &str| id.parse::<SkillId>().unwrap();
    assert_eq!(
        snapshot().changes_since(&first),
        [
            Change::SkillRegistered(skill("b")),
            Change::SkillRegistered(skill("d")),
            Change::PromptRegistered("x".parse().unwrap()),
            Change::SkillUnregistered(skill("a")),
        ]
    );
}

#[test]
fn many_bodies_are_read_with_at_most_one_walk() {
    let agent = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";
    // Below a root that is a skill itself, only a walk tells the ids.
    let disk = Disk::with(&[
        (
            "root/SKILL.md",
            "---\nname: root\ndescription: R.\n---\n# Root",
        ),
        ("root/a/SKILL.md", "---\nname: a\ndescription: A.\n---\n# A"),
        ("root/b/SKILL.md", "---\nname: b\ndescription: B.\n---\n# B"),
        ("docs/c.md", "# C"),
        ("dev.3md", agent),
    ]);
    let bodies = |skills: &[&str], ids: &[&str]| {
        let patterns = |patterns: &[&str]| patterns.iter().map(|&p| p.into()).collect::<Vec<_>>();
        let sources = Sources::new(
            &disk.path(""),
            &patterns(skills),
            &[],
            &patterns(&["*.3md"]),
        );
        let ids: Vec<_> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let bodies = block_on(sources.bodies(&ids)).unwrap();
        let bodies = bodies
            .into_iter()
            .map(|body| body.map(|body| body.to_string()));
        (bodies.collect::<Vec<_>>(), sources.skills.walks())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        bodies(&["docs/*.md"], &["c", "d"]),
        (vec![some("# C"), None], 0)
    );
    let (found, walks) = bodies(&["root/**/*.md"], &["root/b", "root", "root/x", "root/a"]);
    assert_eq!(found, [some("# B"), some("# Root"), None, some("# A")]);
    assert_eq!(walks, 1);
    let many = ["c"; 100];
    assert_eq!(bodies(&["docs/*.md"], &many), (vec![some("# C"); 100], 1));
    let (found, _) = bodies(&["docs/*.md"], &["dev", "c"]);
    assert!(
        found[0]
            .as_deref()
            .is_some_and(|body| body.contains("I am dev."))
    );
    assert_eq!(found[1], some("# C"));
}
