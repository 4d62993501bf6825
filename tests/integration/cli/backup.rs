//! `backup` and `restore`, and what an export keeps.

use super::transcript::Transcript;

#[test]
fn a_backup_is_written_once_and_restored_into_an_empty_directory() {
    let mut s = Transcript::new();
    s.file("a.md", "---\ntriggers: greet\n---\n# A\n");
    s.run("skills register a a.md --owner me --ttl 1h");
    s.run("skills prompts register p --function w::p --description P");
    s.run("skills read a");
    let output = s.run("skills backup registry.backup --json");
    let made = std::fs::read(s.path("registry.backup")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = &document["data"]["rows"];
    for scope in [
        "prompts",
        "skills",
        "skills.leases",
        "skills.usage",
        "skills.versions",
    ] {
        assert_eq!(rows[scope], 1, "{scope} in {document}");
    }
    assert_eq!(document["data"]["bytes"], made.len(), "{document}");
    s.step("skills backup registry.backup");
    let output = s.run("skills backup registry.backup --force");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stderr.starts_with("wrote registry.backup, "),
        "{}",
        output.stderr
    );
    let output = s.run("skills restore registry.backup --data-dir new");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stderr.starts_with("restored "), "{}", output.stderr);
    assert!(output.stderr.ends_with(" into new\n"), "{}", output.stderr);
    for (what, key) in [
        ("list", "skills"),
        ("prompts list", "prompts"),
        ("stats", "skills"),
    ] {
        let list = |dir: &str| {
            let output = s.run(&format!("skills {what} --json --data-dir {dir}"));
            let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!(
                document["data"][key].as_array().unwrap().len(),
                1,
                "{document}"
            );
            document
        };
        assert_eq!(list("new"), list("data"), "{what}");
    }
    s.step("skills restore registry.backup --data-dir new");
    s.file("cut.backup", &made[..made.len() - 5])
        .file("other.backup", "# Not a backup\n");
    s.step("skills restore cut.backup --data-dir other")
        .step("skills restore other.backup --data-dir other")
        .step("skills backup missing/x.backup");
    assert!(!s.path("other").exists(), "nothing was written");
    s.matches("backup");
}

#[test]
fn an_export_of_files_keeps_front_matter_so_that_triggers_survive_a_round_trip() {
    let s = Transcript::new();
    let text = "---\ntitle: Find\nowner: me\ntriggers: grep it\n---\n# Find\n\nFinds.\n";
    s.file("docs/find.md", text)
        .file(
            "docs/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Fills forms.\n---\nBody.\n",
        )
        .file(
            "agents/dev.3md",
            include_str!("../../../examples/agent.3md"),
        )
        .file(
            "config.yaml",
            "skills: ['docs/**/*.md']\nagents: ['agents/*.3md']\n",
        );
    assert_eq!(s.run("skills export out").code, 0);
    assert_eq!(
        std::fs::read_to_string(s.path("out/find.md")).unwrap(),
        text
    );
    let pdf = std::fs::read_to_string(s.path("out/pdf.md")).unwrap();
    assert!(pdf.contains("description: Fills forms."), "{pdf}");
    std::fs::remove_file(s.path("config.yaml")).unwrap();
    let route = |request: &str| s.run(&format!("skills route {request}")).stdout;
    assert_eq!(s.run("skills import out").code, 0);
    assert!(route("please grep it").contains("trigger \"grep it\""));
    assert!(route("tag the release").contains("trigger \"tag the release\""));
}
