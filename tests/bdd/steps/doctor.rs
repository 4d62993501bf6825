//! The findings of the registry that runs.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::then;
use serde_json::json;

use crate::world::World;

#[then("the doctor finds no problem")]
fn no_problem(world: &mut World) {
    let result = world.result();
    assert_eq!(result["problems"], 0, "{result:#}");
    assert_eq!(result["healthy"], true, "{result:#}");
}

#[then(expr = "the doctor finds a problem of the group {string} at {string}")]
fn a_problem(world: &mut World, group: String, place: String) {
    let result = world.result();
    assert_eq!(result["problems"], 1, "{result:#}");
    assert_eq!(result["healthy"], false, "{result:#}");
    let found = result["findings"].as_array().expect("a list");
    let is_it = |found: &&serde_json::Value| found["group"] == json!(group);
    let found = found.iter().find(is_it).expect("a finding of the group");
    // The scope differs from scenario to scenario.
    let found_at = found["place"].as_str().expect("a place");
    assert!(found_at.ends_with(&place), "{result:#}");
    assert!(
        found["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
}
