//! `skills agent`: text, JSON and exit codes of every verb.

use std::path::Path;

use serde_json::{Value, json};
use skills_test_support::document::SAMPLE;
use skills_test_support::process::skills_command;

use super::process::{folder, text};

struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(arguments: &[&str]) -> CommandOutput {
    let output = skills_command()
        .arg("agent")
        .args(arguments)
        .output()
        .unwrap();
    CommandOutput {
        code: output.status.code(),
        out: text(&output.stdout).to_owned(),
        err: text(&output.stderr).to_owned(),
    }
}

/// The stdout of a command that succeeds.
#[track_caller]
fn out(arguments: &[&str]) -> String {
    let CommandOutput { code, out, err } = run(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    out
}

/// The data that a command prints with `--json`.
#[track_caller]
fn data(arguments: &[&str]) -> Value {
    let mut output: Value = serde_json::from_str(&out(&[arguments, &["--json"]].concat())).unwrap();
    assert_eq!(output["schema_version"], 1);
    let command = format!("agent {}", arguments[0]);
    assert_eq!(output["command"], command);
    output["data"].take()
}

/// Checks the error of a command, as text and as JSON.
#[track_caller]
fn check_fails(arguments: &[&str], code: i32, kind: &str, message: &str) {
    let output = run(arguments);
    assert_eq!(
        output.code,
        Some(code),
        "{arguments:?}: {}{}",
        output.out,
        output.err
    );
    assert!(
        output.err.starts_with("error: ") && output.err.contains(message),
        "{}",
        output.err
    );
    let output = run(&[arguments, &["--json"]].concat());
    assert_eq!(output.code, Some(code));
    let output: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(output["error"]["kind"], kind, "{output}");
    assert!(
        output["error"]["message"]
            .as_str()
            .unwrap()
            .contains(message),
        "{output}"
    );
}

#[test]
fn the_reading_verbs_print_the_document() {
    let (_folder, path) = folder(SAMPLE);
    let file = path.to_str().unwrap();
    assert_eq!(
        out(&["manifest", file]),
        "agent    dev\nmodel    unknown\ntools\npersona\nskills   5\n\nI am dev.\n"
    );
    let manifest = data(&["manifest", file]);
    assert_eq!(
        (&manifest["name"], &manifest["skills"][0]["z"]),
        (&json!("dev"), &json!(1))
    );
    assert_eq!(
        out(&["skills", file]),
        "  1  search       find code, search the code, grep\n  2  read         open file\n  3  loop\n  4  constructor  tie, tie, Tie, TIE\n1.5  __proto__    tie\n"
    );
    assert_eq!(data(&["skills", file])["skills"][1]["name"], "read");
    assert_eq!(
        out(&["route", file, "find", "the", "code"]),
        "search  (score 1; matched: find code)\n"
    );
    assert_eq!(out(&["route", file, "dance"]), "no skill matched\n");
    assert_eq!(
        data(&["route", file, "grep"]),
        json!({ "matches": [{ "name": "search", "z": 1, "score": 1, "matched": ["grep"] }] })
    );
    assert_eq!(out(&["get", file, "loop"]), "Back to [[z=3]].\n");
    assert_eq!(out(&["get", file, "--z", "1.5"]), "Half.\n");
    assert_eq!(
        data(&["get", file, "read"]),
        json!({ "name": "read", "z": 2, "body": "Read it, \"quoted\" and all: é." })
    );
    assert!(out(&["resolve", file, "search"]).contains("\n\n### read\nRead it"));
    assert_eq!(
        data(&["resolve", file, "search"])["skills"][1]["name"],
        "read"
    );
}

#[test]
fn a_missing_skill_or_file_exits_with_three() {
    let (folder, path) = folder(SAMPLE);
    let file = path.to_str().unwrap();
    check_fails(
        &["get", file, "serach"],
        3,
        "not_found",
        "unknown skill: serach",
    );
    assert!(
        run(&["get", file, "serach"])
            .err
            .contains("did you mean `search`?")
    );
    check_fails(
        &["resolve", file, "--z", "-9"],
        3,
        "not_found",
        "unknown skill: z=-9",
    );
    let missing = folder.path().join("missing.3md");
    check_fails(
        &["skills", missing.to_str().unwrap()],
        3,
        "not_found",
        "cannot read",
    );
    check_fails(&["skills", "agent.md"], 2, "invalid", "non-.3md file");
    std::fs::write(&path, "# text").unwrap();
    check_fails(
        &["skills", file],
        1,
        "broken",
        "does not begin with a `---` line",
    );
    assert_eq!(run(&["get", file]).code, Some(2), "neither a name nor a z");
}

#[test]
fn commands_are_filled_in_and_not_run() {
    let (_folder, path) = folder(
        "---\n3md: 1\nagent: d\n---\n@plane z=0 kind=identity\nx\n\
         @plane z=1 label=s triggers=a tool=\"rg {pattern} {path}\" inputs=\"pattern, path?\"\nx\n\
         @plane z=2 label=n triggers=a tool=\"head -n {count}\" inputs=\"count:number\"\nx\n\
         @plane z=3 label=pipe triggers=a tool=\"cat {f} | wc\" inputs=\"f\"\nx\n\
         @plane z=4 label=quoted triggers=a tool=\"echo '{a}'\" inputs=\"a\"\nx\n\
         @plane z=5 label=none triggers=a\nx\n",
    );
    let file = path.to_str().unwrap();
    let both = ["--set", "pattern=it's", "--set", "path=a b"];
    let arguments = [&["command", file, "s"][..], &both].concat();
    assert_eq!(out(&arguments), "rg 'it'\\''s' 'a b'\n");
    assert_eq!(
        out(&[&arguments[..], &["--argv"]].concat()),
        "rg\nit's\na b\n"
    );
    assert_eq!(
        data(&arguments),
        json!({ "line": "rg 'it'\\''s' 'a b'", "argv": ["rg", "it's", "a b"], "missing": [] })
    );
    let optional = run(&["command", file, "s", "--set", "pattern=x"]);
    assert_eq!(optional.out, "rg 'x' {path}\n");
    assert_eq!(
        optional.err,
        "note: {path} has no value and is left unchanged\n"
    );
    let quiet = run(&["command", file, "s", "--set", "pattern=x", "--quiet"]);
    assert_eq!((&*quiet.out, &*quiet.err), ("rg 'x' {path}\n", ""));
    check_fails(
        &["command", file, "s"],
        2,
        "invalid",
        "no value for pattern",
    );
    check_fails(
        &["command", file, "s", "--set", "x"],
        2,
        "invalid",
        "has no `=`",
    );
    check_fails(
        &["command", file, "s", "--set", "nope=1"],
        2,
        "invalid",
        "has no input \"nope\"",
    );
    let twice = [
        "command",
        file,
        "s",
        "--set",
        "pattern=1",
        "--set",
        "pattern=2",
    ];
    check_fails(&twice, 2, "invalid", "is set twice");
    check_fails(
        &["command", file, "n", "--set", "count=many"],
        2,
        "invalid",
        "of type number",
    );
    assert_eq!(
        out(&["command", file, "n", "--set", "count=3"]),
        "head -n '3'\n"
    );
    assert_eq!(
        data(&["command", file, "pipe", "--set", "f=a"])["argv"],
        Value::Null
    );
    check_fails(
        &["command", file, "pipe", "--set", "f=a", "--argv"],
        1,
        "broken",
        "needs a shell",
    );
    check_fails(
        &["command", file, "quoted", "--set", "a=x"],
        1,
        "broken",
        "inside quotes",
    );
    check_fails(&["command", file, "none"], 3, "not_found", "has no command");
}

#[test]
fn findings_have_file_line_and_column() {
    let (folder, bad) = folder(SAMPLE);
    let good = folder.path().join("good.3md");
    out(&["new", good.to_str().unwrap()]);
    let missing = folder.path().join("missing.3md");
    let (bad, good, missing) = (
        bad.to_str().unwrap(),
        good.to_str().unwrap(),
        missing.to_str().unwrap(),
    );
    assert_eq!(out(&["validate", good]), "1 file, 0 errors, 0 warnings\n");
    let output = run(&["validate", bad, good, missing]);
    assert_eq!(output.code, Some(1));
    let lines: Vec<_> = output.out.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{bad}:16:1: error [cycle] ")),
        "{}",
        output.out
    );
    assert!(
        lines[1].starts_with(&format!("{bad}:16:1: warning [triggers] ")),
        "{}",
        output.out
    );
    assert!(
        lines[2].starts_with(&format!("{missing}: error [read] cannot read")),
        "{}",
        output.out
    );
    assert_eq!(lines.len(), 3, "{}", output.out);
    assert_eq!(output.err, "error: 3 files, 2 errors, 1 warning\n");
    let output = run(&["validate", bad, good, "--json"]);
    assert_eq!(output.code, Some(1));
    let output: Value = serde_json::from_str(&output.out).unwrap();
    let data = &output["data"];
    assert_eq!((&data["errors"], &data["warnings"]), (&json!(1), &json!(1)));
    let finding = &data["files"][0]["findings"][0];
    assert_eq!(
        (&finding["rule"], &finding["line"]),
        (&json!("cycle"), &json!(16))
    );
    assert_eq!(data["files"][1]["ok"], true);

    std::fs::write(bad, SAMPLE.replace("[[z=3]]", "nothing")).unwrap();
    assert_eq!(run(&["validate", bad]).code, Some(0), "warnings pass");
    assert_eq!(run(&["validate", "--strict", bad]).code, Some(1));
    assert_eq!(run(&["validate"]).code, Some(2));
}

