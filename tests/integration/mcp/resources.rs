//! Resources: lists, pages, templates, reading, completion.

use std::sync::Arc;

use serde_json::{Value, json};
use skills_test_support::handler::returns;
use tokio::task::JoinSet;

use super::fixture::Fixture;

#[tokio::test]
async fn the_index_comes_first_then_every_skill_with_its_size_and_time() {
    let fixture = Fixture::new().await;
    fixture
        .register_skill("resend", "# Resend\n\nSends mail.")
        .await;
    fixture.register_skill("resend/email", "no title").await;
    let mut client = fixture.client().await;
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let all = listed["resources"].as_array().unwrap();
    let uris: Vec<_> = all.iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["iii://skills", "iii://resend", "iii://resend/email"]);
    let resend = &all[1];
    assert_eq!(resend["name"], "Resend");
    assert_eq!(resend["description"], "Sends mail.");
    assert_eq!(resend["mimeType"], "text/markdown");
    assert_eq!(resend["size"], 21);
    assert_eq!(resend["annotations"]["audience"], json!(["assistant"]));
    let priority = |n: usize| all[n]["annotations"]["priority"].as_f64().unwrap();
    assert!(priority(0) > priority(1) && priority(1) > priority(2));
    let heads = fixture.registry().skills().await.unwrap().entries;
    assert_eq!(
        resend["annotations"]["lastModified"],
        *heads[0].registered_at
    );
    assert_eq!(all[2]["name"], "resend/email");
    assert_eq!(listed["nextCursor"], Value::Null);
}

#[tokio::test]
async fn a_long_list_has_pages_and_an_invalid_cursor_is_refused() {
    let fixture = Fixture::new().await;
    let mut writing = JoinSet::new();
    for n in 0..1050 {
        let registry = Arc::clone(&fixture.embedded.registry);
        writing.spawn(async move {
            let id = format!("s{n:04}").parse().unwrap();
            registry.register_skill(id, "# S".into()).await.unwrap();
        });
    }
    while let Some(written) = writing.join_next().await {
        written.unwrap();
    }
    let mut client = fixture.client().await;
    let first = client.request("resources/list", json!({})).await.unwrap();
    let cursor = json!({ "cursor": first["nextCursor"] });
    let second = client.request("resources/list", cursor).await.unwrap();
    assert_eq!(second["nextCursor"], Value::Null);
    let pages = [&first, &second].map(|page| page["resources"].as_array().unwrap());
    let mut uris: Vec<_> = pages
        .into_iter()
        .flatten()
        .map(|r| r["uri"].to_string())
        .collect();
    assert_eq!(uris.len(), 1051);
    uris.sort_unstable();
    uris.dedup();
    assert_eq!(uris.len(), 1051);
    let refused = client
        .request("resources/list", json!({ "cursor": "mine" }))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32602);
    assert!(refused["message"].as_str().unwrap().contains("\"mine\""));
}

#[tokio::test]
async fn bodies_sections_and_the_index_are_read_with_their_types() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A\n\nText.").await;
    fixture
        .peer
        .register_function("w::text", returns(json!("# Now")))
        .await;
    fixture
        .peer
        .register_function("w::data", returns(json!({ "ok": true })))
        .await;
    let mut client = fixture.client().await;
    for (uri, mime, text) in [
        ("iii://a", "text/markdown", "# A\n\nText."),
        ("iii://fn/w/text", "text/markdown", "# Now"),
        (
            "iii://fn/w/data",
            "application/json",
            "{\n  \"ok\": true\n}",
        ),
    ] {
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await
            .unwrap();
        let expected = json!([{ "uri": uri, "mimeType": mime, "text": text }]);
        assert_eq!(read["contents"], expected);
    }
    let index = client
        .request("resources/read", json!({ "uri": "iii://skills" }))
        .await
        .unwrap();
    assert!(
        index["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("iii://a")
    );
}

#[tokio::test]
async fn read_errors_have_the_codes_of_the_protocol_version() {
    let fixture = Fixture::new().await;
    fixture.register_skill("resend/email", "# E").await;
    let mut client = fixture.client().await;
    let missing = json!({ "uri": "iii://resend/emial" });
    let error = client
        .request("resources/read", missing.clone())
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32002);
    assert_eq!(error["data"]["uri"], "iii://resend/emial");
    assert_eq!(error["data"]["hint"], "did you mean `resend/email`?");
    let error = client
        .request_stateless("resources/read", missing)
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602);
    for (uri, part) in [
        ("https://x", "must start with `iii://`"),
        ("iii://fn/state/get", "internal namespace"),
        ("iii://A", "lowercase"),
    ] {
        let error = client
            .request("resources/read", json!({ "uri": uri }))
            .await
            .unwrap_err();
        assert_eq!(error["code"], -32602, "for {uri}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    let error = client
        .request("resources/read", json!({ "uri": "iii://fn/no/one" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32002, "{error}");
}

#[tokio::test]
async fn templates_are_listed_and_their_variables_completed() {
    let fixture = Fixture::new().await;
    for id in ["brain", "resend", "resend/email"] {
        fixture.register_skill(id, "# X").await;
    }
    fixture
        .peer
        .register_function("w::f", returns(json!("x")))
        .await;
    let mut client = fixture.client().await;
    let listed = client
        .request("resources/templates/list", json!({}))
        .await
        .unwrap();
    let templates = listed["resourceTemplates"].as_array().unwrap();
    let uris: Vec<_> = templates
        .iter()
        .map(|t| t["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["iii://{skill_id}", "iii://fn/{function_path}"]);
    let typed = |uri: &str, name: &str, value: &str| json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": name, "value": value } });
    let ids = typed("iii://{skill_id}", "skill_id", "res");
    let found = client.request("completion/complete", ids).await.unwrap();
    let expected = json!({ "values": ["resend", "resend/email"], "total": 2, "hasMore": false });
    assert_eq!(found["completion"], expected);
    let paths = typed("iii://fn/{function_path}", "function_path", "w");
    let found = client.request("completion/complete", paths).await.unwrap();
    assert_eq!(found["completion"]["values"], json!(["w/f"]));
    let unknown = typed("test://{x}", "x", "");
    let error = client
        .request("completion/complete", unknown)
        .await
        .unwrap_err();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("iii://{skill_id}"),
        "{error}"
    );
}

#[tokio::test]
async fn a_version_of_a_skill_is_read_at_its_own_address() {
    let fixture = Fixture::new().await;
    fixture.register_skill("resend", "# One").await;
    fixture.register_skill("resend", "# Two").await;
    let mut client = fixture.client().await;
    for (uri, text) in [
        ("iii://resend", "# Two"),
        ("iii://resend@1", "# One"),
        ("iii://resend@sha256:2806", "# Two"),
    ] {
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await
            .unwrap();
        let content = &read["contents"][0];
        assert_eq!(content["text"], text, "{uri}");
        assert_eq!(content["uri"], uri);
    }
    let missing = client
        .request("resources/read", json!({ "uri": "iii://resend@3" }))
        .await
        .unwrap_err();
    assert_eq!(missing["code"], -32002);
    assert_eq!(missing["data"]["hint"], "it has 1, 2");
}
