//! Folders on disk: what is served, what is skipped, and for which reason.

mod agents;
mod bad_folders;
mod edits;
mod folders;
mod skill_folders;
#[cfg(unix)]
mod unix;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use skills_core::{Skipped, Source};
use tempfile::TempDir;

use crate::scan::Limits;
use crate::{FolderReport, Sources};

/// A temporary folder with files.
struct Disk(TempDir);

impl Disk {
    fn with(files: &[(&str, &str)]) -> Self {
        let disk = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            disk.write(path, text);
        }
        disk
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn sources(&self, skills: &[&str], prompts: &[&str]) -> Sources {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        Sources::new(self.0.path(), &owned(skills), &owned(prompts), &[])
    }

    fn limited(&self, skills: &[&str], limits: Limits) -> Sources {
        let mut sources = self.sources(skills, &[]);
        Arc::get_mut(&mut sources.skills).unwrap().limits = limits;
        sources
    }

    /// The ids, and what is skipped with paths relative to this folder.
    fn skills(&self, patterns: &[&str]) -> (Vec<String>, Vec<String>) {
        let listing = block_on(self.sources(patterns, &[]).skills()).unwrap();
        let mut ids: Vec<_> = listing.entries.iter().map(|s| s.id.to_string()).collect();
        ids.sort();
        (ids, self.reasons(&listing.skipped))
    }

    fn prompts(&self, patterns: &[&str]) -> (Vec<String>, Vec<String>) {
        let listing = block_on(self.sources(&[], patterns).prompts()).unwrap();
        let names = listing.entries.iter().map(|p| p.name.to_string());
        (names.collect(), self.reasons(&listing.skipped))
    }

    fn reasons(&self, skipped: &[Skipped]) -> Vec<String> {
        let here = format!("{}/", self.path("").display()).replace("//", "/");
        let line = |s: &Skipped| format!("{}: {}", s.place, s.reason).replace(&here, "");
        let mut lines: Vec<_> = skipped.iter().map(line).collect();
        lines.sort();
        lines
    }

