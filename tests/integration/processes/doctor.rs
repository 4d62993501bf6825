//! `skills doctor` on healthy and broken folders, engines and stores.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::Peer;
use skills_test_support::files::write;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};

pub(super) const DEV: &str =
    "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity label=dev\nI am dev.\n";

pub(super) fn run(dir: &Path, url: &str, more: &[&str]) -> Output {
    skills_command()
        .arg("doctor")
        .args(["--url", url, "--config"])
        .arg(dir.join("config.yaml"))
        .arg("--data-dir")
        .arg(dir.join("data"))
        .args(more)
        .output()
        .unwrap()
}

/// The report of `skills doctor --json`, and its exit code.
pub(super) async fn doctor(dir: &Path, url: &str) -> (Value, Option<i32>) {
    let (dir, url) = (dir.to_owned(), url.to_owned());
    let run = move || run(&dir, &url, &["--json"]);
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["command"], "doctor");
    (report["data"].take(), output.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_reported_and_set_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let url = NO_ENGINE;
    let output = run(dir, url, &[]);
    assert_eq!(
        output.status.code(),
        Some(2),
        "a file that was named exists"
    );
    write(dir, "config.yaml", "skils: []\npublish: true\n");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(code, Some(1));
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("config.yaml:1:1: `skils`"), "{warning}");

    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/a.md", "# A");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["healthy"], true);
    assert_eq!(report["skills"][0]["id"], "a");
    assert_eq!(report["patterns"]["skills"][0]["files"], 1);
    assert_eq!(report["engine"]["state"], "absent");
    assert_eq!(report["store"]["state"], "empty");
    assert!(!dir.join("data").exists(), "it creates nothing");

    write(dir, "docs/B.md", "# B");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let reason = report["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("has 'B'"), "{reason}");

    let output = run(dir, url, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "not running; commands use the data directory",
        "data: nothing stored yet",
        "pattern  docs/*.md (files: 2, skills: 1)",
        "skill    a  ",
        "skipped  ",
        "skills: 1, prompts: 0, agents: 0, skipped: 1, shadowed: 0",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: 1 finding\n"
    );
}

