//! Steps for `skills eval`, which runs as a process on the files of the scenario.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::{Value, json};
use skills_test_support::process::{output_of, skills_command};

use crate::world::values::{block, parsed};
use crate::world::{Run, World};

/// A line of a table cannot have double quotes: single ones stand for them.
#[given(expr = "the only case is {string}")]
fn only_case(world: &mut World, line: String) {
    world.files.write("routes.jsonl", &line.replace('\'', "\""));
}

#[when(expr = "I run {string}")]
fn run(world: &mut World, line: String) {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("skills"), "only `skills` is run");
    let mut command = skills_command();
    command
        .args(words)
        // Port 1: no engine listens there, so the command uses the data directory.
        .args(["--url", "ws://127.0.0.1:1", "--data-dir", "data"])
        .args(["--config", "config.yaml"])
        .current_dir(world.files.path(""));
    let output = output_of(command, "");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    world.run = Some(Run {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    });
}

#[when(expr = "the trigger that is proposed is added to {string}")]
fn add_trigger(world: &mut World, path: String) {
    let stdout = &run_of(world).stdout;
    let (_, rest) = stdout
        .split_once("gets the trigger \"")
        .expect("a proposal");
    let (trigger, _) = rest.split_once('"').expect("it ends");
    let front_matter = format!("---\ntriggers: {trigger}\n---\n");
    let body = std::fs::read_to_string(world.files.path(&path)).expect("the file exists");
    world.files.write(&path, &(front_matter + &body));
}

fn run_of(world: &World) -> &Run {
    world.run.as_ref().expect("a run before")
}

/// The document of a run with `--json`.
fn report(world: &World) -> Value {
    parsed(&run_of(world).stdout)["data"].clone()
}

#[then(expr = "it exits with {int}")]
fn exits_with(world: &mut World, code: i32) {
    let run = run_of(world);
    assert_eq!(run.code, Some(code), "{run:#?}");
}

#[then("the report is:")]
fn report_is(world: &mut World, step: &Step) {
    assert_eq!(report(world), parsed(&block(step)));
}

#[then(expr = "the report has {string} {float}")]
fn report_has(world: &mut World, field: String, value: f64) {
    let report = report(world);
    assert_eq!(report[&field], json!(value), "{report:#}");
}

#[then(expr = "{string} is taken for {string} by the words {string}")]
fn is_taken_for(world: &mut World, expected: String, got: String, words: String) {
    let words: Vec<&str> = words.split(", ").collect();
    let pair = json!({ "expected": expected, "got": got, "cases": 1, "words": words });
    assert_eq!(report(world)["confused"], json!([pair]));
}

#[then(expr = "{string} is missing for {string}")]
fn is_missing(world: &mut World, id: String, request: String) {
    let missing = json!([{ "text": request, "expected": [id] }]);
    assert_eq!(report(world)["missing"], missing);
}

#[then(expr = "the output has {string}")]
fn output_has(world: &mut World, part: String) {
    let run = run_of(world);
    assert!(run.stdout.contains(&part), "{run:#?}");
}

#[then(expr = "the error has {string}")]
fn error_has(world: &mut World, part: String) {
    let run = run_of(world);
    assert!(run.stderr.contains(&part), "{run:#?}");
}
