//! Unix only: links, pipes, permissions, names that are not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use std::sync::atomic::{AtomicBool, Ordering};

use skills_core::SourceSkill;

use super::*;
use crate::reason::io_reason;
use crate::text_file::{TextFile, Unserved};
use crate::{MarkdownFile, MarkdownFolder};

#[test]
fn names_that_are_not_utf_8_are_skipped() {
    let disk = Disk::with(&[]);
    let name = OsStr::from_bytes(b"\xff.md");
    fs::write(disk.path("").join(name), "x").unwrap();
    check(
        &disk.skills(&["*.md"]),
        &[],
        &["has a name that is not UTF-8; rename it"],
    );
}

#[test]
fn pipes_and_devices_are_skipped_without_waiting() {
    let disk = Disk::with(&[]);
    let made = Command::new("mkfifo").arg(disk.path("a.md")).status();
    assert!(made.unwrap().success());
    symlink("a.md", disk.path("b.md")).unwrap();
    let expected = ["a.md: is not a regular file", "b.md: is not a regular file"];
    check(&disk.skills(&["*.md"]), &[], &expected);
    check(&disk.skills(&["a.md"]), &[], &expected[..1]);
    assert_eq!(disk.body(&["*.md"], "a"), None);
    assert_eq!(disk.body(&["*.md"], "b"), None);
    let (_, reasons) = disk.skills(&["/dev/null"]);
    assert!(
        reasons[0].contains("/dev/null: is not a regular file"),
        "{reasons:?}"
    );
}

#[test]
fn links_are_followed_inside_the_root_only() {
    let disk = Disk::with(&[("d/real/a.md", "# A"), ("out/b.md", "# B")]);
    let link = |to: &str, at: &str| symlink(to, disk.path(at)).unwrap();
    link("real", "d/linked");
    link("real/a.md", "d/c.md");
    link("../out", "d/away");
    link("../out/b.md", "d/b.md");
    link("nowhere.md", "d/lost.md");
    link("self.md", "d/self.md");
    link("..", "d/real/up");
    check(
        &disk.skills(&["d/**/*.md"]),
        &["c", "linked/a", "real/a"],
        &[
            "d/away: is a link to out, outside d; add a pattern",
            "d/b.md: is a link to out/b.md, outside d; add a pattern",
            "d/linked/up: is a link to a folder it lies in",
            "d/lost.md: is a link to nowhere.md, which does not exist",
            "d/real/up: is a link to a folder it lies in",
            "d/self.md: is a link that leads to itself",
        ],
    );
    let body = |id| disk.body(&["d/**/*.md"], id);
    assert_eq!(body("linked/a").as_deref(), Some("# A"));
    assert_eq!(body("c").as_deref(), Some("# A"));
    for id in ["b", "away/b", "lost", "self", "real/up/real/a", "real/up/c"] {
        assert_eq!(body(id), None, "for {id}");
    }
    // The root itself may be a link.
    link("d/real", "root");
    assert_eq!(disk.skills(&["root/*.md"]).0, ["a"]);
}

/// A check before opening does not help: the file or a folder on the way is another by then.
#[test]
fn a_file_or_folder_that_is_swapped_with_a_link_leads_nowhere_else() {
    const SECRET: &str = "---\ndescription: SECRET\n---\n# SECRET";
    const INSIDE: &str = "---\ndescription: d\n---\n# Inside";
    let disk = Disk::with(&[
        ("d/sub/a.md", INSIDE),
        ("d/b.md", INSIDE),
        ("out/a.md", SECRET),
        ("out/b.md", SECRET),
        ("away/x", ""),
    ]);
    let sources = disk.sources(&["d/**/*.md"], &["d/**/*.md"]);
    let (path, stop) = (|at: &str| disk.path(at), AtomicBool::new(false));
    let swap = |name: &str, link: &str| {
        fs::rename(path(&format!("d/{name}")), path("away/kept")).unwrap();
        symlink(link, path(&format!("d/{name}"))).unwrap();
        fs::remove_file(path(&format!("d/{name}"))).unwrap();
        fs::rename(path("away/kept"), path(&format!("d/{name}"))).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap("sub", "../out");
                swap("b.md", "../out/b.md");
            }
        });
        let _stops = StopOnDrop(&stop);
        let mut inside = 0;
        while inside < 500 {
            for id in ["sub/a", "b"] {
                let body = block_on(sources.skill(&id.parse().unwrap())).unwrap();
                inside += usize::from(body.is_some());
                assert!(body.is_none_or(|body| &*body == "# Inside"), "{id}");
            }
            let prompt =
                block_on(sources.prompt(&"b".parse().unwrap(), &serde_json::Map::new())).unwrap();
            assert!(prompt.is_none_or(|prompt| &*prompt.text == "# Inside"));
            let skills = block_on(sources.skills()).unwrap().entries;
            let title = |skill: &SourceSkill| skill.head.title.as_deref() == Some("Inside");
            assert!(skills.iter().all(title), "{skills:?}");
        }
    });
}

