//! Prompts: the list, the form, what it renders, and what goes wrong.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_iii::ErrorBody;
use skills_test_support::engine::Peer;

use super::site::{Site, assert_has};

const MAIL: &str = "---\ndescription: Writes a mail.\narguments:\n  - name: to\n    description: The reader\n    required: true\n  - name: tone\n    enum: [short, formal]\n    default: short\n  - name: cc\n---\nA {{tone}} mail to {{to}}.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_form_has_the_arguments_and_renders_the_prompt_below() {
    let site = Site::serve(&[("prompts/mail.md", MAIL)]).await;
    let list = site.page("/prompts").await;
    assert_has(
        &list,
        &[
            "1 prompt",
            "href=\"/prompts/mail\"",
            "Writes a mail.",
            "<code>tone?</code>",
            ">file<",
        ],
    );
    let form = site.page("/prompts/mail?to=Ada").await;
    assert_has(
        &form,
        &[
            "<title>mail \u{b7} skills</title>",
            "prompts/mail.md</code>",
            "id=\"argument-to\" type=\"text\" name=\"to\" value=\"Ada\" required aria-describedby=\"about-to\"",
            "The reader",
            "<option value=\"short\" selected>short</option>",
            "name=\"cc\"",
        ],
    );
    assert!(!form.contains("mail to Ada"), "an address renders nothing");
    let shown = site
        .post(
            "/prompts/mail",
            &[("to", "Ada <b>"), ("tone", "formal"), ("cc", "")],
        )
        .await;
    assert_eq!(shown.status, 200);
    assert_has(
        &shown.text(),
        &[
            "1 message",
            "A formal mail to Ada &lt;b&gt;.",
            "value=\"Ada &lt;b&gt;\"",
            "<option value=\"formal\" selected>",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_stays_when_a_prompt_fails() {
    let site = Site::serve(&[("prompts/mail.md", MAIL)]).await;
    let worker = Peer::connect(&site.addresses.url, "w").await;
    let fail = |_| {
        Box::pin(std::future::ready(Err(ErrorBody::new(
            "E",
            "out of <paper>",
        )))) as _
    };
    worker.register_function("w::fail", Arc::new(fail)).await;
    for name in ["fail", "absent"] {
        let arguments = json!([{ "name": "who", "required": true }]);
        let prompt = json!({
            "name": name, "description": "d", "arguments": arguments, "function_id": format!("w::{name}"),
        });
        worker.call("prompts::register", prompt).await.unwrap();
    }
    for (path, fields, status, parts) in [
        (
            "fail",
            [("who", "Ada")],
            502,
            ["value=\"Ada\"", "out of &lt;paper&gt;"],
        ),
        (
            "absent",
            [("who", "Ada")],
            404,
            ["value=\"Ada\"", "is absent"],
        ),
        (
            "fail",
            [("other", "x")],
            400,
            ["name=\"who\"", "missing required argument `who`"],
        ),
        (
            "mail",
            [("to", "")],
            400,
            ["name=\"to\"", "missing required argument `to`"],
        ),
    ] {
        let answer = site.post(&format!("/prompts/{path}"), &fields).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert_has(&answer.text(), &parts);
        assert_has(&answer.text(), &["role=\"alert\"", "<form"]);
    }
    let tone = [("to", "Ada"), ("tone", "loud")];
    let answer = site.post("/prompts/mail", &tone).await;
    assert_has(
        &answer.text(),
        &[
            "cannot be `loud`",
            "<option value=\"loud\" selected>",
            "value=\"Ada\"",
        ],
    );
    let foreign = [("Origin", "http://localhost:1")];
    let foreign = site.post_with("/prompts/mail", &foreign, &tone).await;
    assert_eq!(foreign.status, 403);
    let near = site.get("/prompts/mial", &[]).await;
    assert_eq!(near.status, 404);
    assert_has(&near.text(), &["did you mean `mail`?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_any_shape_are_shown() {
    let site = Site::serve(&[]).await;
    let worker = Peer::connect(&site.addresses.url, "w").await;
    let messages = json!({ "messages": [
        { "role": "assistant", "content": { "type": "text", "text": "<i>one</i>" } },
        { "role": "user", "content": "two" },
        { "role": "user", "content": { "type": "image", "data": "AAAA" } },
        7,
    ] });
    let answer = to_raw_value(&messages).unwrap();
    let render = move |_| Box::pin(std::future::ready(Ok(Some(answer.clone())))) as _;
    worker
        .register_function("w::render", Arc::new(render))
        .await;
    let prompt = json!({ "name": "p", "description": "d", "function_id": "w::render" });
    worker.call("prompts::register", prompt).await.unwrap();
    let shown = site.post("/prompts/p", &[]).await.text();
    assert_has(
        &shown,
        &[
            "4 messages",
            "assistant",
            "&lt;i&gt;one&lt;/i&gt;",
            ">two<",
            "&quot;data&quot;: &quot;AAAA&quot;",
            ">7<",
            "href=\"/functions/w::render\"",
        ],
    );
}
