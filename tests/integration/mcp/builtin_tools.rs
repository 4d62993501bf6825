//! Tools: the built-in ones.

use serde_json::{Value, json};

use super::fixture::Fixture;
use super::tools::{call, names};

#[tokio::test]
async fn the_builtin_tools_list_read_and_fetch() {
    let fixture = Fixture::new().await;
    fixture
        .register_skill("resend", "# Resend\n\nSends mail.")
        .await;
    fixture.register_skill("brain", "# Brain").await;
    let mut client = fixture.client().await;
    let got = call(&mut client, "skill__list", json!({ "prefix": "iii://res" }))
        .await
        .unwrap();
    let skills = got["structuredContent"]["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 1);
    assert_eq!(skills[0]["uri"], "iii://resend");
    assert_eq!(skills[0]["description"], "Sends mail.");
    assert_eq!(skills[0]["bytes"], 21);
    let text = got["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap(),
        got["structuredContent"]
    );
    let got = call(&mut client, "skill__read", json!({ "uri": "iii://brain" }))
        .await
        .unwrap();
    assert_eq!(got["content"][0]["text"], "# Brain");
    // What the command line accepts.
    for uri in ["brain", "brain.md", "./brain.md", " III://brain"] {
        let got = call(&mut client, "skill__read", json!({ "uri": uri })).await;
        assert_eq!(got.unwrap()["content"][0]["text"], "# Brain", "for {uri}");
    }
    let uris = json!({ "uris": ["brain", "iii://resend"] });
    let got = call(&mut client, "skill__fetch", uris).await.unwrap();
    let text = got["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("# iii://brain\n\n# Brain\n\n---\n\n# iii://resend"),
        "{text}"
    );
    for (name, arguments, part) in [
        (
            "skill__read",
            json!({ "uri": "iii://brian" }),
            "did you mean `brain`?",
        ),
        ("skill__read", json!({}), "missing field `uri`"),
        (
            "skill__read",
            json!({ "uri": "demo::guide" }),
            "function `demo::guide` is absent",
        ),
        (
            "skill__fetch",
            json!({ "uris": "iii://a" }),
            "field `uris`: invalid type",
        ),
        (
            "skill__list",
            json!({ "perfix": "a" }),
            "unknown field `perfix`, expected `cursor` or `limit` or `prefix`",
        ),
        (
            "skill__list",
            json!({ "limit": -1 }),
            "field `limit`: invalid value: integer `-1`, expected a whole number, 1 or more",
        ),
    ] {
        let got = call(&mut client, name, arguments).await.unwrap();
        assert_eq!(got["isError"], true);
        let text = got["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn the_builtin_tools_route_and_resolve() {
    let fixture = Fixture::new().await;
    let mail =
        "---\ntriggers: send mail, notify\n---\n# Mail\n\n[base](iii://base) [x](iii://gone)";
    fixture.register_skill("mail", mail).await;
    fixture.register_skill("base", "# Base").await;
    let mut client = fixture.client().await;
    let asked = json!({ "text": "Send a mail" });
    let got = call(&mut client, "skill__route", asked).await.unwrap();
    let best = &got["structuredContent"]["matches"][0];
    assert_eq!(best["matched"], json!(["send mail"]));
    let asked = json!({ "text": "notify" });
    let got = call(&mut client, "skill__search", asked).await.unwrap();
    assert_eq!(got["structuredContent"]["total"], 1);
    let got = call(&mut client, "skill__resolve", json!({ "id": "iii://mail" })).await;
    let got = got.unwrap();
    let text = got["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("\n\n---\n\n# iii://base\n\n# Base\n\n---\n\n"),
        "{text}"
    );
    let gone = "- iii://gone, linked from iii://mail: skill not found: gone";
    assert!(text.ends_with(gone), "{text}");
    for (name, arguments, part) in [
        ("skill__route", json!({ "text": " " }), "must be non-empty"),
        ("skill__route", json!({}), "missing field `text`"),
        (
            "skill__resolve",
            json!({ "id": "mial" }),
            "did you mean `mail`?",
        ),
        ("skill__resolve", json!({ "id": "A" }), "has 'A'"),
    ] {
        let got = call(&mut client, name, arguments).await.unwrap();
        assert_eq!(got["isError"], true);
        let text = got["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(part), "{text}");
    }
}

/// What a model pays for: names, descriptions and the schemas of arguments, as one JSON document.
#[tokio::test]
async fn the_builtin_tools_cost_few_bytes() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A").await;
    let mut client = fixture.client().await;
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    let shown = tools.map(|tool| {
        let shown =
            ["name", "description", "inputSchema"].map(|key| (key.to_owned(), tool[key].clone()));
        shown.into_iter().collect::<serde_json::Map<_, _>>()
    });
    let shown = json!(shown.collect::<Vec<_>>()).to_string();
    assert!(shown.len() <= 1_950, "{} bytes: {shown}", shown.len());
}

#[tokio::test]
async fn skill_tools_are_listed_once_there_is_a_skill() {
    let fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    assert_eq!(names(&mut client).await, [""; 0]);
    fixture.register_skill("a", "# A").await;
    client
        .notification("notifications/tools/list_changed")
        .await;
    assert!(names(&mut client).await.contains(&"skill__fetch".into()));
    fixture.register_skill("b", "# B").await;
    client
        .notification("notifications/resources/list_changed")
        .await;
    assert!(
        !client
            .has_notification("notifications/tools/list_changed")
            .await
    );
    let handler = fixture.handler.clone();
    let watching = tokio::spawn(async move { handler.called_functions_changed().await });
    for id in ["a", "b"] {
        let id = id.parse().unwrap();
        assert!(fixture.registry().unregister_skill(&id).await.unwrap());
    }
    client
        .notification("notifications/tools/list_changed")
        .await;
    watching.abort();
    assert_eq!(names(&mut client).await, [""; 0]);
}

#[tokio::test]
async fn the_list_tool_has_pages() {
    let fixture = Fixture::new().await;
    for number in 0..60 {
        fixture
            .register_skill(&format!("s{number:02}"), "# S")
            .await;
    }
    let mut client = fixture.client().await;
    let mut list = async |arguments| {
        let got = call(&mut client, "skill__list", arguments).await.unwrap();
        got["structuredContent"].clone()
    };
    let first = list(json!({})).await;
    assert_eq!(first["skills"].as_array().unwrap().len(), 50);
    assert_eq!(
        (&first["total"], &first["cursor"]),
        (&json!(60), &json!("after:s49"))
    );
    let second = list(json!({ "cursor": first["cursor"] })).await;
    assert_eq!(second["skills"].as_array().unwrap().len(), 10);
    assert_eq!(second["cursor"], Value::Null);
}

#[tokio::test]
async fn the_fetch_tool_returns_what_can_be_read() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A\n\n## B\n\nText.").await;
    let mut client = fixture.client().await;
    let uris = json!({ "uris": ["iii://a#b", "iii://gone"] });
    let got = call(&mut client, "skill__fetch", uris).await.unwrap();
    assert_eq!(got["isError"], false);
    assert_eq!(
        got["content"][0]["text"],
        "# iii://a#b\n\n## B\n\nText.\n\n---\n\n# iii://gone\n\n[not read: not_found: skill not found: gone]"
    );
    let uris = json!({ "uris": ["iii://gone"] });
    let got = call(&mut client, "skill__fetch", uris).await.unwrap();
    assert_eq!(got["isError"], true);
}
