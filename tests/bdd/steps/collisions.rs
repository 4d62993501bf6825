//! One id in state and in files, or in two kinds of files.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then};
use serde_json::{Value, json};

use crate::world::World;
use crate::world::values::block;

#[given(expr = "`sources.on_conflict` is {string}")]
fn on_conflict(world: &mut World, rule: String) {
    let rule = rule.parse().expect("a rule");
    world.backend.set_on_conflict(rule);
}

#[given(expr = "a 3md document holds the skill {string}:")]
fn agent_skill(world: &mut World, id: String, step: &Step) {
    world.backend.source().add_agent_skill(&id, &block(step));
}

#[given(expr = "the folder of the skill {string} has the file {string}:")]
fn bundled_file(world: &mut World, id: String, path: String, step: &Step) {
    let source = world.backend.source();
    source.add_bundled_file(&id, &path, &block(step));
}

#[then(expr = "the skill {string} hides {string}")]
async fn hides(world: &mut World, id: String, origins: String) {
    let expected: Vec<_> = origins.split(" and ").map(Value::from).collect();
    let hidden = hidden_by(world, "skills", "id", &id).await;
    assert_eq!(hidden, Some(Value::from(expected)));
}

#[then(expr = "the skill {string} hides nothing")]
async fn hides_nothing(world: &mut World, id: String) {
    assert_eq!(hidden_by(world, "skills", "id", &id).await, None);
}

#[then(expr = "the prompt {string} hides {string}")]
async fn prompt_hides(world: &mut World, name: String, origin: String) {
    let hidden = hidden_by(world, "prompts", "name", &name).await;
    assert_eq!(hidden, Some(json!([origin])));
}

/// The field `hides` of the only entry with this id or name.
async fn hidden_by(world: &mut World, list: &str, key: &str, name: &str) -> Option<Value> {
    world.arrange(&format!("{list}::list"), json!({})).await;
    let entries = world.result()[list].as_array().expect("a list");
    let mut entries = entries.iter().filter(|entry| entry[key] == name);
    let entry = entries.next().expect("it is listed");
    assert_eq!(entries.next(), None, "listed once");
    entry.get("hides").cloned()
}
