//! Outages of the engine, and damaged rows.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};

use crate::world::World;
use crate::world::values::{block, parsed, table};

#[given("the engine is down")]
#[when("the engine goes down")]
fn down(world: &mut World) {
    world.backend.disconnect();
}

#[when("the engine is back")]
fn back(world: &mut World) {
    world.backend.reconnect();
}

#[given(expr = "another worker wrote the row {string} in scope {string}:")]
#[when(expr = "another worker writes the row {string} in scope {string}:")]
async fn put_row(world: &mut World, key: String, scope: String, step: &Step) {
    world
        .backend
        .put_row(&scope, &key, &parsed(&block(step)))
        .await;
}

#[then("these problems are reported:")]
async fn problems(world: &mut World, step: &Step) {
    let expected = table(step, ["place", "reason"]);
    let problems = world.backend.problems().await;
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, [place, reason]) in problems.iter().zip(expected) {
        assert_eq!(problem.place, place);
        assert!(
            problem.reason.contains(&reason),
            "{problem:?} does not say {reason:?}"
        );
    }
}

#[then("no problem is reported")]
async fn no_problem(world: &mut World) {
    let problems = world.backend.problems().await;
    assert!(problems.is_empty(), "{problems:?}");
}
