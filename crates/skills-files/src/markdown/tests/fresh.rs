//! Every edit is seen, and yet no more is done than needs to be.

use std::fs::File as Handle;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use skills_core::Change;

use super::*;
use crate::markdown::document::OPENED;

impl Disk {
    /// Puts the modification time of a file to a moment.
    fn touch(&self, path: &str, modified: SystemTime) {
        let file = Handle::options().write(true).open(self.path(path));
        file.unwrap().set_modified(modified).unwrap();
    }
}

fn titles(folder: &Folder) -> String {
    let listing = run(folder.skills()).unwrap();
    let title = |skill: &SourceSkill| skill.head.title.clone().unwrap().to_string();
    listing
        .entries
        .iter()
        .map(title)
        .collect::<Vec<_>>()
        .join(" ")
}

fn walks(folder: &Folder) -> usize {
    folder.0.walks.load(Ordering::SeqCst)
}

#[test]
fn edits_between_two_calls_are_seen() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let folder = disk.folder(&["*.md"], &[]);
    let body = || run(folder.skill(&"a".parse().unwrap())).unwrap();
    assert_eq!(titles(&folder), "One");
    for text in ["Two", "Six", "Ten"] {
        // The same length, faster than any clock ticks.
        disk.write("a.md", format!("# {text}\n"));
        assert_eq!(titles(&folder), text);
        assert_eq!(body().as_deref(), Some(&*format!("# {text}\n")));
    }
    disk.write("b.md", "# New\n");
    assert_eq!(titles(&folder), "Ten New");
    fs::remove_file(disk.path("a.md")).unwrap();
    assert_eq!(titles(&folder), "New");
    assert_eq!(body(), None);
}

#[test]
fn an_edit_whose_time_is_put_back_is_seen() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let folder = disk.folder(&["*.md"], &[]);
    let now = SystemTime::now();
    disk.touch("a.md", now);
    assert_eq!(titles(&folder), "One");
    disk.write("a.md", "# Two\n");
    disk.touch("a.md", now);
    assert_eq!(titles(&folder), "Two");
}

/// Only where the system keeps a time that nobody can set.
#[cfg(unix)]
#[test]
fn an_edit_that_claims_to_be_old_is_seen() {
    let disk = Disk::with(&[("a.md", "# One\n")]);
    let folder = disk.folder(&["*.md"], &[]);
    let long_ago = SystemTime::now() - Duration::from_hours(24);
    for text in ["One", "Two", "Six"] {
        disk.write("a.md", format!("# {text}\n"));
        disk.touch("a.md", long_ago);
        assert_eq!(titles(&folder), text);
    }
}

#[test]
fn a_file_that_has_not_changed_is_read_once() {
    let disk = Disk::with(&[("a.md", "# One\n"), ("sub/b.md", "# Two\n")]);
    let library = &disk.folder(&["**/*.md"], &[]).0;
    let opened = || OPENED.replace(0);
    opened();
    // Waits until the files are old enough to be trusted: then they are not read again.
    let deadline = SystemTime::now() + Duration::from_mins(1);
    loop {
        assert_eq!(library.skills().entries.len(), 2);
        if opened() == 0 {
            break;
        }
        assert!(SystemTime::now() < deadline, "they are always read");
        std::thread::yield_now();
    }
    disk.write("a.md", "# Six\n");
    library.skills();
    assert_eq!(opened(), 1, "only what changed");
}

#[test]
fn a_read_opens_one_file_and_walks_no_folder() {
    let disk = Disk::with(&[
        ("docs/a.md", "# A"),
        ("docs/sub/b.md", "# B"),
        ("docs/sub/c.txt", "# C"),
        ("more/b.md", "# Other"),
    ]);
    let folder = disk.folder(&["docs/**/*.md", "docs/sub/*.md", "more/*.md"], &[]);
    let read = |id: &str| {
        OPENED.set(0);
        let read = folder.0.skill(&id.parse().unwrap()).expect("no walk");
        (read.unwrap().map(|body| body.to_string()), OPENED.get())
    };
    assert_eq!(read("a"), (Some("# A".into()), 1));
    assert_eq!(read("sub/b"), (Some("# B".into()), 1));
    // `docs/sub/b.md` is `sub/b`, for the first pattern says so.
    assert_eq!(read("b"), (Some("# Other".into()), 1));
    assert_eq!(read("sub/c"), (None, 0));
    assert_eq!(read("nothing"), (None, 0));
    assert_eq!(walks(&folder), 0);
}

