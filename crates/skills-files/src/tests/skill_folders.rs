//! Folders with a `SKILL.md`: which are skills, which files they have, and how both change.

use std::time::{Duration, SystemTime};

use skills_core::{Change, Digest, Manifest, SkillFolder};

use super::*;
use crate::bundle::DIGESTS;

const PDF: &str =
    "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\n---\n# PDF\n\nText.\n";

impl Disk {
    fn folder(&self, patterns: &[&str], id: &str) -> Arc<SkillFolder> {
        let listing = block_on(self.sources(patterns, &[]).skills()).unwrap();
        let mut skills = listing.entries.into_iter();
        let skill = skills.find(|skill| skill.id.as_str() == id).unwrap();
        skill.folder.unwrap()
    }

    fn file(&self, patterns: &[&str], id: &str, path: &str) -> Option<Vec<u8>> {
        read(&self.sources(patterns, &[]), id, path)
    }
}

fn read(sources: &Sources, id: &str, path: &str) -> Option<Vec<u8>> {
    let (id, path) = (id.parse().unwrap(), path.parse().unwrap());
    let content = block_on(sources.file(&id, &path)).unwrap()?;
    assert_eq!(content.digest, Digest::of(&content.bytes));
    Some(content.bytes.to_vec())
}

fn paths(folder: &SkillFolder) -> Vec<&str> {
    folder.files.iter().map(|file| file.path.as_str()).collect()
}

fn manifest(sources: &Sources, id: &str) -> Manifest {
    let all = block_on(sources.manifests()).unwrap().entries;
    let found = all.into_iter().find(|entry| entry.skill.id.as_str() == id);
    found.unwrap()
}

#[test]
fn a_skill_md_makes_its_folder_a_skill() {
    let disk = Disk::with(&[
        ("s/pdf/SKILL.md", PDF),
        ("s/pdf/README.md", "# Read me"),
        ("s/pdf/references/api.md", "---\nx: 1\n---\n# API"),
        ("s/pdf/scripts/run.py", "print()"),
        ("s/pdf/.git/config", "hidden"),
        ("s/pdf/sub/SKILL.md", "# Nested"),
        ("s/pdf/sub/a.txt", "a"),
        ("s/plain.md", "# Plain"),
    ]);
    let all = ["s/**/*.md"];
    check(&disk.skills(&all), &["pdf", "pdf/sub", "plain"], &[]);
    let folder = disk.folder(&all, "pdf");
    assert_eq!(
        paths(&folder),
        [
            "README.md",
            "SKILL.md",
            "references/api.md",
            "scripts/run.py",
            "sub/SKILL.md",
            "sub/a.txt"
        ]
    );
    assert_eq!(
        &*folder.front_matter,
        r#"{"name":"pdf","description":"Reads PDF files.","license":"MIT"}"#
    );
    assert_eq!(*folder.rejections, [""; 0]);
    assert_eq!(paths(&disk.folder(&all, "pdf/sub")), ["SKILL.md", "a.txt"]);
    let listing = block_on(disk.sources(&all, &[]).skills()).unwrap();
    let pdf = &listing.entries[0];
    assert_eq!(pdf.head.description.as_deref(), Some("Reads PDF files."));
    assert_eq!(disk.body(&all, "pdf").as_deref(), Some("# PDF\n\nText.\n"));
    assert_eq!(disk.body(&all, "pdf/references/api"), None, "not a skill");
    // The pattern decides what is a skill, and every file below is served.
    check(&disk.skills(&["s/*/SKILL.md"]), &["pdf"], &[]);
    assert_eq!(paths(&disk.folder(&["s/*/SKILL.md"], "pdf")).len(), 6);
    for patterns in [&all[..], &["s/*/SKILL.md"]] {
        let file = |path: &str| disk.file(patterns, "pdf", path);
        assert_eq!(file("scripts/run.py").as_deref(), Some(&b"print()"[..]));
        assert_eq!(file("SKILL.md").as_deref(), Some(PDF.as_bytes()));
        for path in [
            "scripts",
            "scripts/none.py",
            ".git/config",
            "scripts/run.py/x",
        ] {
            assert_eq!(file(path), None, "{path}");
        }
        assert_eq!(disk.file(patterns, "plain", "a.txt"), None);
    }
}

