//! Registering, unregistering and listing prompts.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::{Value, json};

use crate::world::World;
use crate::world::values::{column, table, timeless, visible_to_raw, without_marks};

const REGISTER: &str = "prompts::register";

fn prompt(name: &str, description: &str, function: &str) -> Value {
    json!({ "name": name, "description": description, "function_id": function })
}

#[given(expr = "the prompt {string} is rendered by {string}")]
async fn registered(world: &mut World, name: String, function: String) {
    world
        .arrange(REGISTER, prompt(&name, "A prompt", &function))
        .await;
}

#[given(expr = "a file holds the prompt {string} about {string}, which says {string}")]
fn prompt_file(world: &mut World, name: String, description: String, body: String) {
    let source = world.backend.source();
    source.add_prompt(&name, &description, &body);
}

#[when(expr = "I register the prompt {string}")]
async fn register(world: &mut World, name: String) {
    world
        .call(
            REGISTER,
            prompt(&visible_to_raw(&name), "A prompt", "mailer::compose"),
        )
        .await;
}

#[when(expr = "I register the prompt {string}, rendered by {string}")]
async fn register_rendered_by(world: &mut World, name: String, function: String) {
    world
        .call(
            REGISTER,
            prompt(&name, "A prompt", &visible_to_raw(&function)),
        )
        .await;
}

#[when(expr = "I register the prompt {string}, described as {string}")]
async fn register_described(world: &mut World, name: String, description: String) {
    world
        .call(
            REGISTER,
            prompt(&name, &visible_to_raw(&description), "mailer::compose"),
        )
        .await;
}

#[when(expr = "I register a prompt with a name of {int} {string}s")]
async fn register_long(world: &mut World, count: usize, letter: String) {
    world
        .call(
            REGISTER,
            prompt(&letter.repeat(count), "A prompt", "mailer::compose"),
        )
        .await;
}

#[when(expr = "I register the prompt {string} with arguments named:")]
async fn register_arguments(world: &mut World, name: String, step: &Step) {
    let names = column(step);
    let arguments: Value = names
        .iter()
        .map(|name| json!({ "name": visible_to_raw(name) }))
        .collect();
    let mut payload = prompt(&name, "A prompt", "mailer::compose");
    payload["arguments"] = arguments;
    world.call(REGISTER, payload).await;
}

#[when(expr = "I unregister the prompt {string}")]
async fn unregister(world: &mut World, name: String) {
    world
        .call(
            "prompts::unregister",
            json!({ "name": visible_to_raw(&name) }),
        )
        .await;
}

#[then("the list of prompts is:")]
async fn list_is(world: &mut World, step: &Step) {
    let entry = |[name, function, arguments, origin]: [String; 4]| {
        json!({
            "name": name,
            "function_id": function,
            "arguments": arguments.parse::<usize>().expect("arguments is a number"),
            "registered_at": "{time}",
            "origin": origin,
        })
    };
    let rows = table(step, ["name", "function_id", "arguments", "origin"]);
    let expected: Value = rows.into_iter().map(entry).collect();
    world.call("prompts::list", json!({})).await;
    let result = timeless(&without_marks(world.result(), "prompts"));
    assert_eq!(result, json!({ "prompts": expected }));
}

#[then("the list of prompts is empty")]
async fn list_is_empty(world: &mut World) {
    world.call("prompts::list", json!({})).await;
    assert_eq!(*world.result(), json!({ "prompts": [] }));
}
