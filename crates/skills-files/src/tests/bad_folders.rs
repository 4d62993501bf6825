//! Skill folders that cannot be served whole: each has a report, and no other skill is harmed.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use skills_core::{FilePath, Manifest};

use super::*;

const PDF: &str = "---\nname: pdf\ndescription: d\n---\n# PDF";
const GOOD: &str = "---\nname: good\ndescription: d\n---\n# Good";
const ALL: [&str; 1] = ["s/**/*.md"];

/// A good skill beside the folder `pdf`, in which a test does something bad.
fn disk() -> Disk {
    Disk::with(&[
        ("s/good/SKILL.md", GOOD),
        ("s/good/a.txt", "a"),
        ("s/pdf/SKILL.md", PDF),
        ("s/pdf/a.txt", "a"),
    ])
}

fn manifests(sources: &Sources) -> Vec<Manifest> {
    block_on(sources.manifests()).unwrap().entries
}

/// Checks that `good` has its files and `pdf` its body, and no file for this reason.
#[track_caller]
fn check_files_problem(disk: &Disk, part: &str) {
    let sources = disk.sources(&ALL, &[]);
    let all = manifests(&sources);
    let find = |id: &str| all.iter().find(|entry| entry.skill.id.as_str() == id);
    assert_eq!(find("good").unwrap().files().count(), 2);
    let folder = find("pdf").unwrap().skill.folder.as_ref().unwrap();
    assert_eq!(folder.files.len(), 0);
    let problem = folder.files_problem.as_deref().unwrap();
    assert!(problem.contains(part), "{problem:?} has no {part:?}");
    assert_eq!(disk.body(&ALL, "pdf").as_deref(), Some("# PDF"));
}

#[test]
fn a_file_of_one_gibibyte_is_not_read() {
    let disk = disk();
    let file = File::create(disk.path("s/pdf/huge.bin")).unwrap();
    file.set_len(1 << 30).unwrap();
    check_files_problem(
        &disk,
        "of more than 16777216 bytes, which are not served; remove some",
    );
    let report = block_on(disk.sources(&ALL, &[]).report()).unwrap();
    let skills = report.folder.unwrap().skills;
    let pdf = skills.iter().find(|skill| skill.name == "pdf").unwrap();
    assert_eq!(pdf.path, disk.path("s/pdf/SKILL.md"));
    assert!(pdf.warnings[0].contains("remove some"), "{pdf:?}");
    let sources = disk.sources(&ALL, &[]);
    let (id, path) = ("pdf".parse().unwrap(), "huge.bin".parse().unwrap());
    assert_eq!(block_on(sources.file(&id, &path)).unwrap(), None);
}

#[test]
fn ten_thousand_files_are_counted_and_not_served() {
    let disk = disk();
    for n in 0..10_000 {
        disk.write(&format!("s/pdf/f/{n}.txt"), "");
    }
    check_files_problem(
        &disk,
        "has more than 512 files, which are not served; remove some",
    );
}

#[test]
fn folders_that_are_too_deep_are_reported() {
    let disk = disk();
    let deep = "d/".repeat(70);
    disk.write(&format!("s/pdf/{deep}x.txt"), "x");
    let (ids, reasons) = disk.skills(&ALL);
    assert_eq!(ids, ["good", "pdf"]);
    assert!(
        reasons[0].contains("is 64 folders deep and not entered; move it up"),
        "{reasons:?}"
    );
    let all = manifests(&disk.sources(&ALL, &[]));
    let counts: Vec<_> = all.iter().map(|entry| entry.files().count()).collect();
    assert_eq!(counts, [2, 2]);
}

#[test]
fn a_folder_that_is_deleted_while_it_is_read_harms_no_other() {
    let disk = disk();
    let sources = disk.sources(&ALL, &[]);
    let stop = AtomicBool::new(false);
    let (mut with, mut without) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::remove_dir_all(disk.path("s/pdf")).unwrap();
                disk.write("s/pdf/SKILL.md", PDF);
                disk.write("s/pdf/a.txt", "a");
            }
        });
        let _stops = StopOnDrop(&stop);
        while with < 50 || without < 50 {
            let all = manifests(&sources);
            let good = all.iter().find(|entry| entry.skill.id.as_str() == "good");
            assert_eq!(good.unwrap().files().count(), 2);
            match all.iter().find(|entry| entry.skill.id.as_str() == "pdf") {
                Some(pdf) => {
                    let files = pdf.skill.folder.as_ref().unwrap().files.len();
                    assert_eq!(pdf.digests.len(), files, "of one version");
                    with += 1;
                }
                None => without += 1,
            }
            let (id, path) = ("pdf".parse().unwrap(), "a.txt".parse().unwrap());
            if let Some(content) = block_on(sources.file(&id, &path)).unwrap() {
                assert!(matches!(&*content.bytes, b"a" | b""));
            }
        }
    });
}

/// A file that cannot be read for a reason that holds for every user.
#[cfg(target_os = "linux")]
#[test]
fn an_unreadable_file_is_reported_with_its_path() {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    let disk = disk();
    let made = Command::new("mkfifo").arg(disk.path("s/pdf/pipe")).status();
    assert!(made.unwrap().success());
    symlink("nowhere", disk.path("s/pdf/lost.txt")).unwrap();
    symlink("/proc/self/mem", disk.path("s/pdf/out.txt")).unwrap();
    check(
        &disk.skills(&ALL),
        &["good", "pdf"],
        &[
            "s/pdf/lost.txt: is a link to nowhere, which does not exist",
            "s/pdf/out.txt: is a link to ",
            "s/pdf/pipe: is not a regular file",
        ],
    );
    let all = manifests(&disk.sources(&ALL, &[]));
    let counts: Vec<_> = all.iter().map(|entry| entry.files().count()).collect();
    assert_eq!(counts, [2, 2], "the others are served");
}

/// Between the listing and the read, a file becomes a link out of the root.
#[cfg(unix)]
#[test]
fn a_file_that_is_swapped_with_a_link_after_the_list_is_not_followed() {
    use std::os::unix::fs::symlink;

    let disk = disk();
    disk.write("secret.txt", "SECRET");
    disk.write("s/pdf/d/b.txt", "b");
    let sources = disk.sources(&ALL, &[]);
    assert_eq!(manifests(&sources).len(), 2);
    for (swapped, target) in [("a.txt", "../../secret.txt"), ("d", "../..")] {
        let path = disk.path(&format!("s/pdf/{swapped}"));
        if swapped == "d" {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        symlink(target, path).unwrap();
    }
    let id = "pdf".parse().unwrap();
    for path in ["a.txt", "d/b.txt", "d/secret.txt"] {
        let path = path.parse().unwrap();
        assert_eq!(block_on(sources.file(&id, &path)).unwrap(), None, "{path}");
    }
    let (ids, reasons) = disk.skills(&ALL);
    assert_eq!(ids, ["good", "pdf"]);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    for reason in reasons {
        assert!(reason.contains("copy the file instead"), "{reason}");
    }
}

#[test]
fn paths_of_files_are_checked() {
    let disk = Disk::with(&[("s/pdf/SKILL.md", PDF), ("s/pdf/a\nb.txt", "x")]);
    check(
        &disk.skills(&["s/**/*.md"]),
        &["pdf"],
        &["a\\nb.txt: cannot be served: path "],
    );
    for path in ["../x", "/etc/passwd", "a/../../x", "a//b"] {
        path.parse::<FilePath>().unwrap_err();
    }
}
