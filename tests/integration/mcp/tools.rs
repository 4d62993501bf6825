//! Tools: the functions of the engine.

use serde_json::{Value, json};
use skills_mcp::McpSettings;
use skills_test_support::handler::{echo, fails, returns};
use skills_test_support::test_client::TestClient;

use super::fixture::Fixture;

pub async fn names(client: &mut TestClient) -> Vec<String> {
    let listed = client.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

pub async fn call(client: &mut TestClient, name: &str, arguments: Value) -> Result<Value, Value> {
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
async fn handlers_of_prompts_and_sections_are_tools_only_if_exposed() {
    let fixture = Fixture::new().await;
    let exposed = json!({ "mcp": { "expose": true } });
    for spec in [
        json!({ "id": "demo::greet" }),
        json!({ "id": "demo::hello" }),
        json!({ "id": "demo::open", "metadata": exposed }),
        json!({ "id": "demo::work" }),
    ] {
        fixture.register_function(spec, echo()).await;
    }
    let mut client = fixture.client().await;
    let engine_tools = |names: Vec<String>| {
        let names = names.into_iter();
        names
            .filter(|name| !name.starts_with("skill__"))
            .collect::<Vec<_>>()
    };
    let all = ["demo__greet", "demo__hello", "demo__open", "demo__work"];
    assert_eq!(engine_tools(names(&mut client).await), all);

    let changed = fixture.handler.called_functions_changed();
    let body = "# Demo\n\n[hello](iii://fn/demo/hello) [open](iii://fn/demo/open)";
    fixture.register_skill("demo", body).await;
    let prompt = json!({ "name": "greet", "description": "Greets.", "function_id": "demo::greet" });
    fixture
        .peer
        .call("prompts::register", prompt)
        .await
        .unwrap();
    changed.await;
    fixture.handler.functions_changed().await;
    client
        .notification("notifications/tools/list_changed")
        .await;
    assert_eq!(
        engine_tools(names(&mut client).await),
        ["demo__open", "demo__work"]
    );
    let error = call(&mut client, "demo__hello", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602, "{error}");
    call(&mut client, "demo__open", json!({})).await.unwrap();

    fixture.register_skill("demo", "# Demo").await;
    let all = ["demo__hello", "demo__open", "demo__work"];
    assert_eq!(engine_tools(names(&mut client).await), all);
}

#[tokio::test]
async fn arguments_are_checked_against_the_schema_before_the_call() {
    let fixture = Fixture::new().await;
    let number = json!({ "type": "number" });
    let spec = json!({
        "id": "calc::add",
        "request": {
            "type": "object",
            "properties": { "a": number, "b": number },
            "required": ["a", "b"],
        },
    });
    fixture.register_function(spec, echo()).await;
    let mut client = fixture.client().await;
    let got = call(&mut client, "calc__add", json!({ "a": 1 }))
        .await
        .unwrap();
    assert_eq!(got["isError"], true);
    assert_eq!(
        got["content"][0]["text"],
        "invalid: calc::add needs b (number) (it takes a (number), b (number))"
    );
    let sent = json!({ "a": 1, "b": 2 });
    let got = call(&mut client, "calc__add", sent).await.unwrap();
    assert_eq!(got["structuredContent"]["b"], 2, "{got}");
}
