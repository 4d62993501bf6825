//! Reading addresses, and files beside the registered skills.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::{Value, json};

use crate::world::World;
use crate::world::values::{block, table, visible_to_raw};

#[given(expr = "a file holds the skill {string}:")]
fn skill_file(world: &mut World, id: String, step: &Step) {
    world.backend.source().add_skill(&id, &block(step));
}

#[when(expr = "I read {string}")]
async fn read(world: &mut World, uri: String) {
    world
        .call(
            "skills::resources-read",
            json!({ "uri": visible_to_raw(&uri) }),
        )
        .await;
}

#[then(expr = "the mime type is {string}")]
fn mime_type(world: &mut World, expected: String) {
    assert_eq!(world.result()["contents"][0]["mimeType"], json!(expected));
}

#[then("the resources are:")]
async fn resources(world: &mut World, step: &Step) {
    world.call("skills::resources-list", json!({})).await;
    let listed = world.result()["resources"]
        .as_array()
        .expect("a list of resources");
    let cell = |resource: &Value, field: &str| match &resource[field] {
        Value::String(text) => text.clone(),
        Value::Null => "none".into(),
        other => panic!("`{field}` is {other}"),
    };
    let row = |r: &Value| [cell(r, "uri"), cell(r, "name"), cell(r, "description")];
    // The index comes first; its title and description are not compared.
    let (index, skills) = listed.split_first().expect("the index is always listed");
    assert_eq!(index["uri"], "iii://skills");
    let skills: Vec<_> = skills.iter().map(row).collect();
    assert_eq!(skills, table(step, ["uri", "name", "description"]));
    for resource in listed {
        assert_eq!(resource["mimeType"], "text/markdown");
    }
}

#[then("the only resource is the index")]
async fn only_index(world: &mut World) {
    world.call("skills::resources-list", json!({})).await;
    let listed = world.result()["resources"]
        .as_array()
        .expect("a list of resources");
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["uri"], "iii://skills");
}
