//! Every edit is seen, and yet no more is done than needs to be.

use std::fs::File as Handle;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::*;
use crate::files::document::OPENED;

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

#[test]
fn a_hundred_listings_at_once_share_a_walk() {
    let disk = Disk::with(&[("a.md", "# A")]);
    let folder = disk.folder(&["*.md"], &[]);
    run(async {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let folder = folder.clone();
            all.spawn(async move { folder.skills().await.unwrap().entries.len() });
        }
        assert_eq!(all.join_all().await, [1; 100]);
    });
    // Those who asked while the first walk ran share the second.
    assert!(walks(&folder) <= 2, "{} walks", walks(&folder));
    // Whoever asks after an edit sees it, whatever was going on when it was made.
    run(async {
        let mut before = Box::pin(folder.skills());
        std::future::poll_fn(|context| {
            assert!(before.as_mut().poll(context).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        disk.write("b.md", "# B");
        let after = folder.skills();
        let (before, after) = tokio::join!(before, after);
        assert!(!before.unwrap().entries.is_empty());
        assert_eq!(after.unwrap().entries.len(), 2);
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
    let mut folders = first.folders.clone();
    folders.sort();
    let expected = ["docs", "docs/sub", "later", "p"].map(|path| disk.path(path));
    // The one that is not there yet is as it was written.
    assert!(folders.iter().any(|path| path.ends_with("later")));
    assert_eq!(folders.len(), expected.len(), "{folders:?}");
    assert_eq!(snapshot().since(&first), Changed::default());
    disk.write("docs/sub/No.md", "# Still no id");
    assert_eq!(snapshot().since(&first), Changed::default());
    disk.write("docs/b.md", "# C");
    disk.write("later/d.md", "# D");
    fs::remove_file(disk.path("docs/a.md")).unwrap();
    disk.write("p/x.md", "---\ndescription: y\n---\nHi");
    let changed = snapshot().since(&first);
    let skills: Vec<_> = changed.skills.iter().map(SkillId::as_str).collect();
    assert_eq!(skills, ["a", "b", "d"]);
    assert_eq!(changed.prompts[0].as_str(), "x");
}