/// Asks, and comes back before there is an answer.
async fn ask<F: Future + ?Sized>(mut listing: std::pin::Pin<&mut F>) {
    std::future::poll_fn(|context| {
        assert!(listing.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

#[test]
fn a_hundred_listings_at_once_share_a_walk() {
    let disk = Disk::with(&[("a.md", "# A")]);
    let folder = disk.folder(&["*.md"], &[]);
    run(async {
        // No walk can end while this is held, so all of them ask at once.
        let held = folder.0.known_skills.listing(SystemTime::now());
        let mut all: Vec<_> = (0..100).map(|_| folder.skills()).collect();
        for listing in &mut all {
            ask(listing.as_mut()).await;
        }
        drop(held);
        let mut counts = Vec::new();
        for listing in all {
            counts.push(listing.await.unwrap().entries.len());
        }
        assert_eq!(counts, [1; 100]);
    });
    // One for the first, which had begun when the others asked, and one for them.
    assert_eq!(walks(&folder), 2);
}

#[test]
fn whoever_asks_after_an_edit_sees_it_though_a_walk_is_under_way() {
    let disk = Disk::with(&[("a.md", "# A")]);
    let folder = disk.folder(&["*.md"], &[]);
    run(async {
        let held = folder.0.known_skills.listing(SystemTime::now());
        let mut before = folder.skills();
        ask(before.as_mut()).await;
        // Its walk has begun, and whether it sees the edit is anybody's guess.
        while walks(&folder) == 0 {
            std::thread::yield_now();
        }
        disk.write("b.md", "# B");
        let mut after = folder.skills();
        ask(after.as_mut()).await;
        drop(held);
        assert!(!before.await.unwrap().entries.is_empty());
        assert_eq!(after.await.unwrap().entries.len(), 2);
    });
}

#[test]
fn a_file_that_cannot_be_read_is_not_called_missing() {
    // No file system takes so long a name: not there would be a guess.
    let disk = Disk::with(&[("docs/a.md", "# A")]);
    let long = format!("{}/*.md", "a".repeat(5_000));
    let folder = disk.folder(&[&long, "docs/*.md"], &[]);
    let read = |id: &str| run(folder.skill(&id.parse().unwrap()));
    let error = read("b").unwrap_err();
    assert_eq!(error.kind(), skills_core::Kind::Broken);
    let said = error.to_string();
    assert!(said.starts_with("could not read skill `b`: "), "{said}");
    assert!(said.contains("cannot be read: "), "{said}");
    // Another pattern has this one, as the listing says.
    assert_eq!(read("a").unwrap().as_deref(), Some("# A"));
    let error = body(&disk.path(&"a".repeat(5_000))).unwrap_err();
    assert!(error.contains("cannot be read: "), "{error}");
}

#[test]
fn a_snapshot_tells_what_is_served_differently() {
    let disk = Disk::with(&[
        ("docs/a.md", "# A"),
        ("docs/b.md", "# B"),
        ("docs/sub/No.md", "# No id"),
        ("p/x.md", "---\ndescription: x\n---\nHi"),
    ]);
    let folder = disk.folder(&["docs/**/*.md", "later/*.md"], &["p/*.md"]);
    let snapshot = || run(folder.snapshot()).unwrap();
    let first = snapshot();
    let mut folders = first.folders().to_vec();
    folders.sort();
    let expected = ["docs", "docs/sub", "later", "p"].map(|path| disk.path(path));
    // The one that is not there yet is as it was written.
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
            Change::SkillUnregistered(skill("a")),
            Change::SkillRegistered(skill("b")),
            Change::SkillRegistered(skill("d")),
            Change::PromptRegistered("x".parse().unwrap()),
        ]
    );
}
