//! What is served by whom: functions, health, and how to connect.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_iii::message::FunctionSpec;
use skills_test_support::engine::Peer;

use super::site::{Site, assert_has};

async fn offer(worker: &Peer, id: &str, description: &str) {
    let schema = json!({ "type": "object", "properties": { "to": { "type": "string" } } });
    let spec = FunctionSpec {
        id: id.into(),
        description: Some(description.into()),
        request_format: Some(to_raw_value(&schema).unwrap()),
        ..FunctionSpec::default()
    };
    let nothing = |_| Box::pin(std::future::ready(Ok(None))) as _;
    worker.register_function_spec(spec, Arc::new(nothing)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_have_their_worker_and_schema_and_pages() {
    let site = Site::serve(&[]).await;
    let worker = Peer::connect(&site.addresses.url, "mailer").await;
    offer(&worker, "mail::send", "Sends <mail>.").await;
    let first = site.page("/functions").await;
    assert_has(
        &first,
        &[
            "<title>Functions ",
            "href=\"/functions/mail::send\"",
            "mailer",
            "Sends &lt;mail&gt;.",
            "&quot;properties&quot;",
        ],
    );
    let one = site.page("/functions/mail::send").await;
    assert_has(
        &one,
        &[
            "<h1>mail::send</h1>",
            "offered by mailer",
            "The worker gives no schema.",
        ],
    );
    let absent = site.get("/functions/mail::sned", &[]).await;
    assert_eq!(absent.status, 404);
    assert_has(&absent.text(), &["did you mean `mail::send`?"]);
    for number in 0..60 {
        offer(&worker, &format!("z::{number:02}"), "Does something.").await;
    }
    let first = site.page("/functions").await;
    let start = first.find("/functions?after=").expect("a second page");
    let next = first[start..].split('"').next().unwrap();
    assert_has(&site.page(next).await, &["z::59", "From the beginning"]);
    site.register("links", "# Links\n\n[live](iii://fn/mail/send)\n");
    assert_has(
        &site.page("/skills/links").await,
        &["href=\"/functions/mail::send\""],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn health_has_findings_workers_and_clients() {
    let files = [
        ("prompts/bad.md", "No description.\n"),
        ("skills/a.md", "# A\n\nText.\n"),
    ];
    let site = Site::serve(&files).await;
    let worker = Peer::connect(&site.addresses.url, "mailer").await;
    // The engine knows its name before it handles its first call.
    worker.call("skills::list", json!({})).await.unwrap();
    let page = site.page("/health").await;
    assert_has(
        &page,
        &[
            "<title>Health ",
            "to correct",
            "Not served (1)",
            "bad.md",
            ">mailer<",
            "None over HTTP",
            "<dd>1</dd>",
            "Up for",
        ],
    );
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "<i>client", "version": "7.1" },
        },
    });
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let answer = site
        .request("POST", "/mcp", &headers, &initialize.to_string())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_has(&site.page("/health").await, &["&lt;i&gt;client", ">7.1<"]);
}

/// The README has the same lines, with the usual address.
#[tokio::test(flavor = "multi_thread")]
async fn connect_has_the_lines_of_the_readme_with_the_address_of_the_browser() {
    let site = Site::serve(&[]).await;
    let page = site.page("/connect").await;
    let readme = std::fs::read_to_string("README.md").unwrap();
    let usual = "http://127.0.0.1:49135/mcp";
    let lines = readme
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(usual));
    let mut found = 0;
    for line in lines.filter(|line| line.contains(", HTTP |")) {
        let text = line.split('`').nth(1).unwrap();
        let text = text.replace(usual, &format!("http://{}/mcp", site.http()));
        assert_has(&page, &[&text.replace('"', "&quot;")]);
        found += 1;
    }
    assert_eq!(found, 4);
    let versions = [
        (
            "examples/node/package.json",
            "\"iii-sdk\": \"",
            "npm install iii-sdk@",
        ),
        (
            "examples/python/requirements.txt",
            "iii-sdk==",
            "pip install iii-sdk==",
        ),
        (
            "examples/rust/Cargo.toml",
            "iii-sdk = \"=",
            "cargo add iii-sdk@=",
        ),
    ];
    for (path, before, shown) in versions {
        let text = std::fs::read_to_string(path).unwrap();
        let (_, version) = text.split_once(before).unwrap();
        let version: String = version
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        assert_has(&page, &[&format!("{shown}{version}")]);
    }
    assert_has(&page, &[&site.addresses.url]);
    assert!(!page.contains("TOKEN"));
    let proxied = [("Host", "localhost"), ("X-Forwarded-Proto", "https")];
    assert_has(
        &site.get("/connect", &proxied).await.text(),
        &["https://localhost/mcp"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn connect_asks_for_the_token_and_does_not_show_it() {
    let site = Site::with_token(&[], Some("hush-hush")).await;
    let bearer = [("Authorization", "Bearer hush-hush")];
    let page = site.get("/connect", &bearer).await.text();
    assert_has(
        &page,
        &[
            "--header &quot;Authorization: Bearer TOKEN&quot;",
            "&quot;headers&quot;: {&quot;Authorization&quot;: &quot;Bearer TOKEN&quot;}",
            "headers: { Authorization: 'Bearer TOKEN' }",
            "InitOptions(headers=",
            "(&quot;Authorization&quot;.into(), &quot;Bearer TOKEN&quot;.into())",
        ],
    );
    assert!(!page.contains("hush-hush"));
}
