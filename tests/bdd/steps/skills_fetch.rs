//! Fetching several addresses as one text.

use cucumber::gherkin::Step;
use cucumber::{given, when};
use serde_json::json;

use crate::world::values::{column, visible_to_raw};
use crate::world::{Behaviour, World};

const FETCH: &str = "skill::fetch";

#[given(expr = "the function {string} returns {string} once {int} calls are in progress")]
async fn together(world: &mut World, function: String, text: String, parties: usize) {
    world
        .backend
        .register_function(&function, Behaviour::ReturnsOnceTogether { text, parties })
        .await;
}

#[when(expr = "I fetch {string}")]
async fn fetch(world: &mut World, uri: String) {
    world
        .call(FETCH, json!({ "uri": visible_to_raw(&uri) }))
        .await;
}

#[when("I fetch all of:")]
async fn fetch_all(world: &mut World, step: &Step) {
    let uris: Vec<_> = column(step).iter().map(|uri| visible_to_raw(uri)).collect();
    world.call(FETCH, json!({ "uris": uris })).await;
}
