//! Subscriptions and their events.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use serde_json::Value;

use crate::world::World;
use crate::world::values::{parsed, table};

#[given(expr = "{string} is subscribed to {string}")]
async fn listens(world: &mut World, function: String, trigger_type: String) {
    world.backend.subscribe(&trigger_type, &function).await;
}

#[when(expr = "{string} unsubscribes from {string}")]
async fn stops(world: &mut World, function: String, trigger_type: String) {
    world.backend.unsubscribe(&trigger_type, &function).await;
}

#[then("exactly these events arrive:")]
async fn notices(world: &mut World, step: &Step) {
    let row = |[function, notice]: [String; 2]| (function, parsed(&notice));
    let expected: Vec<_> = table(step, ["listener", "notice"])
        .into_iter()
        .map(row)
        .collect();
    // Events of different subscribers have no order, and a worker runs calls concurrently.
    let sorted = |mut notices: Vec<(String, Value)>| {
        notices.sort_by_cached_key(|(listener, notice)| (listener.clone(), notice.to_string()));
        notices
    };
    assert_eq!(
        sorted(world.backend.events(expected.len()).await),
        sorted(expected)
    );
}

#[then("no event arrives")]
async fn no_notice(world: &mut World) {
    let _ = world.backend.events(0).await;
}
