//! Subscribing, and what subscribers are told.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::Value;

use crate::world::World;
use crate::world::values::{parsed, table};

#[given(expr = "{string} listens to {string}")]
async fn listens(world: &mut World, function: String, trigger_type: String) {
    world.backend.subscribe(&trigger_type, &function).await;
}

#[when(expr = "{string} stops listening to {string}")]
async fn stops(world: &mut World, function: String, trigger_type: String) {
    world.backend.unsubscribe(&trigger_type, &function).await;
}

#[then("exactly these notices arrive:")]
async fn notices(world: &mut World, step: &Step) {
    let row = |[function, notice]: [String; 2]| (function, parsed(&notice));
    let expected: Vec<_> = table(step, ["listener", "notice"])
        .into_iter()
        .map(row)
        .collect();
    // Subscribers are told in no particular order, and a worker takes calls side by side:
    // of two notices the second may be noted first.
    let sorted = |mut notices: Vec<(String, Value)>| {
        notices.sort_by_cached_key(|(listener, notice)| (listener.clone(), notice.to_string()));
        notices
    };
    assert_eq!(
        sorted(world.backend.notices(expected.len()).await),
        sorted(expected)
    );
}

#[then("no notice arrives")]
async fn no_notice(world: &mut World) {
    let _ = world.backend.notices(0).await;
}
