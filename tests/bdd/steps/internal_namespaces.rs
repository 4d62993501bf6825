//! The functions that content must not call.

#![expect(
    clippy::needless_pass_by_value,
    reason = "cucumber hands steps owned strings"
)]

use cucumber::gherkin::Step;
use cucumber::{then, when};
use skills_core::INTERNAL_NAMESPACES;

use crate::world::World;
use crate::world::values::{column, visible_to_raw};

#[when(expr = "content refers to the function {string}")]
fn ask(world: &mut World, id: String) {
    world.function = Some(
        visible_to_raw(&id)
            .parse()
            .expect("a scenario's function id is not blank"),
    );
}

#[then(expr = "it is {word}")]
fn is(world: &mut World, expected: String) {
    let function = world
        .function
        .clone()
        .expect("no function was asked for yet");
    let got = function
        .callable()
        .map_or_else(|error| error.kind().name(), |_| "allowed");
    assert_eq!(got, expected);
}

#[then("the internal namespaces are exactly:")]
fn namespaces(_: &mut World, step: &Step) {
    assert_eq!(INTERNAL_NAMESPACES, column(step));
}
