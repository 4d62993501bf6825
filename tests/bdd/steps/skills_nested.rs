//! Reading the index.

use cucumber::gherkin::Step;
use cucumber::{given, then};
use serde_json::json;

use super::index::after_opening;
use crate::world::World;
use crate::world::values::block;

#[given("the index was read")]
async fn index_read(world: &mut World) {
    world
        .arrange("skills::resources-read", json!({ "uri": "iii://skills" }))
        .await;
}

#[then("the index lists:")]
async fn index_lists(world: &mut World, step: &Step) {
    world
        .call("skills::resources-read", json!({ "uri": "iii://skills" }))
        .await;
    let index = world.text();
    assert_eq!(
        after_opening(index),
        block(step),
        "the index is:\n{index}\n"
    );
}
