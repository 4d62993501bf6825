//! Steps for calls of functions and their results, which every feature uses.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::{Value, json};

use crate::world::values::{block, column, parsed, timeless, visible_to_raw};
use crate::world::{Behaviour, World};

#[given(expr = "the function {string} returns:")]
async fn returns_json(world: &mut World, function: String, step: &Step) {
    world
        .backend
        .register_function(&function, Behaviour::Returns(parsed(&block(step))))
        .await;
}

#[given(expr = "the function {string} returns the text {string}")]
async fn returns_text(world: &mut World, function: String, text: String) {
    world
        .backend
        .register_function(
            &function,
            Behaviour::Returns(Value::String(visible_to_raw(&text))),
        )
        .await;
}

#[given(expr = "the function {string} fails with {string}")]
async fn fails(world: &mut World, function: String, message: String) {
    world
        .backend
        .register_function(&function, Behaviour::Fails(message))
        .await;
}

#[given(expr = "the function {string} never returns")]
async fn hangs(world: &mut World, function: String) {
    world
        .backend
        .register_function(&function, Behaviour::Hangs)
        .await;
}

#[given(expr = "the worker of the function {string} has disconnected")]
async fn disconnected(world: &mut World, function: String) {
    world
        .backend
        .register_function(&function, Behaviour::Disconnected)
        .await;
}

#[when(expr = "I call {string}")]
async fn call(world: &mut World, function: String) {
    world.call(&function, json!({})).await;
}

#[when(expr = "I call {string} with:")]
async fn call_with(world: &mut World, function: String, step: &Step) {
    world.call(&function, parsed(&block(step))).await;
}

#[then("it succeeds")]
fn succeeds(world: &mut World) {
    let _ = world.result();
}

#[then(expr = "it fails as {string}")]
fn fails_as(world: &mut World, code: String) {
    let failure = world.failure();
    assert_eq!(failure.code, code, "the message is: {}", failure.message);
}

#[then(expr = "the message says {string}")]
fn says(world: &mut World, part: String) {
    let message = &world.failure().message;
    assert!(message.contains(&part), "{message:?} does not say {part:?}");
}

#[then("the message says all of:")]
fn says_all(world: &mut World, step: &Step) {
    let message = &world.failure().message;
    for part in column(step) {
        assert!(message.contains(&part), "{message:?} does not say {part:?}");
    }
}

#[then(expr = "the message does not say {string}")]
fn does_not_say(world: &mut World, part: String) {
    let message = &world.failure().message;
    assert!(!message.contains(&part), "{message:?} says {part:?}");
}

#[then("the result is:")]
fn answer_is(world: &mut World, step: &Step) {
    let (expected, got) = (parsed(&block(step)), timeless(world.result()));
    assert_eq!(got, expected, "the result is:\n{got:#}\n");
}

#[then(expr = "the text is {string}")]
fn text_is(world: &mut World, text: String) {
    assert_eq!(world.text(), visible_to_raw(&text));
}

#[then("the text is:")]
fn text_is_block(world: &mut World, step: &Step) {
    assert_eq!(
        world.text(),
        block(step),
        "the text is:\n{}\n",
        world.text()
    );
}

#[then(expr = "the function {string} was called once with:")]
fn called_with(world: &mut World, function: String, step: &Step) {
    assert_eq!(
        world.backend.received_calls(&function),
        [parsed(&block(step))]
    );
}

#[then(expr = "the function {string} was called {int} time(s)")]
fn called(world: &mut World, function: String, times: usize) {
    let received = world.backend.received_calls(&function);
    assert_eq!(received.len(), times, "it received {received:?}");
}

#[then(expr = "the function {string} was never called")]
fn never_called(world: &mut World, function: String) {
    assert_eq!(world.backend.received_calls(&function), [Value::Null; 0]);
}
