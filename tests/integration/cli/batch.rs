//! `import` and `export` of folders, and several processes that write at once.

use std::collections::BTreeSet;

use super::transcript::Transcript;

#[test]
fn a_folder_is_imported_and_exported() {
    let mut s = Transcript::new();
    s.file("docs/resend.md", "# Resend\n")
        .file("docs/resend/email.md", "---\nowner: me\n---\n# Email\r\n")
        .file("docs/.hidden/x.md", "# Hidden\n")
        .file("docs/notes.txt", "not markdown\n");
    s.step("skills import docs").step("skills import docs");
    s.file("docs/resend.md", "# Resent\n");
    s.step("skills import docs --json")
        .step("skills export out")
        .step("skills export out");
    s.file("out/resend.md", "# Mine\n");
    s.step("skills export out");
    assert_eq!(
        std::fs::read_to_string(s.path("out/resend.md")).unwrap(),
        "# Mine\n"
    );
    s.step("skills export out --force --json");
    for name in ["resend.md", "resend/email.md"] {
        let here = std::fs::read(s.path("docs").join(name)).unwrap();
        assert_eq!(
            std::fs::read(s.path("out").join(name)).unwrap(),
            here,
            "{name}"
        );
    }
    let left: Vec<_> = std::fs::read_dir(s.path("out")).unwrap().collect();
    assert_eq!(left.len(), 2, "only the folder and the file");
    s.step("skills export other --origin fs");
    s.matches("batch");
}

#[test]
fn files_that_cannot_be_imported_are_listed() {
    let mut s = Transcript::new();
    s.file("docs/fine.md", "# Fine\n")
        .file("docs/Bad Name.md", "# Bad\n")
        .file("docs/binary.md", [0xff_u8, 0xfe])
        .file("docs/empty.md", "")
        .file("docs/skills.md", "# Index\n");
    std::fs::create_dir(s.path("docs/dir.md")).unwrap();
    s.step("skills import docs")
        .step("skills import docs --json")
        .step("skills import docs/fine.md")
        .step("skills import nowhere")
        .step("skills import data");
    s.matches("batch_errors");
}

#[test]
fn skills_that_cannot_be_exported_are_listed() {
    let mut s = Transcript::new();
    s.run_with("skills register a -", "# A\n");
    s.run_with("skills register a/b -", "# B\n");
    s.file("file", "in the way\n")
        .file("out/a", "a file where a folder should be\n");
    s.step("skills export file").step("skills export out");
    s.matches("export_errors");
}

#[test]
fn a_registered_skill_that_is_off_is_replaced_by_an_import() {
    let s = Transcript::new();
    s.run_with("skills register a -", "---\nvisibility: off\n---\n# Off\n");
    s.file("docs/a.md", "# On\n");
    let output = s.run("skills import docs");
    assert_eq!(
        (output.code, &*output.stdout),
        (0, "a.md\n"),
        "{}",
        output.stderr
    );
    assert_eq!(s.run("skills read a").stdout, "# On\n");
}

#[test]
fn a_file_that_is_off_is_imported_over_a_skill_that_is_off() {
    let s = Transcript::new();
    let off = "---\nvisibility: off\n---\n# Off\n";
    s.run_with("skills register a - --owner writer", off);
    s.file("docs/a.md", off);
    let output = s.run("skills import docs");
    assert_eq!((output.code, &*output.stdout), (0, ""), "{}", output.stderr);
    s.file("docs/a.md", off.to_owned() + "More.\n");
    let output = s.run("skills import docs");
    assert_eq!((output.code, &*output.stdout), (0, "a.md\n"));
    let warning = "warning: a: it is registered without an owner and a lease now";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
}

