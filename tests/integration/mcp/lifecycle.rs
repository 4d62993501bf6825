//! Versions, both lifecycles, and methods that are none.

use serde_json::{Value, json};

use super::fixture::Fixture;
use skills_test_support::test_client::stateless;

#[tokio::test]
async fn every_version_of_the_old_lifecycle_is_agreed_to_as_asked() {
    let fixture = Fixture::new().await;
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // The newest is not agreed on this way.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = fixture.connect();
        let answer = client.initialize(asked).await;
        assert_eq!(answer["protocolVersion"], agreed, "for {asked}");
        assert!(
            answer["instructions"]
                .as_str()
                .unwrap()
                .contains("iii://skills")
        );
        assert_eq!(answer["capabilities"]["resources"]["subscribe"], true);
        // And the shape of later answers is that of what was agreed.
        let tools = client.request("tools/list", json!({})).await.unwrap();
        assert_eq!(tools["resultType"], Value::Null, "for {asked}");
        assert_eq!(tools["ttlMs"], Value::Null, "for {asked}");
        client.close().await;
    }
}

#[tokio::test]
async fn the_new_lifecycle_needs_no_hello() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A").await;
    let mut client = fixture.connect();
    let about = client
        .request_stateless("server/discover", json!({}))
        .await
        .unwrap();
    assert_eq!(about["supportedVersions"].as_array().unwrap().len(), 5);
    let listed = client
        .request_stateless("resources/list", json!({}))
        .await
        .unwrap();
    assert_eq!(listed["resultType"], "complete");
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2);
    let mut old = stateless(json!({}));
    old["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let error = client.request("tools/list", old).await.unwrap_err();
    assert_eq!(error["code"], -32022);
}

#[tokio::test]
async fn what_is_no_request_is_refused_with_the_reason() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    for (method, params, code, part) in [
        (
            "nope/nope",
            json!({}),
            -32601,
            "Method not found: nope/nope",
        ),
        ("tools/call", json!({}), -32602, "missing field `name`"),
        (
            "resources/read",
            json!({ "uri": 5 }),
            -32602,
            "invalid type",
        ),
        (
            "logging/setLevel",
            json!({ "level": "loud" }),
            -32602,
            "loud",
        ),
        (
            "resources/subscribe",
            json!({ "uri": "" }),
            -32602,
            "1 to 4096 bytes",
        ),
    ] {
        let error = client.request(method, params).await.unwrap_err();
        assert_eq!(error["code"], code, "for {method}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
}
