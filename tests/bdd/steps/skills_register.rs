//! Registering, unregistering and listing skills.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::{Value, json};

use crate::world::World;
use crate::world::values::{block, id_of, parsed, table, timeless, visible_to_raw, without_marks};

const REGISTER: &str = "skills::register";

async fn register(world: &mut World, id: &str, body: &str) {
    world
        .call(REGISTER, json!({ "id": id, "skill": body }))
        .await;
}

#[given(expr = "the skill {string} is registered")]
async fn registered(world: &mut World, id: String) {
    world
        .arrange(REGISTER, json!({ "id": id, "skill": format!("# {id}") }))
        .await;
}

#[given(expr = "the skill {string} is registered with {string}")]
async fn registered_with(world: &mut World, id: String, body: String) {
    world
        .arrange(
            REGISTER,
            json!({ "id": id, "skill": visible_to_raw(&body) }),
        )
        .await;
}

#[given(expr = "the skill {string} is registered with:")]
async fn registered_with_block(world: &mut World, id: String, step: &Step) {
    world
        .arrange(REGISTER, json!({ "id": id, "skill": block(step) }))
        .await;
}

#[given("these skills are registered:")]
async fn all_registered(world: &mut World, step: &Step) {
    for [id, body] in table(step, ["id", "body"]) {
        world
            .arrange(REGISTER, json!({ "id": id, "skill": body }))
            .await;
    }
}

#[given("the list of skills was requested")]
async fn listed(world: &mut World) {
    world.arrange("skills::list", json!({})).await;
}

#[when(expr = "I register the skill {string}")]
async fn register_any(world: &mut World, id: String) {
    register(world, &visible_to_raw(&id), "# A skill").await;
}

#[when(expr = "I register the skill {string} with {string}")]
async fn register_with(world: &mut World, id: String, body: String) {
    register(world, &id, &visible_to_raw(&body)).await;
}

#[when(expr = "I register the skill {string} with:")]
async fn register_with_block(world: &mut World, id: String, step: &Step) {
    register(world, &id, &block(step)).await;
}

#[when(expr = "I register a skill with an id of {int} {string}s")]
async fn register_long_segment(world: &mut World, count: usize, letter: String) {
    register(world, &letter.repeat(count), "# A skill").await;
}

#[when(expr = "I register a skill with an id of {int} bytes in short segments")]
async fn register_long_id(world: &mut World, bytes: usize) {
    register(world, &id_of(bytes), "# A skill").await;
}

#[when(expr = "I register the skill {string} with a body of {int} {string}s")]
async fn register_long_body(world: &mut World, id: String, count: usize, letter: String) {
    register(world, &id, &letter.repeat(count)).await;
}

#[when(expr = "I register the skill {string} with a body of {int} {string}s and one {string}")]
async fn register_odd_body(
    world: &mut World,
    id: String,
    count: usize,
    letter: String,
    end: String,
) {
    register(world, &id, &(letter.repeat(count) + &end)).await;
}

#[when(expr = "I unregister the skill {string}")]
async fn unregister(world: &mut World, id: String) {
    world
        .call("skills::unregister", json!({ "id": visible_to_raw(&id) }))
        .await;
}

#[then("the list of skills is:")]
async fn list_is(world: &mut World, step: &Step) {
    let entry = |[id, bytes, origin]: [String; 3]| {
        let bytes: usize = bytes.parse().expect("bytes is a number");
        json!({ "id": id, "bytes": bytes, "registered_at": "{time}", "origin": origin })
    };
    let expected: Value = table(step, ["id", "bytes", "origin"])
        .into_iter()
        .map(entry)
        .collect();
    world.call("skills::list", json!({})).await;
    let mut result = timeless(&without_marks(world.result(), "skills"));
    // Another step is about damaged rows.
    result
        .as_object_mut()
        .expect("the list is an object")
        .remove("damaged");
    assert_eq!(result, json!({ "skills": expected }));
}

#[then(expr = "the list of skills reports the damaged row {string}")]
async fn list_reports(world: &mut World, place: String) {
    world.call("skills::list", json!({})).await;
    let damaged = world.result()["damaged"].as_array().expect("damaged rows");
    let places: Vec<_> = damaged.iter().map(|row| &row["place"]).collect();
    assert_eq!(places, [&json!(place)]);
}

#[then(expr = "the list has {string} of {int} skills and the cursor {string}")]
fn list_page(world: &mut World, ids: String, total: usize, cursor: String) {
    let page = world.result();
    let skills = page["skills"].as_array().expect("a list of skills");
    let found = skills.iter().filter_map(|skill| skill["id"].as_str());
    let found = found.collect::<Vec<_>>().join(", ");
    let next = page["cursor"].as_str().unwrap_or_default().to_owned();
    let expected = (ids, json!(total), cursor);
    assert_eq!((found, page["total"].clone(), next), expected);
}

#[then("the list of skills is empty")]
async fn list_is_empty(world: &mut World) {
    world.call("skills::list", json!({})).await;
    assert_eq!(*world.result(), json!({ "skills": [] }));
}

#[then(expr = "reading {string} gives {int} bytes")]
async fn reading_gives_bytes(world: &mut World, uri: String, bytes: usize) {
    world
        .call("skills::resources-read", json!({ "uri": uri }))
        .await;
    assert_eq!(world.text().len(), bytes);
}

#[then("the second registration is later than the first")]
fn later(world: &mut World) {
    let [first, second] = &world.times[..] else {
        panic!("two times, not {:?}", world.times)
    };
    assert!(first < second, "{first} is not before {second}");
}

#[then(expr = "the row {string} in scope {string} is:")]
async fn row_is(world: &mut World, key: String, scope: String, step: &Step) {
    let rows = world.backend.rows(&scope).await;
    let row = rows
        .get(&key)
        .unwrap_or_else(|| panic!("no row `{key}` in {rows:?}"));
    assert_eq!(timeless(row), parsed(&block(step)));
}

#[then(expr = "scope {string} holds no rows")]
async fn no_rows(world: &mut World, scope: String) {
    let rows = world.backend.rows(&scope).await;
    assert!(rows.is_empty(), "{rows:?}");
}
