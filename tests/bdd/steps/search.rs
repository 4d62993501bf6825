//! Steps for searching, and for routing requests.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::{given, then, when};
use serde_json::{Value, json};

use crate::world::World;

#[given(expr = "the prompt {string} is registered for {string}")]
async fn prompt(world: &mut World, name: String, description: String) {
    let prompt = json!({ "name": name, "description": description, "function_id": "w::p" });
    world.arrange("prompts::register", prompt).await;
}

#[when(expr = "I search for {string}")]
async fn search(world: &mut World, text: String) {
    world.call("skills::search", json!({ "text": text })).await;
}

#[when(expr = "I search for the next page of {string} by {int}")]
async fn next_page(world: &mut World, text: String, limit: u64) {
    let cursor = world.result()["cursor"].clone();
    let input = json!({ "text": text, "limit": limit, "cursor": cursor });
    world.call("skills::search", input).await;
}

#[when(expr = "I route {string}")]
async fn route(world: &mut World, text: String) {
    world.call("skills::route", json!({ "text": text })).await;
}

/// The ids of a list of matches, with spaces between them.
fn ids(list: &Value) -> String {
    let list = list.as_array().expect("a list of matches").iter();
    let ids: Vec<&str> = list.filter_map(|found| found["id"].as_str()).collect();
    ids.join(" ")
}

fn found(world: &World, id: &str) -> Value {
    let result = world.result();
    let lists = ["matches", "close"].into_iter();
    let mut all = lists.flat_map(|list| result[list].as_array().cloned().unwrap_or_default());
    let found = all.find(|found| found["id"] == id);
    found.unwrap_or_else(|| panic!("no match {id}:\n{result:#}"))
}

#[then(expr = "the matches are {string}")]
fn matches_are(world: &mut World, expected: String) {
    let result = world.result();
    assert_eq!(
        ids(&result["matches"]),
        expected,
        "the result is:\n{result:#}\n"
    );
}

#[then(expr = "the best match is {string}")]
fn best_match(world: &mut World, expected: String) {
    let result = world.result();
    assert_eq!(
        result["matches"][0]["id"], expected,
        "the result is:\n{result:#}\n"
    );
}

#[then(expr = "it abstains, and {string} is close")]
fn abstains(world: &mut World, expected: String) {
    let result = world.result();
    assert_eq!(result["abstained"], true, "the result is:\n{result:#}\n");
    assert_eq!(result["matches"], json!([]));
    assert_eq!(
        ids(&result["close"]),
        expected,
        "the result is:\n{result:#}\n"
    );
}

#[then(expr = "the advice names {string}")]
fn advice_names(world: &mut World, part: String) {
    let result = world.result();
    let advice = result["advice"].as_str().unwrap_or_default();
    assert!(advice.contains(&part), "the result is:\n{result:#}\n");
}

#[then(expr = "{string} has the word {string} in {string}")]
fn has_word(world: &mut World, id: String, asked: String, fields: String) {
    let found = found(world, &id);
    let why = found["why"].as_array().expect("reasons");
    let reason = why.iter().find(|reason| reason["word"] == asked);
    let reason = reason.unwrap_or_else(|| panic!("no reason {asked}:\n{found:#}"));
    let expected: Vec<&str> = fields.split(", ").collect();
    assert_eq!(reason["fields"], json!(expected), "{found:#}");
}

#[then(expr = "{string} matched the trigger {string}")]
fn matched_trigger(world: &mut World, id: String, trigger: String) {
    let found = found(world, &id);
    assert_eq!(found["matched"], json!([trigger]), "{found:#}");
}

#[then("every score is from 0 to 1, the best first")]
fn scores(world: &mut World) {
    let result = world.result();
    let matches = result["matches"].as_array().expect("matches").iter();
    let scores: Vec<f64> = matches
        .filter_map(|found| found["score"].as_f64())
        .collect();
    assert!(
        !scores.is_empty() && scores.is_sorted_by(|a, b| a >= b),
        "{scores:?}"
    );
    assert!(
        scores.iter().all(|score| (0.0..=1.0).contains(score)),
        "{scores:?}"
    );
}

#[then(expr = "{int} are found in all")]
fn found_in_all(world: &mut World, total: u64) {
    assert_eq!(world.result()["total"], total);
}
