//! Notices of change, in both lifecycles.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::fixture::{Fixture, echo};
use super::test_client::{TIMEOUT, modern};

const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const PROMPTS: &str = "notifications/prompts/list_changed";
const TOOLS: &str = "notifications/tools/list_changed";

async fn register_prompt(fixture: &Fixture) {
    let (name, function) = ("p".parse().unwrap(), "w::p".parse().unwrap());
    let registered = fixture
        .registry()
        .register_prompt(name, "P", Vec::new(), function);
    registered.await.unwrap();
}

#[tokio::test]
async fn a_client_hears_that_lists_changed_and_that_what_it_watches_did() {
    let fixture = Fixture::open().await;
    let mut client = fixture.client().await;
    client
        .ask("resources/subscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    fixture.skill("b", "# B").await;
    client.notice(RESOURCES).await;
    assert!(!client.heard(UPDATED).await, "nobody watches b");
    fixture.skill("a", "# A").await;
    assert_eq!(client.notice(UPDATED).await["uri"], "iii://a");
    client
        .ask("resources/unsubscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    client
        .ask("resources/subscribe", json!({ "uri": "iii://skills" }))
        .await
        .unwrap();
    fixture.skill("a", "# A2").await;
    assert_eq!(
        client.notice(UPDATED).await["uri"],
        "iii://skills",
        "the index tells of a"
    );
    assert!(!client.heard(UPDATED).await);
    register_prompt(&fixture).await;
    client.notice(PROMPTS).await;
}

#[tokio::test]
async fn tools_that_come_and_go_are_told_once_somebody_looked() {
    let fixture = Fixture::open().await;
    let mut client = fixture.client().await;
    fixture.handler.functions_changed().await;
    assert!(
        !client.heard(TOOLS).await,
        "nothing is other than it was seen"
    );
    client.ask("tools/list", json!({})).await.unwrap();
    fixture
        .offer(json!({ "id": "skills::internal" }), echo())
        .await;
    fixture.handler.functions_changed().await;
    assert!(!client.heard(TOOLS).await, "that is no tool");
    fixture.offer(json!({ "id": "w::f" }), echo()).await;
    fixture.handler.functions_changed().await;
    client.notice(TOOLS).await;
    fixture
        .offer(
            json!({ "id": "w::f", "request": { "type": "object", "title": "F" } }),
            echo(),
        )
        .await;
    fixture.handler.functions_changed().await;
    client.notice(TOOLS).await;
}

#[tokio::test]
async fn a_stream_tells_what_was_asked_for_from_its_acknowledgement_on() {
    let fixture = Fixture::open().await;
    let mut client = fixture.connect();
    // Often: what happens right after the acknowledgement must not be lost.
    for round in 0..50 {
        let wanted = json!({ "notifications": {
            "resourcesListChanged": true, "resourceSubscriptions": ["iii://a"],
        } });
        let id = client.send("subscriptions/listen", modern(wanted)).await;
        let ack = client
            .notice("notifications/subscriptions/acknowledged")
            .await;
        assert_eq!(ack["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        fixture.skill("a", &format!("# {round}")).await;
        let notice = client.notice(RESOURCES).await;
        assert_eq!(
            notice["_meta"]["io.modelcontextprotocol/subscriptionId"],
            id
        );
        assert_eq!(client.notice(UPDATED).await["uri"], "iii://a");
        client
            .notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
        // The next round must not hear this stream.
        register_prompt(&fixture).await;
    }
    let listed = client.ask_modern("prompts/list", json!({})).await.unwrap();
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let fixture = Fixture::open().await;
    let mut client = fixture.connect();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    client.send("subscriptions/listen", modern(wanted)).await;
    client
        .notice("notifications/subscriptions/acknowledged")
        .await;
    fixture.stop.cancel();
    timeout(TIMEOUT, client.end()).await.unwrap();
}

#[tokio::test]
async fn two_clients_hear_the_same_change_and_one_that_left_is_forgotten() {
    let fixture = Fixture::open().await;
    let (mut one, mut two) = (fixture.client().await, fixture.client().await);
    fixture.client().await.end().await;
    fixture.skill("a", "# A").await;
    assert_eq!(one.notice(RESOURCES).await, Value::Null);
    two.notice(RESOURCES).await;
}
