//! Invalid, unusual and very large documents.

use std::fmt::Write as _;
use std::path::Path;

use skills_test_support::document::{SAMPLE, call};
use skills_test_support::process::skills_command;

use super::process::{folder, serve, text};

/// Checks the error for a path.
#[track_caller]
fn check_refused(path: &Path, expected: &str) {
    let output = serve(path, "", &[]);
    assert_eq!(output.status.code(), Some(1), "for {}", path.display());
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert_eq!(
        stderr,
        format!("[agent-3md mcp] {expected}\n"),
        "for {}",
        path.display()
    );
}

#[test]
fn an_invalid_document_is_refused_with_one_line() {
    let (folder, _) = folder(SAMPLE);
    let at = |name: &str| folder.path().join(name);
    let shown = |name: &str| at(name).display().to_string();
    for name in ["agent.md", "agent", ".3md", "agent.3md.bak"] {
        std::fs::write(at(name), SAMPLE).unwrap();
        let expected = format!("refusing to load a non-.3md file: {}", shown(name));
        check_refused(&at(name), &expected);
    }
    std::fs::create_dir(at("folder.3md")).unwrap();
    let expected = format!("cannot read {}: it is a directory", shown("folder.3md"));
    check_refused(&at("folder.3md"), &expected);
    std::fs::write(at("large.3md"), vec![b'-'; 5_242_881]).unwrap();
    check_refused(
        &at("large.3md"),
        "document too large (5242881 bytes > 5242880); refusing to load.",
    );
    for (name, document, why) in [
        (
            "text.3md",
            "# just text\n",
            "1:1: the document does not begin with a `---` line",
        ),
        ("open.3md", "---\n3md: 1\n", "1:1: "),
        (
            "version.3md",
            "---\nagent: x\n---\n",
            "1:1: the front matter names no `3md` version",
        ),
        (
            "bare.3md",
            "---\n3md: 1\n---\n",
            "the document has no planes",
        ),
    ] {
        std::fs::write(at(name), document).unwrap();
        let output = serve(&at(name), "", &[]);
        assert_eq!(output.status.code(), Some(1), "for {name}");
        let stderr = text(&output.stderr);
        let expected = format!("[agent-3md mcp] failed to parse {}: {why}", shown(name));
        assert!(stderr.starts_with(&expected), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let missing = serve(&at("missing.3md"), "", &[]);
    assert_eq!(missing.status.code(), Some(1));
    let stderr = text(&missing.stderr);
    let expected = format!("[agent-3md mcp] cannot read {}: ", shown("missing.3md"));
    assert!(stderr.starts_with(&expected), "{stderr}");
}

/// Opening a pipe does not wait for its writer.
#[cfg(unix)]
#[test]
fn a_pipe_is_refused_at_once() {
    let (folder, _) = folder(SAMPLE);
    let path = folder.path().join("pipe.3md");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    check_refused(
        &path,
        &format!("cannot read {}: it is not a regular file", path.display()),
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder(SAMPLE);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    // Root can read everything.
    let expected = if std::fs::read(&path).is_ok() {
        "dev: 5 skills"
    } else {
        "cannot read"
    };
    let output = serve(&path, "", &[]);
    assert!(text(&output.stderr).contains(expected));
}

#[test]
fn invalid_utf8_is_replaced() {
    let (_folder, path) = folder("");
    let mut bytes = SAMPLE.replace("Half.", "Half ").into_bytes();
    bytes.extend_from_slice(b"\xff!");
    std::fs::write(&path, bytes).unwrap();
    let output = serve(&path, call("get_skill", r#"{"z":1.5}"#), &[]);
    assert!(text(&output.stdout).contains("\u{FFFD}!"));
}

/// With `--strict` a document with errors is not served.
#[test]
fn findings_go_to_stderr_and_strict_refuses_errors() {
    let (_folder, path) = folder(SAMPLE);
    let output = serve(&path, "", &[]);
    assert!(output.status.success());
    let stderr = text(&output.stderr);
    let cycle = format!("[agent-3md mcp] {}:16:", path.display());
    assert!(
        stderr.contains(&cycle) && stderr.contains(" error [cycle] "),
        "{stderr}"
    );
    assert!(stderr.contains(" warning [triggers] "), "{stderr}");

    let output = serve(&path, "", &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains(" error [cycle] "), "{stderr}");
    let refused = format!(
        "[agent-3md mcp] refusing to serve {}: 1 error(s)\n",
        path.display()
    );
    assert!(stderr.ends_with(&refused), "{stderr}");

    std::fs::write(&path, SAMPLE.replace("[[z=3]]", "nothing")).unwrap();
    assert!(
        serve(&path, "", &["--strict"]).status.success(),
        "warnings are served"
    );
}

/// Each document is the largest of its kind.
#[test]
fn the_largest_documents_are_served() {
    let front = "---\n3md: 1\nagent: big\n---\n@plane z=0 kind=identity\nBig.\n";
    let mut planes = String::from(front);
    for z in 1..=100_000 {
        let _ = write!(planes, "@plane z={z}\nx\n");
    }
    planes.push_str(&" ".repeat(5_242_880 - planes.len()));
    let mut chain = String::from(front);
    for z in 1..=50_000 {
        let _ = write!(
            chain,
            "@plane z={z} label=s{z} triggers=t\n[[z={}]]\n",
            z + 1
        );
    }
    chain.push_str("@plane z=50001 label=s50001 triggers=t\nend\n");
    let openings = format!(
        "{front}@plane z=1 label=a triggers=a\n{}\n",
        "[[z=1|".repeat(80_000)
    );
    let mut line = format!("{front}@plane z=1 label=a triggers=a\n");
    line.push_str(&"a ".repeat((5_242_880 - line.len()) / 2));
    let spaces = format!(
        "{front}@plane z=1 label=a triggers=\"a{}b\"\nx\n",
        " ".repeat(160_000)
    );

    let cases = [
        (&planes, "list_skills", "{}", "\"}]}}"),
        (
            &chain,
            "resolve_skill",
            r#"{"name":"s1"}"#,
            "### s50001\\nend\"}]}}",
        ),
        (
            &openings,
            "resolve_skill",
            r#"{"name":"a"}"#,
            "[[z=1|\"}]}}",
        ),
        (&line, "get_skill", r#"{"name":"a"}"#, "a \"}]}}"),
        (&spaces, "route_skill", r#"{"text":"b a"}"#, "b)\"}]}}"),
    ];
    let check = |(document, tool, arguments, end): (&String, &str, &str, &str)| {
        let (_folder, path) = folder(document);
        let output = serve(&path, call(tool, arguments), &[]);
        assert!(
            output.status.success(),
            "{tool} of {} bytes",
            document.len()
        );
        let response = text(&output.stdout).trim_end();
        assert!(response.ends_with(end), "{tool}: …{}", response.len());
        assert!(
            text(&output.stderr).lines().count() < 30,
            "the number of printed findings is limited"
        );
    };
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || check(case));
        }
    });
}

#[test]
fn document_flags_without_a_document_are_a_usage_error() {
    for arguments in [
        &["mcp", "--strict"][..],
        &["mcp", "--selftest"],
        &["mcp", "--strict", "a.3md", "b.3md"],
    ] {
        let output = skills_command().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "for {arguments:?}");
    }
}
