//! Prompts: listing, rendering, completion, and invalid arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skills_core::{LeaseTerms, PromptArgument, PromptRegistration};
use skills_test_support::files::write;
use skills_test_support::handler::{fails, returns};

use super::fixture::Fixture;

async fn prompt(fixture: &Fixture, name: &str, function: &str) {
    let argument = |name: &str, required| PromptArgument {
        name: name.into(),
        description: Some("Whom".into()),
        required,
    };
    let arguments = vec![argument("to", true), argument("cc", false)];
    let (name, function) = (name.parse().unwrap(), function.parse().unwrap());
    let registration = PromptRegistration {
        name,
        description: "Mail somebody.".into(),
        arguments,
        function_id: function,
        lease: LeaseTerms::default(),

        expected: skills_core::Precondition::Any,
        rollback: None,
    };
    let registered = fixture.registry().register_prompt(registration);
    registered.await.unwrap();
}

#[tokio::test]
async fn a_prompt_is_listed_with_its_arguments_and_rendered() {
    let fixture = Fixture::new().await;
    fixture
        .register_function(json!({ "id": "w::mail" }), returns(json!("Write.")))
        .await;
    prompt(&fixture, "mail", "w::mail").await;
    let mut client = fixture.client().await;
    let listed = client.request("prompts/list", json!({})).await.unwrap();
    let expected = json!([{
        "name": "mail", "description": "Mail somebody.",
        "arguments": [
            { "name": "to", "description": "Whom", "required": true },
            { "name": "cc", "description": "Whom", "required": false },
        ],
    }]);
    assert_eq!(listed["prompts"], expected);
    let filled = json!({ "name": "mail", "arguments": { "to": "Ada" } });
    let got = client.request("prompts/get", filled).await.unwrap();
    let expected = json!({
        "description": "Mail somebody.",
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Write." } }],
    });
    assert_eq!(got, expected);
}

#[tokio::test]
async fn invalid_arguments_are_refused_before_the_call() {
    let fixture = Fixture::new().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let handler = Arc::new(move |payload| {
        count.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(Some(payload)))) as _
    });
    fixture
        .register_function(json!({ "id": "w::mail" }), handler)
        .await;
    prompt(&fixture, "mail", "w::mail").await;
    let mut client = fixture.client().await;
    for (arguments, part) in [
        (json!({}), "missing required argument `to`"),
        (
            json!({ "to": "a", "bcc": "b" }),
            "no argument `bcc` (did you mean `cc`?)",
        ),
        (
            json!({ "to": 5 }),
            "`to` of prompt `mail` must be a string, not a number",
        ),
    ] {
        let params = json!({ "name": "mail", "arguments": arguments });
        let error = client.request("prompts/get", params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    let error = client
        .request("prompts/get", json!({ "name": "mial" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"]["hint"], "did you mean `mail`?");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_handler_that_fails_is_an_internal_error_with_the_reason() {
    let fixture = Fixture::new().await;
    fixture
        .register_function(json!({ "id": "w::bad" }), fails("oops", "no ink"))
        .await;
    let odd = json!({ "messages": [{ "role": "wizard", "content": 5 }] });
    fixture.peer.register_function("w::odd", returns(odd)).await;
    prompt(&fixture, "bad", "w::bad").await;
    prompt(&fixture, "odd", "w::odd").await;
    let mut client = fixture.client().await;
    for (name, part) in [("bad", "no ink"), ("odd", "an invalid message")] {
        let params = json!({ "name": name, "arguments": { "to": "a" } });
        let error: Value = client.request("prompts/get", params).await.unwrap_err();
        assert_eq!(error["code"], -32603, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
}

#[tokio::test]
async fn arguments_are_completed_by_their_name() {
    let fixture = Fixture::new().await;
    fixture.register_skill("resend", "# R").await;
    prompt(&fixture, "mail", "w::mail").await;
    let mut client = fixture.client().await;
    for (argument, values) in [
        ("skill", json!(["resend"])),
        ("uri", json!(["iii://resend"])),
        ("prompt", json!(["mail"])),
        ("to", json!([])),
    ] {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "mail" },
            "argument": { "name": argument, "value": "" },
        });
        let found = client.request("completion/complete", params).await.unwrap();
        assert_eq!(found["completion"]["values"], values, "for {argument}");
    }
}

#[tokio::test]
async fn the_declared_values_of_an_argument_are_completed() {
    let files = tempfile::tempdir().unwrap();
    let text = "---\ndescription: Writes.\narguments:\n- to\n\
                - {name: tone, enum: [short, formal, friendly]}\n---\n{{to}}: {{tone}}";
    write(files.path(), "prompts/mail.md", text);
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.client().await;
    for (argument, typed, values) in [
        ("tone", "", json!(["short", "formal", "friendly"])),
        ("tone", "f", json!(["formal", "friendly"])),
        ("tone", "x", json!([])),
        ("to", "", json!([])),
        ("none", "", json!([])),
    ] {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "mail" },
            "argument": { "name": argument, "value": typed },
        });
        let found = client.request("completion/complete", params).await.unwrap();
        assert_eq!(found["completion"]["values"], values, "{argument} {typed}");
    }
}
