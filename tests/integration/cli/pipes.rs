//! Closed pipes, and outputs that cannot be written.

use std::process::Stdio;

use skills_test_support::NO_ENGINE;
use skills_test_support::process::skills_command;

use super::transcript::Transcript;

#[test]
fn a_closed_stdout_is_not_an_error() {
    let s = Transcript::new();
    s.run_with("skills register big -", "x".repeat(200_000));
    let verbs = [
        "read big",
        "list",
        "list --json",
        "index",
        "fetch big",
        "call skills::list",
        "completions bash",
        "man",
        "--help",
        "--version",
        "--manifest",
    ];
    for verb in verbs {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = skills_command()
            .args(verb.split(' '))
            .env("SKILLS_DATA_DIR", s.path("data"))
            .env("SKILLS_URL", NO_ENGINE)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{verb}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("panic"),
            "{verb}: {stderr}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_an_error() {
    let mut s = Transcript::new();
    s.run_with("skills register a -", "# A\n");
    for line in [
        "skills read a > /dev/full",
        "skills list --json > /dev/full",
    ] {
        let stderr = super::mistakes::shell(&s, line);
        s.note(line, &stderr);
    }
    s.matches("full_output");
}
