//! Notices of change, in both lifecycles.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::house::{House, echo};
use super::talk::{LONG, modern};

const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const PROMPTS: &str = "notifications/prompts/list_changed";
const TOOLS: &str = "notifications/tools/list_changed";

async fn register_prompt(house: &House) {
    let (name, function) = ("p".parse().unwrap(), "w::p".parse().unwrap());
    let registered = house
        .registry()
        .register_prompt(name, "P", Vec::new(), function);
    registered.await.unwrap();
}

#[tokio::test]
async fn a_client_hears_that_lists_changed_and_that_what_it_watches_did() {
    let house = House::open().await;
    let mut talk = house.client().await;
    talk.ask("resources/subscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    house.skill("b", "# B").await;
    talk.notice(RESOURCES).await;
    assert!(!talk.heard(UPDATED).await, "nobody watches b");
    house.skill("a", "# A").await;
    assert_eq!(talk.notice(UPDATED).await["uri"], "iii://a");
    talk.ask("resources/unsubscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    talk.ask("resources/subscribe", json!({ "uri": "iii://skills" }))
        .await
        .unwrap();
    house.skill("a", "# A2").await;
    assert_eq!(
        talk.notice(UPDATED).await["uri"],
        "iii://skills",
        "the index tells of a"
    );
    assert!(!talk.heard(UPDATED).await);
    register_prompt(&house).await;
    talk.notice(PROMPTS).await;
}

#[tokio::test]
async fn tools_that_come_and_go_are_told_once_somebody_looked() {
    let house = House::open().await;
    let mut talk = house.client().await;
    house.handler.functions_changed().await;
    assert!(
        !talk.heard(TOOLS).await,
        "nothing is other than it was seen"
    );
    talk.ask("tools/list", json!({})).await.unwrap();
    house
        .offer(json!({ "id": "skills::internal" }), echo())
        .await;
    house.handler.functions_changed().await;
    assert!(!talk.heard(TOOLS).await, "that is no tool");
    house.offer(json!({ "id": "w::f" }), echo()).await;
    house.handler.functions_changed().await;
    talk.notice(TOOLS).await;
    house
        .offer(
            json!({ "id": "w::f", "request": { "type": "object", "title": "F" } }),
            echo(),
        )
        .await;
    house.handler.functions_changed().await;
    talk.notice(TOOLS).await;
}

#[tokio::test]
async fn a_stream_tells_what_was_asked_for_from_its_acknowledgement_on() {
    let house = House::open().await;
    let mut talk = house.talk();
    // Often: what happens right after the acknowledgement must not be lost.
    for round in 0..50 {
        let wanted = json!({ "notifications": {
            "resourcesListChanged": true, "resourceSubscriptions": ["iii://a"],
        } });
        let id = talk.send("subscriptions/listen", modern(wanted)).await;
        let ack = talk
            .notice("notifications/subscriptions/acknowledged")
            .await;
        assert_eq!(ack["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        house.skill("a", &format!("# {round}")).await;
        let notice = talk.notice(RESOURCES).await;
        assert_eq!(
            notice["_meta"]["io.modelcontextprotocol/subscriptionId"],
            id
        );
        assert_eq!(talk.notice(UPDATED).await["uri"], "iii://a");
        talk.notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
        // The next round must not hear this stream.
        register_prompt(&house).await;
    }
    let listed = talk.ask_modern("prompts/list", json!({})).await.unwrap();
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let house = House::open().await;
    let mut talk = house.talk();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    talk.send("subscriptions/listen", modern(wanted)).await;
    talk.notice("notifications/subscriptions/acknowledged")
        .await;
    house.stop.cancel();
    timeout(LONG, talk.end()).await.unwrap();
}

#[tokio::test]
async fn two_clients_hear_the_same_change_and_one_that_left_is_forgotten() {
    let house = House::open().await;
    let (mut one, mut two) = (house.client().await, house.client().await);
    house.client().await.end().await;
    house.skill("a", "# A").await;
    assert_eq!(one.notice(RESOURCES).await, Value::Null);
    two.notice(RESOURCES).await;
}