    #[track_caller]
    fn body(&self, patterns: &[&str], id: &str) -> Option<String> {
        let id = id.parse().unwrap();
        let body = block_on(self.sources(patterns, &[]).skill(&id)).unwrap();
        body.map(|body| body.to_string())
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

/// Checks the ids, and that each report contains the expected part.
#[track_caller]
fn check(got: &(Vec<String>, Vec<String>), ids: &[&str], skipped: &[&str]) {
    assert_eq!(got.0, ids, "{:?}", got.1);
    assert_eq!(got.1.len(), skipped.len(), "{:#?}", got.1);
    for (line, part) in got.1.iter().zip(skipped) {
        assert!(line.contains(part), "{line:?} has no {part:?}");
    }
}

/// Ends the other thread when an assertion fails, too.
struct StopOnDrop<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn an_id_is_the_path_without_prefix_and_ending() {
    let disk = Disk::with(&[
        ("my/foo.md", "# Foo\n\nAbout foo."),
        ("my/foo/bar/baz.md", "# Baz"),
        ("top.md", "# Top"),
        ("docs/team-a.md", "# A"),
    ]);
    let all = ["my/**/*.md", "*.md", "docs/team-a.md"];
    check(
        &disk.skills(&all),
        &["foo", "foo/bar/baz", "team-a", "top"],
        &[],
    );
    let absolute = disk.path("my/**/*.md");
    check(
        &disk.skills(&[absolute.to_str().unwrap()]),
        &["foo", "foo/bar/baz"],
        &[],
    );
    check(
        &disk.skills(&["{my,docs}/*.md"]),
        &["docs/team-a", "my/foo"],
        &[],
    );
    let listing = block_on(disk.sources(&["my/*.md"], &[]).skills()).unwrap();
    let skill = &listing.entries[0];
    assert_eq!(skill.head.title.as_deref(), Some("Foo"));
    assert_eq!(skill.head.description.as_deref(), Some("About foo."));
    assert_eq!(skill.bytes, 17);
    assert!(skill.registered_at.ends_with('Z') && skill.registered_at.len() == 27);
    assert_eq!(
        disk.body(&["my/**/*.md"], "foo/bar/baz").as_deref(),
        Some("# Baz")
    );
    assert_eq!(disk.body(&["my/*.md"], "foo/bar/baz"), None);
    assert_eq!(disk.body(&["my/*.md"], "nothing"), None);
}

#[test]
fn names_that_are_not_ids_are_skipped() {
    let long = format!("d/{}.md", "a".repeat(65));
    let disk = Disk::with(&[
        (&long, "x"),
        ("d/.md", "x"),
        ("d/README.md", "x"),
        ("d/a b.md", "x"),
        ("d/a.b.md", "x"),
        ("d/fn/x.md", "x"),
        ("d/ok.md", "x"),
        ("d/skills.md", "x"),
        ("d/y.MD", "x"),
        ("d/z.txt", "x"),
    ]);
    check(
        &disk.skills(&["d/**"]),
        &["ok"],
        &[
            "d/.md: cannot be a skill: id must be non-empty; rename it",
            "d/README.md: cannot be a skill: id segment `README` has 'R'",
            "d/a b.md: cannot be a skill: id segment `a b` has ' '",
            "d/a.b.md: cannot be a skill: id segment `a.b` has '.'",
            "is too long: 65 characters",
            "d/fn/x.md: cannot be a skill: id `fn/x` must not start with `fn`",
            "d/skills.md: cannot be a skill: id must not be `skills`",
            "d/y.MD: does not end in `.md`",
            "d/z.txt: does not end in `.md`",
        ],
    );
}

#[test]
fn contents_that_cannot_be_served_are_skipped() {
    let disk = Disk::with(&[
        ("a.md", ""),
        ("b.md", " \n"),
        ("c.md", "---\nx: 1\n---\nHi"),
    ]);
    disk.write("d.md", [0xff, 0xfe]);
    disk.write("e.md", "a".repeat(262_145));
    let expected = [
        "a.md: is empty",
        "b.md: is empty",
        "d.md: is not UTF-8",
        "e.md: is too large: 262145 bytes, at most 262144",
    ];
    check(&disk.skills(&["*.md"]), &["c"], &expected);
    assert_eq!(disk.body(&["*.md"], "c").as_deref(), Some("Hi"));
    for id in ["a", "b", "d", "e"] {
        assert_eq!(disk.body(&["*.md"], id), None, "for {id}");
    }
}

#[test]
fn a_file_counts_once_and_the_first_pattern_names_it() {
    let disk = Disk::with(&[("d/x/a.md", "x")]);
    check(&disk.skills(&["d/**/*.md", "d/x/*.md"]), &["x/a"], &[]);
    check(&disk.skills(&["d/x/*.md", "./d/../d/**/*.md"]), &["a"], &[]);
    assert!(disk.body(&["d/**/*.md", "d/x/*.md"], "a").is_none());
    assert!(disk.body(&["d/x/*.md", "d/**/*.md"], "a").is_some());
    assert!(disk.body(&["d/x/*.md", "d/**/*.md"], "x/a").is_none());
}

#[test]
fn of_two_files_with_one_id_the_first_path_wins() {
    let disk = Disk::with(&[("a/x.md", "from a"), ("b/x.md", "from b"), ("0/x.md", " ")]);
    let patterns = ["b/*.md", "a/*.md", "0/*.md"];
    let taken = format!(
        "b/x.md: has the id `x` that {} has already",
        disk.path("a/x.md").display()
    );
    let taken = taken.replace(
        &format!("{}/", disk.path("").display()).replace("//", "/"),
        "",
    );
    check(
        &disk.skills(&patterns),
        &["x"],
        &["0/x.md: is empty", &taken],
    );
    assert_eq!(disk.body(&patterns, "x").as_deref(), Some("from a"));
}

#[test]
fn patterns_without_a_match_are_reported() {
    let disk = Disk::with(&[("d/a.md", "x"), ("d/sub.md/b.md", "x")]);
    check(
        &disk.skills(&[
            "[",
            "d/none*.md",
            "gone/*.md",
            "d/gone.md",
            "d",
            "d/a.md/*.md",
            &format!("d/{}.md", "a".repeat(300)),
        ]),
        &[],
        &[
            "aaa.md: cannot be read: ",
            "d: is a folder; write `d/**/*.md`",
            "pattern `[`: is not a valid pattern",
            "pattern `d/a.md/*.md`: matches no file: ",
            "pattern `d/gone.md`: matches no file",
            "pattern `d/none*.md`: matches no file",
            "pattern `gone/*.md`: matches no file: there is no folder",
        ],
    );
    check(
        &disk.skills(&["d/*.md"]),
        &["a"],
        &["d/sub.md: is a folder; write"],
    );
}

#[test]
fn a_walk_beyond_the_limits_stops_with_a_report() {
    let disk = Disk::with(&[
        ("a/b/c/d.md", "x"),
        ("a/b/e.md", "x"),
        ("a/x.txt", "x"),
        ("a/y.txt", "x"),
    ]);
    let with = |limits: Limits| {
        let listing = block_on(disk.limited(&["**"], limits).skills()).unwrap();
        let ids = listing.entries.iter().map(|s| s.id.to_string()).collect();
        (ids, disk.reasons(&listing.skipped))
    };
    let default = Limits::DEFAULT;
    let (_, reasons) = with(Limits {
        entries: 3,
        ..default
    });
    assert!(
        reasons
            .iter()
            .any(|s| s.contains("was given up after 3 files and folders"))
    );
    let expected = ["a/b/c: is 2 folders deep", "a/x.txt: ", "a/y.txt: "];
    check(
        &with(Limits {
            depth: 2,
            ..default
        }),
        &["a/b/e"],
        &expected,
    );
    let (ids, reasons) = with(Limits {
        reports: 1,
        ..default
    });
    assert_eq!((ids.len(), reasons.len()), (2, 2));
    assert!(
        reasons[1].contains("matches 1 more files that cannot be served"),
        "{reasons:?}"
    );
    // The whole disk.
    let listing = block_on(
        disk.limited(
            &["/**"],
            Limits {
                entries: 2_000,
                ..default
            },
        )
        .skills(),
    );
    assert!(listing.unwrap().skipped.len() <= 2_002);
}

#[test]
fn prompts_have_front_matter() {
    let disk = Disk::with(&[
        (
            "p/a.md",
            "---\ndescription: Does a.\nmodel: big\n---\nDo a.\n",
        ),
        (
            "p/b.md",
            "---\nname: bee\ndescription: Use it: often\n---\nDo b.\n",
        ),
        ("p/c.md", "# No front matter"),
        ("p/d.md", "---\ndescription: x\n"),
        ("p/e.md", "---\n- x\n---\nHi"),
        ("p/f.md", "---\ndescription: x\n---\n\n"),
        ("p/g/a.md", "---\ndescription: another a\n---\nHi"),
        ("p/H.md", "---\ndescription: x\n---\nHi"),
        ("p/i.md", "---\r\ndescription: x\r\n---\r\nHi\r\n"),
    ]);
    check(
        &disk.prompts(&["p/**/*.md"]),
        &["a", "bee", "i"],
        &[
            "p/H.md: cannot be a prompt: name `H` has 'H'",
            "p/c.md: has no front matter",
            "p/d.md: has front matter that is not closed",
            "p/e.md: has front matter that is not a map",
            "p/f.md: has no text after the front matter",
            "p/g/a.md: has the name `a` that p/a.md has already; rename one",
        ],
    );
    let sources = disk.sources(&[], &["p/**/*.md"]);
    let prompt = block_on(sources.prompt(&"bee".parse().unwrap(), &serde_json::Map::new()))
        .unwrap()
        .unwrap();
    assert_eq!(&*prompt.text, "Do b.\n");
    assert_eq!(&*prompt.prompt.description, "Use it: often");
    assert!(
        block_on(sources.prompt(&"b".parse().unwrap(), &serde_json::Map::new()))
            .unwrap()
            .is_none()
    );
    let report: FolderReport = block_on(sources.report()).unwrap().folder.unwrap();
    assert_eq!(report.prompts[1].path, disk.path("p/b.md"));
    assert!(report.prompts[1].warnings[0].contains("put it in quotes"));
    assert_eq!((report.prompts.len(), report.skipped.len()), (3, 6));
}
