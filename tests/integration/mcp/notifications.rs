//! Notifications of changes, in sessions and in `subscriptions/listen` streams.

use serde_json::{Value, json};
use skills_core::{LeaseTerms, PromptRegistration};
use skills_test_support::TIMEOUT;
use skills_test_support::handler::echo;
use skills_test_support::test_client::stateless;
use tokio::time::timeout;

use super::fixture::Fixture;

const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const PROMPTS: &str = "notifications/prompts/list_changed";
const TOOLS: &str = "notifications/tools/list_changed";

async fn register_prompt(fixture: &Fixture) {
    let (name, function) = ("p".parse().unwrap(), "w::p".parse().unwrap());
    let registered = fixture.registry().register_prompt(PromptRegistration {
        name,
        description: "P".into(),
        arguments: Vec::new(),
        function_id: function,
        lease: LeaseTerms::default(),

        expected: skills_core::Precondition::Any,
        rollback: None,
    });
    registered.await.unwrap();
}

#[tokio::test]
async fn changes_of_lists_and_of_subscribed_resources_are_notified() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client
        .request("resources/subscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    fixture.register_skill("b", "# B").await;
    client.notification(RESOURCES).await;
    assert!(
        !client.has_notification(UPDATED).await,
        "no subscription to b"
    );
    fixture.register_skill("a", "# A").await;
    assert_eq!(client.notification(UPDATED).await["uri"], "iii://a");
    client
        .request("resources/unsubscribe", json!({ "uri": "iii://a" }))
        .await
        .unwrap();
    client
        .request("resources/subscribe", json!({ "uri": "iii://skills" }))
        .await
        .unwrap();
    fixture.register_skill("a", "# A2").await;
    assert_eq!(
        client.notification(UPDATED).await["uri"],
        "iii://skills",
        "the index has a"
    );
    assert!(!client.has_notification(UPDATED).await);
    register_prompt(&fixture).await;
    client.notification(PROMPTS).await;
}

#[tokio::test]
async fn changes_of_tools_are_notified_after_the_first_list() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    fixture.handler.functions_changed().await;
    assert!(
        !client.has_notification(TOOLS).await,
        "no list was requested yet"
    );
    client.request("tools/list", json!({})).await.unwrap();
    fixture
        .register_function(json!({ "id": "skills::internal" }), echo())
        .await;
    fixture.handler.functions_changed().await;
    assert!(
        !client.has_notification(TOOLS).await,
        "not exposed as a tool"
    );
    fixture
        .register_function(json!({ "id": "w::f" }), echo())
        .await;
    fixture.handler.functions_changed().await;
    client.notification(TOOLS).await;
    fixture
        .register_function(
            json!({ "id": "w::f", "request": { "type": "object", "title": "F" } }),
            echo(),
        )
        .await;
    fixture.handler.functions_changed().await;
    client.notification(TOOLS).await;
}

#[tokio::test]
async fn a_stream_has_every_change_after_its_acknowledgement() {
    let fixture = Fixture::new().await;
    let mut client = fixture.connect();
    // Repeated, because a change right after the acknowledgement must not be lost.
    for round in 0..50 {
        let wanted = json!({ "notifications": {
            "resourcesListChanged": true, "resourceSubscriptions": ["iii://a"],
        } });
        let id = client.send("subscriptions/listen", stateless(wanted)).await;
        let ack = client
            .notification("notifications/subscriptions/acknowledged")
            .await;
        assert_eq!(ack["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        fixture.register_skill("a", &format!("# {round}")).await;
        let notice = client.notification(RESOURCES).await;
        assert_eq!(
            notice["_meta"]["io.modelcontextprotocol/subscriptionId"],
            id
        );
        assert_eq!(client.notification(UPDATED).await["uri"], "iii://a");
        client
            .notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
        // This change must not be in the stream of the next round.
        register_prompt(&fixture).await;
    }
    let listed = client
        .request_stateless("prompts/list", json!({}))
        .await
        .unwrap();
    assert_eq!(listed["prompts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let fixture = Fixture::new().await;
    let mut client = fixture.connect();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    client.send("subscriptions/listen", stateless(wanted)).await;
    client
        .notification("notifications/subscriptions/acknowledged")
        .await;
    fixture.stop.cancel();
    timeout(TIMEOUT, client.close()).await.unwrap();
}

#[tokio::test]
async fn every_connected_client_is_notified() {
    let fixture = Fixture::new().await;
    let (mut one, mut two) = (fixture.client().await, fixture.client().await);
    fixture.client().await.close().await;
    fixture.register_skill("a", "# A").await;
    assert_eq!(one.notification(RESOURCES).await, Value::Null);
    two.notification(RESOURCES).await;
}