#[test]
fn an_import_that_is_refused_for_other_texts_is_a_conflict() {
    let s = Transcript::new();
    s.file(
        "config.yaml",
        "skills: ['docs/*.md']\nsources:\n  on_conflict: refuse\n",
    )
    .file("docs/a.md", "# From a file\n")
    .file("in/a.md", "# Another\n")
    .file("in/b.md", "# B\n");
    let output = s.run("skills import in");
    assert_eq!(
        (output.code, &*output.stdout),
        (6, "b.md\n"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("something else has these ids now"));
}

#[test]
fn an_import_says_which_entries_lose_their_owner() {
    let s = Transcript::new();
    s.file("a.md", "# A\n").file("docs/a.md", "# New\n");
    s.run("skills register a a.md --owner mailer");
    s.run_with(
        "skills register off - --owner writer",
        "---\nvisibility: off\n---\n# Off\n",
    );
    s.file("docs/off.md", "# On\n");
    let output = s.run("skills import docs");
    for warning in [
        "warning: a: it is registered without its owner `mailer`",
        "warning: off: it is registered without an owner and a lease now",
    ] {
        assert!(output.stderr.contains(warning), "{}", output.stderr);
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let s = Transcript::new();
    s.file("docs/a.md", "# A\n")
        .file("elsewhere/secret.md", "# Secret\n")
        .file("out/x", "");
    symlink(s.path("elsewhere/secret.md"), s.path("docs/secret.md")).unwrap();
    symlink(s.path("elsewhere"), s.path("docs/away")).unwrap();
    symlink("a.md", s.path("docs/same.md")).unwrap();
    let output = s.run("skills import docs");
    assert_eq!((output.code, &*output.stdout), (2, "a.md\nsame.md\n"));
    for name in ["away", "secret.md"] {
        let warning = format!("warning: {name}: is a link to ");
        assert!(output.stderr.contains(&warning), "{}", output.stderr);
    }
    let listed = s.run("skills list --flat --quiet").stdout;
    assert!(!listed.contains("secret"), "{listed}");

    s.run_with("skills register away/b -", "# B\n");
    symlink(s.path("elsewhere"), s.path("out/away")).unwrap();
    symlink(s.path("elsewhere/secret.md"), s.path("out/a.md")).unwrap();
    let output = s.run("skills export out --force");
    assert_eq!((output.code, &*output.stdout), (2, "same.md\n"));
    for name in ["out/away", "out/a.md"] {
        let warning = format!("{name} is a link, which may lead elsewhere");
        assert!(output.stderr.contains(&warning), "{}", output.stderr);
    }
    let left = std::fs::read_dir(s.path("elsewhere")).unwrap().count();
    let secret = std::fs::read_to_string(s.path("elsewhere/secret.md"));
    assert_eq!((left, &*secret.unwrap()), (1, "# Secret\n"));
}

#[cfg(unix)]
#[test]
fn no_command_waits_for_the_writer_of_a_pipe() {
    let s = Transcript::new();
    s.run_with("skills register pipe -", "# Pipe\n");
    std::fs::create_dir(s.path("out")).unwrap();
    for pipe in ["pipe", "out/pipe.md"] {
        let made = std::process::Command::new("mkfifo")
            .arg(s.path(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    for (command, code, problem) in [
        (
            "skills register a pipe",
            2,
            "cannot read pipe: it is not a regular file",
        ),
        (
            "skills register a /dev/zero",
            2,
            "cannot read /dev/zero: it is not a regular file",
        ),
        ("skills export out", 2, "pipe.md: it is not a regular file"),
        (
            "skills list --config pipe",
            2,
            "the configuration cannot be used: pipe: it is not a regular file",
        ),
    ] {
        let output = s.run(command);
        assert_eq!(output.code, code, "{command}: {}", output.stderr);
        assert!(
            output.stderr.contains(problem),
            "{command}: {}",
            output.stderr
        );
    }
    // A descriptor is open already, like that of `<(command)`.
    let output = s.run_with("skills register a /dev/stdin", "# A\n");
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn a_thousand_skills_are_imported_and_exported() {
    let s = Transcript::new();
    for n in 0..1000 {
        s.file(
            &format!("docs/group-{}/skill-{n}.md", n % 10),
            format!("# Skill {n}\n"),
        );
    }
    let output = s.run("skills import docs");
    assert_eq!(output.stderr, "1000 imported, 0 unchanged, 0 left out\n");
    // Some are missing, as after an interrupted import; the next import adds them.
    s.run("skills unregister group-0/skill-0 group-1/skill-1");
    let output = s.run("skills import docs");
    assert_eq!(output.stderr, "2 imported, 998 unchanged, 0 left out\n");
    let output = s.run("skills export out");
    assert_eq!(output.stderr, "1000 exported, 0 unchanged, 0 kept\n");
    let body = std::fs::read_to_string(s.path("out/group-9/skill-999.md")).unwrap();
    assert_eq!(body, "# Skill 999\n");
}

#[test]
fn several_processes_write_at_once() {
    const PROCESSES: usize = 8;
    let s = Transcript::new();
    std::thread::scope(|scope| {
        for n in 0..PROCESSES {
            let s = &s;
            scope.spawn(move || {
                for round in 0..3 {
                    let output = s.run_with(
                        &format!("skills register own-{n} -"),
                        format!("# {n} {round}\n"),
                    );
                    assert_eq!(output.code, 0, "{}", output.stderr);
                    let output = s.run_with("skills register shared -", format!("# By {n}\n"));
                    assert_eq!(output.code, 0, "{}", output.stderr);
                }
            });
        }
    });
    let listed = s.run("skills list --flat --quiet").stdout;
    let ids: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(ids.len(), PROCESSES + 1, "{listed}");
    for n in 0..PROCESSES {
        assert_eq!(
            s.run(&format!("skills read own-{n}")).stdout,
            format!("# {n} 2\n")
        );
    }
    assert!(s.run("skills read shared").stdout.starts_with("# By "));
}