/// A pattern whose files an earlier pattern matched is not one without matches.
#[tokio::test(flavor = "multi_thread")]
async fn the_matches_of_each_pattern_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let patterns =
        "['docs/**/*.md', 'docs/{a,b}.md', '[', 'docs/**/*.md', 'docs/*.txt', 'docs/z*.md']";
    write(dir, "config.yaml", format!("skills: {patterns}\n"));
    for file in ["a.md", "b.md", "C.md", "d.txt"] {
        write(dir, &format!("docs/{file}"), "# Text");
    }
    let (report, _) = doctor(dir, NO_ENGINE).await;
    let counted = |pattern: &str, [files, served, earlier]: [usize; 3]| json!({ "pattern": pattern, "files": files, "served": served, "earlier": earlier });
    assert_eq!(
        report["patterns"]["skills"],
        json!([
            counted("docs/**/*.md", [3, 2, 0]),
            counted("docs/{a,b}.md", [2, 0, 2]),
            counted("[", [0, 0, 0]),
            counted("docs/**/*.md", [3, 0, 3]),
            counted("docs/*.txt", [1, 0, 0]),
            counted("docs/z*.md", [0, 0, 0]),
        ]),
        "{report:#}"
    );
    let skipped = report["skipped"].as_array().unwrap();
    let nothing = skipped
        .iter()
        .filter(|skipped| skipped["reason"] == "matches no file");
    let nothing: Vec<_> = nothing.map(|skipped| &skipped["place"]).collect();
    assert_eq!(nothing, ["pattern `docs/z*.md`"], "{report:#}");
    let text = String::from_utf8(run(dir, NO_ENGINE, &[]).stdout).unwrap();
    let words = "docs/{a,b}.md (files: 2, skills: 0, matched by an earlier pattern: 2)\n";
    assert!(text.contains(words), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_the_id_of_a_plane_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['*.md']\nagents: ['*.3md']\n");
    write(dir, "dev.3md", DEV);
    write(dir, "dev.md", "# Not the agent\n");
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(
        (code, &report["findings"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let file = dir.join("dev.md");
    let reason = format!(
        "has the id `dev` that {} has already; rename one",
        file.display()
    );
    let expected = json!([{ "place": dir.join("dev.3md"), "reason": reason }]);
    assert_eq!(report["skipped"], expected);
}

/// As for the other commands.
#[test]
fn the_url_can_come_from_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let engine_url = |more: &[&str]| {
        let output = skills_command()
            .args(["doctor", "--json", "--quiet", "--data-dir"])
            .arg(dir.path().join("data"))
            .args(more)
            .env("SKILLS_URL", "ws://localhost:1")
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["data"]["engine"]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(engine_url(&[]), "ws://localhost:1");
    assert_eq!(engine_url(&["--url", NO_ENGINE]), NO_ENGINE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shadowed_file_is_a_finding_with_and_without_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/taken.md", "# From a file\n");
    write(dir, "docs/free.md", "# Free\n");
    let data = dir.join("data");
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&data, &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    let registered = peer.register_skill("taken", "# From a worker").await;
    let expected = json!([{
        "kind": "skill",
        "name": "taken",
        "path": dir.join("docs/taken.md"),
        "by": "state",
        "registered_at": registered["registered_at"],
    }]);
    let (report, code) = doctor(dir, &url).await;
    assert_eq!(code, Some(1));
    assert_eq!(report["engine"]["state"], "serving", "{report:#}");
    assert_eq!(report["store"]["state"], "healthy", "{report:#}");
    assert_eq!(report["shadowed"], expected);
    serve.kill().await;

    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    assert_eq!(report["engine"]["state"], "absent");
    let store = &report["store"];
    assert_eq!(
        (&store["state"], &store["schema_version"], &store["rows"]),
        (&json!("healthy"), &json!(1), &json!(1))
    );
    assert_eq!(report["shadowed"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_that_clients_are_not_offered_are_named_with_the_cure() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    write(dir, "docs/a_b.md", "# A");
    write(dir, "docs/team.md", "# Team");
    for n in 0..512 {
        write(dir, &format!("docs/team/s{n}.md"), "# S");
    }
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(0), "notes are no findings: {report:#}");
    let unlisted = report["unlisted"].as_array().unwrap();
    let shown: Vec<_> = unlisted
        .iter()
        .map(|one| (one["id"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    let [(first, name), (second, many)] = shown[..] else {
        panic!("{shown:?}");
    };
    assert_eq!([first, second], ["a_b", "team"]);
    assert!(
        name.ends_with("give it another id, such as `a-b`"),
        "{name}"
    );
    assert!(many.contains("has 513 files of"), "{many}");
    assert!(many.contains("the 512 skills below it"), "{many}");
    assert!(
        many.contains("give it an id that is not above them"),
        "{many}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn front_matter_of_registered_skills_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "{}\n");
    for (id, text, warning) in [
        ("open", "---\nname: a\ndescription: b\n", "is not closed"),
        ("repaired", "---\nname: a: b\n---\n# A", "put it in quotes"),
        ("sound", "---\nname: a\n---\n# A", ""),
    ] {
        write(dir, "text.md", text);
        let output = skills_command()
            .args(["register", id, "--url", NO_ENGINE, "--data-dir"])
            .args([dir.join("data"), dir.join("text.md")])
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let is_warned = stderr.contains(&format!("warning: {id}: "));
        assert_eq!(is_warned, !warning.is_empty(), "{stderr}");
        assert!(stderr.contains(warning), "{stderr}");
    }
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    let warnings = report["registered_warnings"].as_array().unwrap();
    let [open, repaired] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    for (found, place, words) in [
        (open, "/open", "add a line `---` after the front matter"),
        (repaired, "/repaired", "put it in quotes"),
    ] {
        let text = found.to_string();
        assert!(text.contains(place) && text.contains(words), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_with_one_name_are_named_if_they_are_published() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for team in ["team-a", "team-b"] {
        let text = "---\nname: pdf\ndescription: d\n---\n# PDF\n";
        write(dir, &format!("docs/{team}/pdf/SKILL.md"), text);
    }
    write(dir, "config.yaml", "skills: ['docs/**/*.md']\n");
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!((code, &report["unpublished"]), (Some(0), &json!([])));
    let config = "skills: ['docs/**/*.md']\npublish: true\n";
    write(dir, "config.yaml", config);
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    let reason = "is not in the published index, because `team-a/pdf` has the name `pdf` too and \
                  clients install skills by name; rename one of them";
    let expected = json!([{ "place": "team-b/pdf", "reason": reason }]);
    assert_eq!(report["unpublished"], expected);
}