#[test]
fn a_root_that_is_a_skill_gives_its_name() {
    let disk = Disk::with(&[
        ("s/pdf/SKILL.md", PDF),
        ("s/pdf/sub/SKILL.md", "# Nested"),
        ("s/pdf/a.md", "# A"),
    ]);
    for pattern in ["s/pdf/**/*.md", "s/pdf/**"] {
        check(&disk.skills(&[pattern]), &["pdf", "pdf/sub"], &[]);
        assert_eq!(
            disk.body(&[pattern], "pdf/sub").as_deref(),
            Some("# Nested")
        );
        assert_eq!(
            disk.file(&[pattern], "pdf", "a.md").as_deref(),
            Some(&b"# A"[..])
        );
    }
    check(&disk.skills(&["s/pdf/SKILL.md"]), &["pdf"], &[]);
    assert_eq!(*disk.folder(&["s/pdf/SKILL.md"], "pdf").rejections, [""; 0]);
    check(
        &disk.skills(&["s/SKILL.md"]),
        &[],
        &["pattern `s/SKILL.md`: matches no file"],
    );
}

#[test]
fn a_folder_name_that_is_no_id_is_served_under_another() {
    let disk = Disk::with(&[
        ("s/My Skill/SKILL.md", PDF),
        ("s/My Skill/a.txt", "a"),
        ("s/Pdf/SKILL.md", "# Upper"),
        ("s/pdf/SKILL.md", "# Lower"),
        ("s/日本/SKILL.md", "# None"),
    ]);
    let all = ["s/**/*.md"];
    let taken = "s/Pdf/SKILL.md: has the id `pdf` that s/pdf/SKILL.md has already; rename one";
    check(
        &disk.skills(&all),
        &["my-skill", "pdf"],
        &[
            taken,
            "s/日本/SKILL.md: is in a folder that cannot be a skill",
        ],
    );
    assert_eq!(disk.body(&all, "pdf").as_deref(), Some("# Lower"));
    assert_eq!(
        disk.body(&all, "my-skill").as_deref(),
        Some("# PDF\n\nText.\n")
    );
    assert_eq!(
        disk.file(&all, "my-skill", "a.txt").as_deref(),
        Some(&b"a"[..])
    );
    let report = block_on(disk.sources(&all, &[]).report())
        .unwrap()
        .folder
        .unwrap();
    let warnings: Vec<_> = report
        .skills
        .iter()
        .flat_map(|file| &file.warnings)
        .collect();
    assert_eq!(warnings.len(), 1, "once per folder: {warnings:?}");
    assert!(warnings[0].contains("is served as `my-skill`; rename the folder"));
    let rejections = &disk.folder(&all, "my-skill").rejections;
    assert!(
        rejections[0].contains("its folder is `My Skill`"),
        "{rejections:?}"
    );
}

#[test]
fn front_matter_that_cannot_be_read_is_a_part_of_the_body() {
    let broken = "---\nname: [pdf\n---\n# PDF\n";
    let large = format!("---\nname: {}\n---\n# L\n", "x".repeat(65_536));
    let open = "---\nname: open\ndescription: x\nText\n";
    let unclosed = "---\nname: pdf\ndescription: x\n\n# PDF\n";
    let disk = Disk::with(&[
        ("s/a/SKILL.md", broken),
        ("s/b.md", broken),
        ("s/large.md", &large),
        ("s/open/SKILL.md", open),
        ("s/pdf/SKILL.md", unclosed),
        ("s/tabs.md", "---\nmetadata:\n\ta: b\ntitle: T\n---\nx"),
    ]);
    let all = ["s/**/*.md"];
    check(
        &disk.skills(&all),
        &["a", "b", "large", "open", "pdf", "tabs"],
        &[],
    );
    assert_eq!(disk.body(&all, "large").as_deref(), Some(&*large));
    assert_eq!(disk.body(&all, "open").as_deref(), Some(open));
    assert_eq!(disk.body(&all, "a").as_deref(), Some(broken));
    assert_eq!(disk.body(&all, "b").as_deref(), Some(broken));
    assert_eq!(disk.body(&all, "pdf").as_deref(), Some("\n# PDF\n"));
    assert_eq!(disk.body(&all, "tabs").as_deref(), Some("x"));
    let report = block_on(disk.sources(&all, &[]).report()).unwrap();
    for (file, part) in report.folder.unwrap().skills.iter().zip([
        "has front matter that cannot be read",
        "has front matter that cannot be read",
        "has front matter of more than 65536 bytes; shorten it",
        "has front matter that is not closed; add a line `---` after the front matter",
        "is not closed; end it with a line `---`",
        "is indented with tabs, which YAML does not allow; use spaces",
    ]) {
        assert_eq!(file.warnings.len(), 1, "{file:?}");
        assert!(file.warnings[0].contains(part), "{file:?}");
    }
}

