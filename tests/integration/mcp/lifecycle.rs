//! Protocol versions with and without a session, and invalid requests.

use serde_json::{Value, json};
use skills_test_support::test_client::stateless;

use super::fixture::Fixture;

#[tokio::test]
async fn every_version_with_sessions_is_negotiated() {
    let fixture = Fixture::new().await;
    for (requested, negotiated) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // This version has no `initialize`.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = fixture.connect();
        let result = client.initialize(requested).await;
        assert_eq!(result["protocolVersion"], negotiated, "for {requested}");
        assert!(
            result["instructions"]
                .as_str()
                .unwrap()
                .contains("iii://skills")
        );
        assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
        // Later results have the shape of the negotiated version.
        let tools = client.request("tools/list", json!({})).await.unwrap();
        assert_eq!(tools["resultType"], Value::Null, "for {requested}");
        assert_eq!(tools["ttlMs"], Value::Null, "for {requested}");
        client.close().await;
    }
}

#[tokio::test]
async fn requests_of_2026_07_28_need_no_initialize() {
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
async fn invalid_requests_are_refused_with_the_reason() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    for (method, params, code, part) in [
        (
            "nope/nope",
            json!({}),
            -32601,
            "method not found: nope/nope",
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
