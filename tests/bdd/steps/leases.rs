//! Owners and leases.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use std::time::Duration;

use cucumber::{given, then, when};
use serde_json::{Value, json};
use skills_core::LeaseSettings;
use skills_test_support::TIMEOUT;

use crate::world::World;

#[given("entries past their leases are only marked")]
async fn only_marked(world: &mut World) {
    let leases = LeaseSettings {
        remove: false,
        ..LeaseSettings::default()
    };
    world.backend.restart(leases).await;
}

#[given(expr = "entries are removed {int} ms after their leases")]
async fn removed_after(world: &mut World, ms: u64) {
    let leases = LeaseSettings {
        remove: true,
        grace: Duration::from_millis(ms),
    };
    world.backend.restart(leases).await;
}

#[when("the registry restarts")]
async fn restarts(world: &mut World) {
    world.backend.restart(LeaseSettings::default()).await;
}

#[when(expr = "I register the skill {string} with {string} for {int} ms")]
async fn register_for(world: &mut World, id: String, body: String, ms: u64) {
    let input = json!({ "id": id, "skill": body, "ttl_ms": ms });
    world.call("skills::register", input).await;
}

#[when(expr = "I register the skill {string} with {string} as {string}")]
async fn register_as(world: &mut World, id: String, body: String, owner: String) {
    let input = json!({ "id": id, "skill": body, "owner": owner });
    world.call("skills::register", input).await;
}

#[when(expr = "I register the skill {string} with {string} as {string} for {int} ms")]
async fn register(world: &mut World, id: String, body: String, owner: String, ms: u64) {
    let input = json!({ "id": id, "skill": body, "owner": owner, "ttl_ms": ms });
    world.call("skills::register", input).await;
}

#[when(expr = "I register the prompt {string} as {string} for {int} ms")]
async fn register_prompt(world: &mut World, name: String, owner: String, ms: u64) {
    let input = json!({
        "name": name, "description": "Greets.", "function_id": "w::greet",
        "owner": owner, "ttl_ms": ms,
    });
    world.call("prompts::register", input).await;
}

#[given(expr = "a worker that has left registered the skill {string} as {string}")]
async fn registered_and_left(world: &mut World, id: String, owner: String) {
    let input = json!({ "id": id, "skill": "# Left", "owner": owner });
    let registered = world.backend.call_and_leave("skills::register", input);
    registered.await.expect("registered");
}

#[given(expr = "a worker that has left registered the skill {string} as {string} for {int} ms")]
async fn leased_and_left(world: &mut World, id: String, owner: String, ms: u64) {
    let input = json!({ "id": id, "skill": "# Left", "owner": owner, "ttl_ms": ms });
    let registered = world.backend.call_and_leave("skills::register", input);
    registered.await.expect("registered");
}

#[when("I collect garbage")]
async fn collect(world: &mut World) {
    world.call("skills::gc", json!({})).await;
}

#[when("I ask what garbage there is")]
async fn dry_run(world: &mut World) {
    world.call("skills::gc", json!({ "dry_run": true })).await;
}

#[then(expr = "the garbage is {string}")]
fn garbage(world: &mut World, ids: String) {
    let result = world.result();
    let skills = result["skills"].as_array().expect("a list").iter();
    let found: Vec<_> = skills.filter_map(|skill| skill["id"].as_str()).collect();
    assert_eq!(found.join(", "), ids, "{result}");
}

#[then(expr = "the owner {string} is connected")]
fn is_connected(world: &mut World, owner: String) {
    assert_eq!(connected(world, &owner), Some(true));
}

#[then(expr = "the owner {string} is not connected")]
fn is_not_connected(world: &mut World, owner: String) {
    assert_eq!(connected(world, &owner), Some(false));
}

fn connected(world: &World, owner: &str) -> Option<bool> {
    let owners = world.result()["owners"].as_array().expect("a list");
    let found = owners.iter().find(|found| found["owner"] == owner)?;
    found["connected"].as_bool()
}

#[when(expr = "I renew the leases of {string}")]
async fn renew(world: &mut World, owner: String) {
    world.call("skills::renew", json!({ "owner": owner })).await;
}

#[when(expr = "I register the skill {string} with an owner of {int} bytes")]
async fn register_long_owner(world: &mut World, id: String, bytes: usize) {
    let input = json!({ "id": id, "skill": "# A", "owner": "x".repeat(bytes) });
    world.call("skills::register", input).await;
}

#[then(expr = "it renewed {int} skills and {int} prompt(s)")]
fn renewed(world: &mut World, skills: usize, prompts: usize) {
    let renewed = world.result();
    assert_eq!(renewed["skills"], skills, "{renewed}");
    assert_eq!(renewed["prompts"], prompts, "{renewed}");
}

#[then(expr = "the skill {string} becomes stale")]
async fn becomes_stale(world: &mut World, id: String) {
    let stale = async {
        while field(world, ("skills", "id"), &id, "stale").await != Some(json!(true)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, stale).await.expect("stale");
}

#[then(expr = "the skill {string} is not stale")]
async fn is_not_stale(world: &mut World, id: String) {
    assert_eq!(field(world, ("skills", "id"), &id, "stale").await, None);
}

#[then(expr = "the skill {string} has the owner {string}")]
async fn has_owner(world: &mut World, id: String, owner: String) {
    let found = field(world, ("skills", "id"), &id, "owner").await;
    assert_eq!(found, Some(Value::from(owner)));
}

#[then(expr = "the prompt {string} has the owner {string}")]
async fn prompt_has_owner(world: &mut World, name: String, owner: String) {
    let found = field(world, ("prompts", "name"), &name, "owner").await;
    assert_eq!(found, Some(Value::from(owner)));
}

#[then(expr = "the skill {string} has neither an owner nor a lease")]
async fn has_no_lease(world: &mut World, id: String) {
    for name in ["owner", "expires_at", "stale"] {
        assert_eq!(field(world, ("skills", "id"), &id, name).await, None);
    }
}

#[then(expr = "the skill {string} is not listed")]
async fn is_not_listed(world: &mut World, id: String) {
    assert_eq!(entry(world, ("skills", "id"), &id).await, None);
}

#[then("there are no rows of leases")]
async fn no_rows(world: &mut World) {
    assert_eq!(world.backend.rows("skills.leases").await.len(), 0);
}

/// A field of a listed entry.
async fn field(world: &mut World, list: (&str, &str), name: &str, field: &str) -> Option<Value> {
    let entry = entry(world, list, name).await.expect("it is listed");
    entry.get(field).cloned()
}

async fn entry(world: &mut World, (list, key): (&str, &str), name: &str) -> Option<Value> {
    world.arrange(&format!("{list}::list"), json!({})).await;
    let entries = world.result()[list].as_array().expect("a list");
    entries.iter().find(|entry| entry[key] == name).cloned()
}