#[test]
fn a_folder_beyond_the_limits_has_a_body_and_no_files() {
    let disk = Disk::with(&[("s/many/SKILL.md", PDF), ("s/large/SKILL.md", PDF)]);
    for n in 0..511 {
        disk.write(&format!("s/many/d/{n}"), "x");
    }
    let file = fs::File::create(disk.path("s/large/a.bin")).unwrap();
    file.set_len(16_777_216 - PDF.len() as u64).unwrap();
    let all = ["s/**/*.md"];
    assert_eq!(disk.folder(&all, "many").files.len(), 512);
    assert_eq!(disk.folder(&all, "large").files.len(), 2);
    disk.write("s/many/d/nested/SKILL.md", "# Nested");
    disk.write("s/large/b", "x");
    for (id, part) in [
        ("many", "more than 512 files"),
        ("large", "of more than 16777216 bytes"),
    ] {
        let folder = disk.folder(&all, id);
        assert!(folder.files.is_empty());
        let problem = folder.files_problem.as_deref().unwrap();
        assert!(problem.contains(part), "{problem}");
        assert_eq!(disk.body(&all, id).as_deref(), Some("# PDF\n\nText.\n"));
        assert_eq!(
            disk.file(&all, id, "SKILL.md").as_deref(),
            Some(PDF.as_bytes())
        );
        assert_eq!(disk.file(&all, id, "d/1"), None);
    }
    // A skill in it has its own limits.
    assert_eq!(paths(&disk.folder(&all, "many/d/nested")), ["SKILL.md"]);
    let report = block_on(disk.sources(&all, &[]).report())
        .unwrap()
        .folder
        .unwrap();
    let warned = report
        .skills
        .iter()
        .filter(|file| !file.warnings.is_empty());
    assert_eq!(warned.count(), 2);
}