#[test]
fn a_folder_is_imported_by_the_rules_of_the_patterns() {
    let disk = Disk::with(&[
        ("d/a.md", "# A"),
        ("d/real/b.md", "# B"),
        ("d/dir.md/c.md", "# C"),
        ("d/.hidden/x.md", "# X"),
        ("d/note.txt", "x"),
        ("out/secret.md", "# SECRET"),
    ]);
    let link = |to: &str, at: &str| symlink(to, disk.path(at)).unwrap();
    link("../out", "d/away");
    link("../out/secret.md", "d/secret.md");
    link("a.md", "d/same.md");
    link("real", "d/linked");
    link(".", "d/real/loop");
    let folder = MarkdownFolder::find(&disk.path("d")).unwrap();
    let names: Vec<_> = folder.files.iter().map(|file| &*file.name).collect();
    let expected = ["a.md", "dir.md/c.md", "linked/b.md", "real/b.md", "same.md"];
    assert_eq!(names, expected);
    let read = |file: &MarkdownFile| file.read(100).unwrap().bytes;
    assert_eq!(read(&folder.files[2]), b"# B");
    let mut skipped: Vec<_> = folder.skipped.iter().map(|s| &*s.place).collect();
    skipped.sort_unstable();
    assert_eq!(skipped, ["away", "linked/loop", "real/loop", "secret.md"]);
    // Replaced between the walk and the read.
    fs::remove_file(disk.path("d/a.md")).unwrap();
    link("../out/secret.md", "d/a.md");
    assert!(folder.files[0].read(100).unwrap_err().is_not_found());
    // A name with wildcards is not a pattern, and nothing found is not a problem.
    fs::create_dir(disk.path("[d]*")).unwrap();
    let empty = MarkdownFolder::find(&disk.path("[d]*")).unwrap();
    assert!(
        empty.files.is_empty() && empty.skipped.is_empty(),
        "{empty:?}"
    );
    assert!(MarkdownFolder::find(&disk.path("none")).is_err());
    assert!(MarkdownFolder::find(&disk.path("d/note.txt")).is_err());
}

#[test]
fn a_root_without_permission_is_not_an_empty_folder() {
    let disk = Disk::with(&[("d/sub/a.md", "x")]);
    let mode = |mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(disk.path("d"), mode).unwrap();
    };
    mode(0o000);
    for pattern in ["d/*.md", "d/a.md", "d/sub/*.md"] {
        let listing = block_on(disk.sources(&[pattern], &[]).skills());
        // The superuser may read everything.
        if fs::read_dir(disk.path("d")).is_ok() {
            assert!(listing.is_ok(), "{pattern}");
        } else {
            let error = listing.unwrap_err().to_string();
            assert!(error.contains("may not be read"), "{pattern}: {error}");
        }
    }
    mode(0o755);
    // A folder that does not exist is an empty source.
    let missing = block_on(disk.sources(&["none/*.md"], &[]).skills()).unwrap();
    assert!(missing.entries.is_empty());
}

/// Reading the start of a process's memory fails with `EIO`.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_error_is_not_a_property_of_the_file() {
    let path = fs::canonicalize("/proc/self/mem").unwrap();
    let unserved = TextFile::read(&path, 100, 100).unwrap_err();
    assert!(matches!(&unserved, Unserved::Outage(_)), "{unserved:?}");
}

#[test]
fn files_without_permission_are_skipped() {
    let disk = Disk::with(&[("a.md", "x"), ("d/b.md", "x")]);
    let mode = |path: &str, mode| {
        fs::set_permissions(disk.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("a.md", 0o000);
    mode("d", 0o000);
    // The superuser may read everything.
    if fs::read(disk.path("a.md")).is_ok() {
        check(&disk.skills(&["**/*.md"]), &["a", "d/b"], &[]);
    } else {
        let expected = ["a.md: may not be read; give", "d: may not be read; give"];
        check(&disk.skills(&["**/*.md"]), &[], &expected);
        let sources = disk.sources(&["**/*.md"], &[]);
        for id in ["a", "d/b"] {
            let error = block_on(sources.skill(&id.parse().unwrap())).unwrap_err();
            assert!(error.to_string().contains("may not be read"), "{error}");
        }
    }
    mode("d", 0o755);
    let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    assert!(io_reason(&denied).contains("give this user permission"));
}

#[test]
fn files_that_appear_and_disappear_during_walks_are_harmless() {
    let disk = Disk::with(&[("stays.md", "x")]);
    let sources = disk.sources(&["**/*.md"], &[]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..300 {
                let name = format!("d{}/a.md", n % 7);
                disk.write(&name, "x");
                let _ = fs::remove_dir_all(disk.path(&format!("d{}", (n + 3) % 7)));
            }
        });
        for _ in 0..60 {
            let listing = block_on(sources.skills()).unwrap();
            assert!(listing.entries.iter().any(|s| s.id.as_str() == "stays"));
            // A file is empty between its creation and the write.
            let fine = |s: &Skipped| s.reason.contains("is empty");
            assert!(listing.skipped.iter().all(fine), "{:?}", listing.skipped);
        }
    });
}

#[test]
fn control_characters_in_a_name_are_escaped() {
    let disk = Disk::with(&[("a\u{1b}[2J\n.md", "x")]);
    check(
        &disk.skills(&["*.md"]),
        &[],
        &["a\\u{1b}[2J\\n.md: cannot be a skill"],
    );
}

#[test]
fn a_folder_that_cannot_be_read_is_skipped() {
    let disk = Disk::with(&[("top.md", "x")]);
    // A path longer than the system allows, made by changing into each folder.
    let name = "d".repeat(200);
    let dig =
        "i=0; while [ $i -lt 25 ]; do mkdir \"$0\" && cd -P \"./$0\" || exit 1; i=$((i+1)); done";
    let dug = Command::new("sh")
        .args(["-c", dig, &name])
        .current_dir(disk.path(""))
        .status();
    assert!(dug.unwrap().success());
    check(&disk.skills(&["**/*.md"]), &["top"], &["cannot be read: "]);
}
