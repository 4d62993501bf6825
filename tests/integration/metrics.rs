//! `/metrics`: its access, what it counts, and its documentation.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skills::app::METRICS;
use skills_core::Kind;
use skills_test_support::engine::Peer;
use skills_test_support::handler::echo;

use crate::mcp::fixture::Fixture;
use crate::web::site::Site;

/// The value of the series that begins with this text.
fn value(text: &str, series: &str) -> f64 {
    let mut lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    let found = lines.find(|(name, _)| *name == series);
    let (_, value) = found.unwrap_or_else(|| panic!("no {series} in {text}"));
    value.parse().unwrap()
}

async fn mcp(site: &Site, method: &str, params: Value) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let body = body.to_string();
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let answer = site.request("POST", "/mcp", &headers, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_reads_commits_and_sizes_are_counted() {
    let files = [
        ("skills/rules.md", "# Rules"),
        (
            "prompts/pr.md",
            "---\ndescription: Opens one.\n---\nOpen it.",
        ),
    ];
    let site = Site::serve(&files).await;
    let peer = Peer::connect(&site.addresses.url, "peer").await;
    peer.register_function("w::live", echo()).await;
    peer.register_skill("a", "# A").await;
    for uri in ["iii://a", "iii://rules", "iii://skills", "iii://fn/w/live"] {
        peer.read(uri).await.unwrap();
    }
    peer.read("iii://gone").await.unwrap_err();
    let client = json!({ "name": "t", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    mcp(&site, "initialize", hello).await;
    let answer = site.get("/metrics", &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let text = answer.text();
    for (series, expected) in [
        (
            r#"skills_calls_total{surface="engine",operation="skills::register"}"#,
            1.0,
        ),
        (
            r#"skills_calls_total{surface="engine",operation="skills::resources-read"}"#,
            5.0,
        ),
        (
            r#"skills_calls_total{surface="engine",operation="skills::gc"}"#,
            0.0,
        ),
        (
            r#"skills_call_failures_total{surface="engine",operation="skills::resources-read",kind="not_found"}"#,
            1.0,
        ),
        (
            r#"skills_call_duration_seconds_count{surface="engine",operation="skills::resources-read"}"#,
            5.0,
        ),
        (r#"skills_reads_total{origin="registered"}"#, 1.0),
        (r#"skills_reads_total{origin="files"}"#, 1.0),
        (r#"skills_reads_total{origin="index"}"#, 1.0),
        (r#"skills_reads_total{origin="function"}"#, 1.0),
        (r#"skills_entries{entry="skill",origin="registered"}"#, 1.0),
        (r#"skills_entries{entry="skill",origin="files"}"#, 1.0),
        (r#"skills_entries{entry="prompt",origin="files"}"#, 1.0),
        ("skills_registered_bytes", 3.0),
        ("skills_workers", 1.0),
        ("skills_mcp_sessions", 1.0),
    ] {
        assert!(
            (value(&text, series) - expected).abs() < 0.5,
            "{series} in {text}"
        );
    }
    assert!(
        value(&text, "skills_commit_duration_seconds_count") >= 1.0,
        "{text}"
    );
    assert!(value(&text, "skills_writes_total") >= 1.0, "{text}");
    assert!(value(&text, "skills_database_bytes") > 4096.0, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_need_the_token_and_a_known_host() {
    let site = Site::with_token(&[], Some("secret")).await;
    let status = async |headers: &[(&str, &str)]| site.get("/metrics", headers).await.status;
    assert_eq!(status(&[]).await, 401);
    assert_eq!(status(&[("Authorization", "Bearer wrong")]).await, 401);
    assert_eq!(status(&[("Authorization", "Bearer secret")]).await, 200);
    let foreign = [("Authorization", "Bearer secret"), ("Host", "evil.example")];
    assert_eq!(status(&foreign).await, 403);
}

#[tokio::test]
async fn requests_of_mcp_clients_are_observed_without_names_that_clients_choose() {
    let fixture = Fixture::new().await;
    fixture.register_skill("a", "# A").await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = Arc::clone(&seen);
    fixture.handler.observe(Arc::new(move |request| {
        let mut seen = observed.lock().unwrap();
        seen.push((request.operation, request.failure));
    }));
    let mut client = fixture.client().await;
    let tool = |name: &str, uri: &str| json!({ "name": name, "arguments": { "uri": uri } });
    let read = |uri: &str| json!({ "uri": uri });
    let _ = client.request("resources/read", read("iii://a")).await;
    let _ = client.request("resources/read", read("iii://gone")).await;
    let _ = client
        .request("tools/call", tool("skill__read", "iii://a"))
        .await;
    let _ = client
        .request("tools/call", tool("skill__read", "iii://gone"))
        .await;
    let _ = client.request("tools/call", tool("no__such", "x")).await;
    let _ = client.request("skills/list", json!({})).await;
    let seen = seen.lock().unwrap().clone();
    assert_eq!(
        seen,
        [
            ("resources/read", None),
            ("resources/read", Some(Kind::NotFound)),
            ("skill::read", None),
            ("skill::read", Some(Kind::NotFound)),
            ("tools/call", Some(Kind::Invalid)),
            ("skills/list", None),
        ]
    );
}

#[test]
fn the_documentation_lists_every_metric() {
    let page = include_str!("../../docs/operate.md");
    let rows = page.lines().filter(|line| line.starts_with("| `skills_"));
    let listed: Vec<_> = rows.map(str::to_owned).collect();
    let expected = METRICS.iter().map(|metric| {
        let labels = metric.labels.iter().map(|label| format!("`{label}`"));
        let labels = labels.collect::<Vec<_>>().join(", ");
        format!(
            "| `{}` | {} | {labels} | {} |",
            metric.name, metric.kind, metric.help
        )
        .replace("|  |", "| |")
    });
    assert_eq!(listed, expected.collect::<Vec<_>>());
}
