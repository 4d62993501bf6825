//! Versions of skills and prompts, rollbacks, and the log of changes.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then};
use serde_json::{Value, json};
use skills_test_support::TIMEOUT;

use crate::world::World;

#[given(expr = "the skill {string} was changed {int} times")]
async fn changed(world: &mut World, id: String, times: usize) {
    for text in 1..=times {
        let input = json!({ "id": id, "skill": format!("text {text}") });
        world.arrange("skills::register", input).await;
    }
}

#[then(expr = "the versions of the skill {string} are:")]
async fn versions(world: &mut World, id: String, step: &Step) {
    world.arrange("skills::history", json!({ "id": id })).await;
    let versions = world.result()["versions"].as_array().expect("versions");
    let row = |version: &Value| {
        let current = version["current"] == true;
        vec![
            version["version"].to_string(),
            text(&version["op"]),
            if current { "current" } else { "" }.to_owned(),
        ]
    };
    let rows: Vec<_> = versions.iter().map(row).collect();
    assert_eq!(rows, table(step));
}

#[then(expr = "the versions of the skill {string} are {int} to {int}")]
async fn version_numbers(world: &mut World, id: String, first: u64, last: u64) {
    world.arrange("skills::history", json!({ "id": id })).await;
    let versions = world.result()["versions"].as_array().expect("versions");
    let numbers: Vec<_> = versions.iter().map(|one| one["version"].as_u64()).collect();
    let expected: Vec<_> = (first..=last).rev().map(Some).collect();
    assert_eq!(numbers, expected);
}

#[then(expr = "version {int} has:")]
fn version_has(world: &mut World, number: u64, step: &Step) {
    let versions = world.result()["versions"].as_array().expect("versions");
    let version = versions.iter().find(|one| one["version"] == number);
    let version = version.expect("the version is listed");
    assert!(version["at"].is_string(), "it has a time");
    for row in table(step) {
        let value = row[0].split('.').fold(version, |value, key| &value[key]);
        assert_eq!(text(value), row[1], "{}", row[0]);
    }
}

#[then("the log is:")]
fn log_is(world: &mut World, step: &Step) {
    let changes = world.result()["changes"].as_array().expect("changes");
    let row = |change: &Value| {
        let name = change.get("id").or_else(|| change.get("name"));
        vec![
            text(name.expect("a name")),
            change["version"].to_string(),
            text(&change["op"]),
            change.get("owner").map(text).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = changes.iter().map(row).collect();
    assert_eq!(rows, table(step));
}

#[then(expr = "the log has the change {string} of {string} by {string}")]
async fn log_has(world: &mut World, op: String, id: String, owner: String) {
    let found = async {
        loop {
            world.arrange("skills::log", json!({})).await;
            let changes = world.result()["changes"].as_array().expect("changes");
            let is_it = |change: &Value| {
                change["op"] == *op && change["id"] == *id && change["owner"] == *owner
            };
            if changes.iter().any(is_it) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let found = tokio::time::timeout(TIMEOUT, found).await;
    found.expect("the change is in the log");
}

fn table(step: &Step) -> Vec<Vec<String>> {
    step.table.as_ref().expect("a table").rows.clone()
}

/// A value without the quotes of a string.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
