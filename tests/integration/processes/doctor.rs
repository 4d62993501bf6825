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
    let run = move || run(&dir, &url, &["--json", "--all"]);
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["command"], "doctor");
    (report["data"].take(), output.status.code())
}

/// The findings of a group, or with `--all` what is in order: each place and reason.
pub(super) fn found(report: &Value, group: &str) -> Vec<(String, String)> {
    let lists = [&report["findings"], &report["well"]];
    let entries = lists.into_iter().filter_map(Value::as_array).flatten();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    entries
        .filter(|entry| entry["group"] == group)
        .map(|entry| (text(entry, "place"), text(entry, "reason")))
        .collect()
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
    let [(place, reason)] = &found(&report, "configuration")[..] else {
        panic!("{report:#}");
    };
    assert!(place.ends_with("config.yaml:1:1"), "{place}");
    assert!(reason.starts_with("`skils`"), "{reason}");

    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/a.md", "# A");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["healthy"], true);
    assert_eq!(
        (&report["skills"], &report["prompts"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(report["checked"]["what"], "directory");
    let well = found(&report, "well");
    let is = |place: &str, reason: &str| {
        let mut well = well.iter();
        well.any(|(at, found)| at.contains(place) && found.contains(reason))
    };
    assert!(is("store ", "nothing stored yet"), "{report:#}");
    assert!(is("pattern docs/*.md", "files: 1, skills: 1"), "{report:#}");
    assert!(is("skill a", "a.md"), "{report:#}");
    assert!(!dir.join("data").exists(), "it creates nothing");

    write(dir, "docs/B.md", "# B");
    let (report, code) = doctor(dir, url).await;
    assert_eq!(
        (code, &report["problems"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let skipped = found(&report, "not_served");
    assert!(skipped[0].1.contains("has 'B'"), "{skipped:?}");
}

#[test]
fn findings_come_first_in_groups_with_relative_paths_and_what_is_well_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/a.md", "# A\n\nText.\n");
    write(dir, "docs/B.md", "# B");
    let run = |more: &[&str]| {
        let mut command = skills_command();
        command.args(["doctor", "--url", NO_ENGINE, "--data-dir", "data"]);
        let output = command.args(more).current_dir(dir).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, "error: 1 finding\n");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&[]);
    assert!(text.starts_with("Not served\n  docs/B.md: "), "{text}");
    assert!(!text.contains("In order"), "{text}");
    let last = format!(
        "1 problem; 1 skill, 0 prompts; checked: the files here, and data (no registry at {NO_ENGINE})\n"
    );
    assert!(text.ends_with(&last), "{text}");
    let text = run(&["--all"]);
    let well = text.split_once("\nIn order\n").expect("a group").1;
    for words in [
        "  store data: nothing stored yet\n",
        "  pattern docs/*.md: files: 2, skills: 1\n",
        "  skill a: served from docs/a.md\n",
    ] {
        assert!(well.contains(words), "no {words:?} in:\n{text}");
    }
}

/// A link to itself: even the superuser cannot follow it.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_read_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "config.yaml", "{}\n");
    fs::create_dir(dir.join("data")).unwrap();
    let store = dir.join("data/state.db");
    std::os::unix::fs::symlink(&store, &store).unwrap();
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1), "{report:#}");
    let [(place, reason)] = &found(&report, "store")[..] else {
        panic!("{report:#}");
    };
    assert!(place.ends_with("data"), "{place}");
    assert!(
        reason.contains("could not use the data directory"),
        "{reason}"
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
    let mut counted = found(&report, "well");
    counted.retain(|(place, _)| place.starts_with("pattern "));
    let counted: Vec<_> = counted
        .iter()
        .map(|(at, found)| (&at[8..], &found[..]))
        .collect();
    assert_eq!(
        counted,
        [
            ("docs/**/*.md", "files: 3, skills: 2"),
            (
                "docs/{a,b}.md",
                "files: 2, skills: 0, matched by an earlier pattern: 2"
            ),
            ("[", "files: 0, skills: 0"),
            (
                "docs/**/*.md",
                "files: 3, skills: 0, matched by an earlier pattern: 3"
            ),
            ("docs/*.txt", "files: 1, skills: 0"),
            ("docs/z*.md", "files: 0, skills: 0"),
        ],
        "{report:#}"
    );
    let mut nothing = found(&report, "not_served");
    nothing.retain(|(_, reason)| reason == "matches no file");
    let nothing: Vec<_> = nothing.iter().map(|(place, _)| &place[..]).collect();
    assert_eq!(nothing, ["pattern `docs/z*.md`"], "{report:#}");
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
        (code, &report["problems"]),
        (Some(1), &json!(1)),
        "{report:#}"
    );
    let file = dir.join("dev.md");
    let reason = format!(
        "has the id `dev` that {} has already; rename one",
        file.display()
    );
    let place = dir.join("dev.3md").display().to_string();
    assert_eq!(found(&report, "hidden"), [(place, reason)]);
}

/// As for the other commands.
#[test]
fn the_url_can_come_from_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let engine_url = |more: &[&str]| {
        let output = skills_command()
            .args(["doctor", "--json", "--quiet"])
            .args(more)
            .env("SKILLS_DATA_DIR", dir.path().join("data"))
            .env("SKILLS_URL", "ws://localhost:1")
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["data"]["checked"]["url"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(engine_url(&[]), "ws://localhost:1");
    assert_eq!(engine_url(&["--url", NO_ENGINE]), NO_ENGINE);
}

/// The registry that runs reports its own files, wherever it is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_file_is_a_finding_with_and_without_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/*.md']\nskils: []\n");
    write(dir, "docs/taken.md", "# From a file\n");
    write(dir, "docs/free.md", "# Free\n");
    write(dir, "docs/B.md", "# B");
    let (data, config) = (dir.join("data"), dir.join("config.yaml"));
    let config = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&data, &config).await;
    let peer = Peer::connect(&url, "peer").await;
    let registered = peer.register_skill("taken", "# From a worker").await;
    let at = registered["registered_at"].as_str().unwrap();
    let reason = format!(
        "skill `taken` was registered by a worker at {at}; unregister that one or rename the file"
    );
    let hidden = [(dir.join("docs/taken.md").display().to_string(), reason)];
    let elsewhere = tempfile::tempdir().unwrap();
    write(elsewhere.path(), "config.yaml", "skills: ['none/*.md']\n");
    let (served, code) = doctor(elsewhere.path(), &url).await;
    assert_eq!(code, Some(1), "{served:#}");
    assert_eq!(served["checked"], json!({ "what": "registry", "url": url }));
    assert_eq!(found(&served, "hidden"), hidden, "{served:#}");
    assert_eq!(found(&served, "configuration").len(), 1, "{served:#}");
    assert_eq!(found(&served, "not_served").len(), 1, "{served:#}");
    assert_eq!(
        (&served["skills"], &served["prompts"]),
        (&json!(2), &json!(0))
    );
    let well = found(&served, "well");
    let store = well.iter().find(|(place, _)| place.starts_with("store "));
    let healthy = "healthy: schema version 1, rows: 2";
    assert_eq!(store.map(|(_, reason)| &reason[..]), Some(healthy));
    serve.kill().await;

    let (here, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    assert_eq!(here["findings"], served["findings"]);
    assert_eq!(here["checked"]["what"], "directory");
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
    let mut shown = found(&report, "advice");
    shown.retain(|(_, reason)| reason.starts_with("not listed for clients"));
    let [(first, name), (second, many)] = &shown[..] else {
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
    let warnings = found(&report, "to_correct");
    let [open, repaired] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    for (finding, place, words) in [
        (open, "/open", "add a line `---` after the front matter"),
        (repaired, "/repaired", "put it in quotes"),
    ] {
        let (at, reason) = finding;
        assert!(at.ends_with(place) && reason.contains(words), "{finding:?}");
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
    assert_eq!(code, Some(0), "{report:#}");
    let config = "skills: ['docs/**/*.md']\npublish: true\n";
    write(dir, "config.yaml", config);
    let (report, code) = doctor(dir, NO_ENGINE).await;
    assert_eq!(code, Some(1));
    let reason = "is not in the published index, because `team-a/pdf` has the name `pdf` too and \
                  clients install skills by name; rename one of them";
    let expected = [("team-b/pdf".to_owned(), reason.to_owned())];
    assert_eq!(found(&report, "to_correct"), expected);
}
