//! Tools: the built-in ones and the functions of the engine.

use serde_json::{Value, json};
use skills_mcp::McpSettings;
use skills_test_support::handler::{echo, fails, returns};
use skills_test_support::test_client::TestClient;

use super::fixture::Fixture;

async fn names(client: &mut TestClient) -> Vec<String> {
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn call(client: &mut TestClient, name: &str, arguments: Value) -> Result<Value, Value> {
    client
        .request(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
        .await
}

#[tokio::test]
async fn functions_are_tools_in_order_with_their_descriptions() {
    let fixture = Fixture::new().await;
    let spec = json!({
        "id": "mail::send", "description": "Sends.",
        "request": { "type": "object", "properties": { "to": { "type": "string" } } },
        "response": { "type": "object", "properties": { "ok": { "type": "boolean" } } },
        "metadata": { "title": "Send mail", "mcp": { "annotations": { "destructiveHint": true } } },
    });
    fixture.register_function(spec, echo()).await;
    fixture
        .register_function(
            json!({ "id": "a::b", "request": { "type": "string" } }),
            echo(),
        )
        .await;
    fixture
        .register_function(json!({ "id": "a__b" }), echo())
        .await;
    fixture
        .register_function(
            json!({ "id": format!("long::{}", "x".repeat(130)) }),
            echo(),
        )
        .await;
    fixture
        .register_function(
            json!({ "id": "w::hidden", "metadata": { "internal": true } }),
            echo(),
        )
        .await;
    fixture.register_skill("a", "# A").await;
    let mut client = fixture.client().await;
    let expected = [
        "a_.5f._b",
        "a__b",
        "mail__send",
        "skill__fetch",
        "skill__list",
        "skill__read",
        "skill__resolve",
        "skill__route",
        "skill__search",
    ];
    assert_eq!(names(&mut client).await, expected);
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tool = |name: &str| {
        let mut tools = listed["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap().clone()
    };
    let send = tool("mail__send");
    assert_eq!(send["title"], "Send mail");
    assert_eq!(send["description"], "Sends.");
    assert_eq!(send["annotations"], json!({ "destructiveHint": true }));
    assert_eq!(send["inputSchema"]["properties"]["to"]["type"], "string");
    assert_eq!(send["outputSchema"]["properties"]["ok"]["type"], "boolean");
    let odd = tool("a__b");
    assert_eq!(odd["inputSchema"], json!({ "type": "object" }));
    assert_eq!(odd["description"], "Calls `a::b` on the engine.");
    assert_eq!(tool("skill__fetch")["annotations"]["readOnlyHint"], true);
}

#[tokio::test]
async fn configuration_hides_functions_from_lists_and_from_calls() {
    let fixture = Fixture::with(McpSettings {
        hide: vec!["secret::".into()],
        require_expose: true,
        ..McpSettings::default()
    })
    .await;
    let exposed = json!({ "mcp": { "expose": true } });
    fixture
        .register_function(json!({ "id": "w::open", "metadata": exposed }), echo())
        .await;
    fixture
        .register_function(json!({ "id": "secret::x", "metadata": exposed }), echo())
        .await;
    fixture
        .register_function(json!({ "id": "w::quiet" }), echo())
        .await;
    fixture.register_skill("a", "# A").await;
    let mut client = fixture.client().await;
    let expected = [
        "skill__fetch",
        "skill__list",
        "skill__read",
        "skill__resolve",
        "skill__route",
        "skill__search",
        "w__open",
    ];
    assert_eq!(names(&mut client).await, expected);
    assert!(call(&mut client, "w__open", json!({})).await.is_ok());
    for name in ["secret__x", "w__quiet", "state__get", "skills__register"] {
        let error = call(&mut client, name, json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32602, "for {name}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .starts_with("Unknown tool"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn without_settings_that_are_understood_no_function_is_a_tool() {
    let fixture = Fixture::with(McpSettings {
        no_functions: true,
        ..McpSettings::default()
    })
    .await;
    let open = json!({ "id": "w::open", "metadata": { "mcp": { "expose": true } } });
    fixture.register_function(open, echo()).await;
    let mut client = fixture.client().await;
    assert!(!names(&mut client).await.contains(&"w__open".to_owned()));
    let error = call(&mut client, "w__open", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn results_become_text_data_or_content() {
    let fixture = Fixture::new().await;
    fixture
        .register_function(json!({ "id": "w::echo" }), echo())
        .await;
    fixture
        .register_function(json!({ "id": "a__b" }), returns(json!("underscores")))
        .await;
    fixture
        .register_function(json!({ "id": "a::b" }), returns(json!("colons")))
        .await;
    let image =
        json!({ "content": [{ "type": "image", "data": "aGk=", "mimeType": "image/png" }] });
    fixture
        .peer
        .register_function("w::image", returns(image.clone()))
        .await;
    let mut client = fixture.client().await;
    let got = call(&mut client, "w__echo", json!({ "n": 1 }))
        .await
        .unwrap();
    // The engine adds the caller's id.
    assert_eq!(got["structuredContent"]["n"], 1);
    assert!(
        got["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("\"n\": 1")
    );
    let got = call(&mut client, "a_.5f._b", json!({})).await.unwrap();
    assert_eq!(
        got["content"],
        json!([{ "type": "text", "text": "underscores" }])
    );
    let got = call(&mut client, "a__b", json!({})).await.unwrap();
    assert_eq!(
        got["content"],
        json!([{ "type": "text", "text": "colons" }])
    );
    let got = call(&mut client, "w__image", json!({})).await.unwrap();
    assert_eq!(got["content"], image["content"]);
    assert_eq!(got["isError"], false);
}

#[tokio::test]
async fn a_failed_call_is_a_result_and_an_unknown_tool_an_error() {
    let fixture = Fixture::new().await;
    fixture
        .register_function(json!({ "id": "w::bad" }), fails("oops", "no ink"))
        .await;
    let mut client = fixture.client().await;
    let got = call(&mut client, "w__bad", json!({})).await.unwrap();
    assert_eq!(got["isError"], true);
    let text = got["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "failed: function `w::bad` failed: no ink");
    let error = call(&mut client, "w__bda", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("did you mean `w__bad`?"),
        "{error}"
    );
}

#[tokio::test]
async fn the_builtin_tools_list_read_and_fetch() {
    let fixture = Fixture::new().await;
    fixture
        .register_skill("resend", "# Resend\n\nSends mail.")
        .await;
    fixture.register_skill("brain", "# Brain").await;
    let mut client = fixture.client().await;
    let got = call(&mut client, "skill__list", json!({ "prefix": "res" }))
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
    let uris = json!({ "uris": ["iii://brain", "iii://resend"] });
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
            "skill__fetch",
            json!({ "uris": "iii://a" }),
            "field `uris`: invalid type",
        ),
        (
            "skill__list",
            json!({ "perfix": "a" }),
            "unknown field `perfix`",
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

/// What a model pays for: names, descriptions and the schemas of arguments.
#[tokio::test]
async fn the_builtin_tools_cost_few_bytes() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A").await;
    let mut client = fixture.client().await;
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let shown = |tool: &Value| {
        let shown = ["name", "description", "inputSchema"].map(|key| tool[key].to_string().len());
        shown.iter().sum::<usize>()
    };
    let bytes: usize = tools.iter().map(shown).sum();
    assert!(bytes <= 2_000, "{bytes} bytes: {listed:#}");
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
    fixture
        .registry()
        .unregister_skill(&"a".parse().unwrap())
        .await
        .unwrap();
    fixture
        .registry()
        .unregister_skill(&"b".parse().unwrap())
        .await
        .unwrap();
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
