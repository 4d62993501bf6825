//! The functions and trigger types of the registry.

use cucumber::gherkin::Step;
use cucumber::{then, when};

use crate::world::values::{column, table};
use crate::world::{ListedFunction, World};

#[when("I list the functions of the engine")]
async fn list(world: &mut World) {
    world.functions = world.backend.functions().await;
    world.trigger_types = world.backend.trigger_types().await;
}

#[then("these are the functions of the registry:")]
fn functions(world: &mut World, step: &Step) {
    check(&world.functions, &column(step));
}

#[then("these are its trigger types:")]
fn trigger_types(world: &mut World, step: &Step) {
    check(&world.trigger_types, &column(step));
}

#[then("tools show these functions under a label of their own:")]
fn labels(world: &mut World, step: &Step) {
    let labelled = |f: &ListedFunction| f.label.clone().map(|label| [f.id.clone(), label]);
    let labels: Vec<_> = world.functions.iter().filter_map(labelled).collect();
    assert_eq!(labels, table(step, ["function", "label"]));
}

#[track_caller]
fn check(listed: &[ListedFunction], expected: &[String]) {
    let ids: Vec<_> = listed.iter().map(|o| o.id.clone()).collect();
    assert_eq!(ids, expected);
    for ListedFunction {
        id, description, ..
    } in listed
    {
        assert!(!description.trim().is_empty(), "`{id}` has no description");
    }
}
