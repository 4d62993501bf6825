//! `skills mcp --selftest`.

use skills_test_support::document::SAMPLE;
use skills_test_support::process::skills_command;

use super::process::{folder, text};

#[test]
fn the_selftest_calls_each_tool_and_reports() {
    let (_folder, path) = folder(SAMPLE);
    let output = skills_command()
        .args(["mcp", "--selftest"])
        .arg(&path)
        .output()
        .unwrap();
    let report = text(&output.stdout);
    assert!(output.status.success(), "{report}{}", text(&output.stderr));
    for step in [
        "initialize",
        "ping",
        "tools/list",
        "list_skills",
        "route_skill",
        "get_skill",
        "resolve_skill",
        "unknown skill",
        "end of input",
    ] {
        let line = report.lines().find(|line| line.contains(step)).unwrap();
        assert!(line.starts_with("ok "), "{line}");
    }
}

#[test]
fn the_selftest_of_an_invalid_document_fails_with_the_reason() {
    let (_folder, path) = folder("no document");
    let output = skills_command()
        .args(["mcp", "--selftest"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("failed to parse"));
    assert_eq!(text(&output.stdout), "");
}