#[cfg(unix)]
#[test]
fn links_lead_inside_the_root_and_other_things_are_reported() {
    use std::os::unix::fs::symlink;
    let disk = Disk::with(&[
        ("s/pdf/SKILL.md", PDF),
        ("s/shared/a.txt", "shared"),
        ("s/shared/skill.txt", "# Linked\n"),
        ("secret.txt", "secret"),
        ("s/linked/x.txt", "x"),
    ]);
    symlink("../shared/a.txt", disk.path("s/pdf/a.txt")).unwrap();
    symlink("../shared", disk.path("s/pdf/shared")).unwrap();
    symlink("../../secret.txt", disk.path("s/pdf/secret.txt")).unwrap();
    symlink("..", disk.path("s/pdf/up")).unwrap();
    symlink("none", disk.path("s/pdf/broken")).unwrap();
    symlink("../shared/skill.txt", disk.path("s/linked/SKILL.md")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(disk.path("s/pdf/pipe"))
        .status();
    assert!(pipe.unwrap().success());
    let all = ["s/**/*.md"];
    check(
        &disk.skills(&all),
        &["linked", "pdf"],
        &[
            "s/pdf/broken: is a link to none, which does not exist",
            "s/pdf/pipe: is not a regular file",
            "s/pdf/secret.txt: is a link to ",
            "s/pdf/up: is a link to a folder it lies in",
        ],
    );
    let expected = ["SKILL.md", "a.txt", "shared/a.txt", "shared/skill.txt"];
    assert_eq!(paths(&disk.folder(&all, "pdf")), expected);
    let sources = disk.sources(&all, &[]);
    let (folder, manifest) = (disk.folder(&all, "pdf"), manifest(&sources, "pdf"));
    for (file, (_, digest)) in folder.files.iter().zip(manifest.files()) {
        let bytes = read(&sources, "pdf", file.path.as_str()).unwrap();
        assert_eq!(Digest::of(&bytes), digest, "{}", file.path);
    }
    for path in ["secret.txt", "pipe", "broken", "up/shared/a.txt"] {
        assert_eq!(read(&sources, "pdf", path), None, "{path}");
    }
    assert_eq!(disk.body(&all, "linked").as_deref(), Some("# Linked\n"));
    assert_eq!(
        disk.file(&all, "linked", "x.txt").as_deref(),
        Some(&b"x"[..])
    );
    // A link that is swapped in after the walk leads nowhere.
    fs::remove_file(disk.path("s/shared/a.txt")).unwrap();
    symlink("../../secret.txt", disk.path("s/shared/a.txt")).unwrap();
    assert_eq!(read(&sources, "pdf", "a.txt"), None);
    assert_eq!(read(&sources, "pdf", "shared/a.txt"), None);
}

#[test]
fn a_change_of_a_file_is_a_change_of_its_skill_and_of_those_around_it() {
    let disk = Disk::with(&[
        ("s/pdf/SKILL.md", PDF),
        ("s/pdf/a.txt", "a"),
        ("s/pdf/sub/SKILL.md", "# Nested"),
        ("s/other/SKILL.md", "# Other"),
    ]);
    let sources = disk.sources(&["s/**/*.md"], &[]);
    let snapshot = || block_on(sources.snapshot()).unwrap();
    let first = snapshot();
    assert_eq!(snapshot().changes_since(&first), []);
    let changed = |ids: &[&str]| -> Vec<_> {
        let ids = ids.iter().map(|id| id.parse().unwrap());
        ids.map(Change::SkillRegistered).collect()
    };
    disk.write("s/pdf/a.txt", "ab");
    let second = snapshot();
    assert_eq!(second.changes_since(&first), changed(&["pdf"]));
    disk.write("s/pdf/sub/b.txt", "b");
    let third = snapshot();
    assert_eq!(third.changes_since(&second), changed(&["pdf", "pdf/sub"]));
    fs::remove_file(disk.path("s/pdf/a.txt")).unwrap();
    assert_eq!(snapshot().changes_since(&third), changed(&["pdf"]));
}

#[test]
fn a_manifest_has_the_digests_of_what_is_there() {
    let disk = Disk::with(&[
        ("s/pdf/SKILL.md", PDF),
        ("s/pdf/a.txt", "one"),
        ("s/b.md", "# B"),
    ]);
    let sources = disk.sources(&["s/**/*.md"], &[]);
    let all = block_on(sources.manifests()).unwrap().entries;
    let counts: Vec<_> = all
        .iter()
        .map(|entry| (entry.skill.id.as_str(), entry.digests.len()))
        .collect();
    assert_eq!(counts, [("b", 0), ("pdf", 2)]);
    let generated = disk.file(&["s/**/*.md"], "b", "SKILL.md").unwrap();
    let text = str::from_utf8(&generated).unwrap();
    assert_eq!(text, "---\nname: \"b\"\ndescription: \"B\"\n---\n# B");
    let listed = all[0].generated.as_ref().unwrap();
    assert_eq!(listed.digest, Digest::of(&generated));
    assert_eq!(listed.bytes, generated.len() as u64);
    for text in ["two", "six", "ten"] {
        // The same length, faster than any clock ticks.
        disk.write("s/pdf/a.txt", text);
        let manifest = manifest(&sources, "pdf");
        let found: Vec<_> = manifest
            .files()
            .map(|(file, digest)| (file.bytes, digest))
            .collect();
        let expected = |text: &str| {
            (
                u32::try_from(text.len()).unwrap(),
                Digest::of(text.as_bytes()),
            )
        };
        assert_eq!(found, [expected(PDF), expected(text)]);
    }
}

#[test]
fn a_digest_is_computed_once_per_change() {
    let disk = Disk::with(&[("s/pdf/SKILL.md", PDF)]);
    for name in ["a", "b", "c"] {
        disk.write(&format!("s/pdf/{name}.txt"), "one");
    }
    let sources = disk.sources(&["s/**/*.md"], &[]);
    let computed = |walked: SystemTime| {
        let listed = sources.skills.walk().unwrap();
        let before = DIGESTS.get();
        let file = &listed.files[0];
        let found = file.folder.as_ref().unwrap();
        let folder = file.entry.folder.as_ref().unwrap();
        let digests = folder.bundle.digest_files(found, folder.skill_md, walked);
        assert_eq!(digests.unwrap().len(), 4);
        DIGESTS.get() - before
    };
    let now = SystemTime::now();
    assert_eq!((computed(now), computed(now)), (3, 3), "fresh files");
    // A time at which the stamps of files written now have settled.
    let later = now + Duration::from_mins(1);
    assert_eq!((computed(later), computed(later)), (3, 0));
    disk.write("s/pdf/a.txt", "longer");
    assert_eq!((computed(later), computed(later)), (1, 0));
    disk.write("s/pdf/SKILL.md", PDF.replace("Text", "More words"));
    assert_eq!(computed(later), 0, "it was read to be parsed");
}
