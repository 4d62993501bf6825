//! Rendering a prompt.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{then, when};
use serde_json::json;

use crate::world::World;
use crate::world::values::{json as json_block, visible_to_raw};

const GET: &str = "prompts::mcp-get";

#[when(expr = "I get the prompt {string}")]
async fn get(world: &mut World, name: String) {
    world
        .call(GET, json!({ "name": visible_to_raw(&name) }))
        .await;
}

#[when(expr = "I get the prompt {string} with the arguments:")]
async fn get_with(world: &mut World, name: String, step: &Step) {
    world
        .call(GET, json!({ "name": name, "arguments": json_block(step) }))
        .await;
}

#[then(expr = "the only message is the user's and says {string}")]
fn one_message(world: &mut World, text: String) {
    let text = visible_to_raw(&text);
    let expected = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
    assert_eq!(world.result()["messages"], expected);
}

#[then("the messages are:")]
fn messages(world: &mut World, step: &Step) {
    assert_eq!(world.result()["messages"], json_block(step));
}