#[test]
fn an_export_gives_the_same_skills_as_the_document() {
    let (folder, path) = folder(&SAMPLE.replace("[[z=3]]", "nothing"));
    let file = path.to_str().unwrap();
    let to = folder.path().join("docs");
    let to = to.to_str().unwrap();
    // The plane without a body is left out and reported.
    let output = run(&["export", file, to]);
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert!(output.err.contains("dev/constructor"), "{}", output.err);
    let read = |name: &str| std::fs::read_to_string(Path::new(to).join(name)).unwrap();
    assert_eq!(read("dev.md"), "I am dev.\n");
    assert_eq!(
        read("dev/search.md"),
        "---\ntriggers: [\"find code\",\"search the code\",\"grep\"]\n---\nLook for it.\n\nThen [read](iii://dev/read) it.\n"
    );
    assert_eq!(read("dev/loop.md"), "Back to nothing.\n");
    check_fails(&["export", file, to], 2, "invalid", "already exists");
    assert_eq!(run(&["export", file, to, "--force"]).code, Some(1));

    let whole = data(&["export", file, "--manifest"]);
    assert_eq!(whole["manifest"]["name"], "dev");
    assert_eq!(
        whole["bodies"][1]["body"],
        "Read it, \"quoted\" and all: é."
    );
    assert!(out(&["export", file, "--manifest"]).starts_with("{\n  \"manifest\""));
    std::fs::write(&path, SAMPLE).unwrap();
    check_fails(&["export", file, to], 1, "broken", "[cycle]");
}

#[test]
fn a_new_document_is_valid_and_overwrites_nothing() {
    let (folder, path) = folder(SAMPLE);
    let file = path.to_str().unwrap();
    check_fails(&["new", file], 2, "invalid", "already exists");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), SAMPLE);
    let new = folder.path().join("team one.3md");
    let new = new.to_str().unwrap();
    assert_eq!(out(&["new", new]), format!("{new}\n"));
    assert_eq!(data(&["manifest", new])["name"], "team one");
    assert_eq!(
        out(&["validate", "--strict", new]),
        "1 file, 0 errors, 0 warnings\n"
    );
    check_fails(&["new", "team.md"], 2, "invalid", "does not end in `.3md`");
    let named = folder.path().join("x.3md");
    check_fails(
        &["new", named.to_str().unwrap(), "--name", " "],
        2,
        "invalid",
        "cannot be",
    );
    let nowhere = folder.path().join("no/such/x.3md");
    check_fails(
        &["new", nowhere.to_str().unwrap()],
        1,
        "broken",
        "cannot write",
    );
}
