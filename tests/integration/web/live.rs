//! The stream of changes, and what MCP clients hear of an edit in the page.

use std::future::ready;
use std::sync::Arc;

use serde_json::{Value, json};
use skills_core::Digest;
use skills_iii::client::Handler;
use skills_test_support::TIMEOUT;
use skills_test_support::engine::Peer;
use skills_web::limits::MAX_PAGE_STREAMS;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::site::{Site, write};

/// A response that stays open.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Sends a GET; returns the status too.
    async fn open(site: &Site, path: &str, headers: &[(&str, &str)]) -> (Self, u16) {
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{}\r\n",
            site.http(),
            headers.collect::<String>()
        );
        let mut stream = TcpStream::connect(site.http()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut stream = Self(BufReader::new(stream));
        let status = stream.line().await.unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        (stream, status)
    }

    /// The next line; none at the end.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(TIMEOUT, self.0.read_line(&mut line)).await.unwrap();
        (read.unwrap_or_default() > 0).then_some(line)
    }

    /// The data of the next event with this name; any event if it is empty.
    async fn event(&mut self, name: &str) -> String {
        let mut is_named = name.is_empty();
        loop {
            let line = self.line().await.expect("the stream is open");
            is_named |= line.trim() == format!("event: {name}");
            if let Some(data) = line.strip_prefix("data: ").filter(|_| is_named) {
                return data.trim().to_owned();
            }
        }
    }

    async fn change(&mut self) -> Value {
        serde_json::from_str(&self.event("change").await).unwrap()
    }

    /// The names in the next change that is not one of functions alone, without those.
    async fn changed(&mut self) -> Value {
        loop {
            let mut names = self.change().await["changed"].take();
            names
                .as_array_mut()
                .unwrap()
                .retain(|name| name != "functions");
            if names != json!([]) {
                return names;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_told_of_changes_of_every_kind() {
    let files = [("skills/house.md", "# House\n\nRules.\n")];
    let site = Site::serve(&files).await;
    let (mut stream, status) = Stream::open(&site, "/events", &[]).await;
    assert_eq!(status, 200);
    let version = stream.event("hello").await;
    let before = page_version(&site).await;
    assert_eq!(start(&before), start(&version));
    site.register("a", "# A\n\nText.\n");
    assert_eq!(stream.changed().await, json!(["skill:a"]));
    assert_ne!(page_version(&site).await, before);
    write(
        site.dir.path(),
        "skills/house.md",
        "# House\n\nOther rules.\n",
    );
    assert_eq!(stream.changed().await, json!(["skill:house"]));
    let prompt = "---\ndescription: Greets\n---\nHello\n";
    write(site.dir.path(), "prompts/greet.md", prompt);
    assert_eq!(stream.changed().await, json!(["prompt:greet"]));
    let fields = [("id", "b"), ("text", "# B\n\nText.\n"), ("action", "save")];
    assert_eq!(site.post("/new", &fields).await.status, 303);
    assert_eq!(stream.changed().await, json!(["skill:b"]));
    let worker = Peer::connect(&site.addresses.url, "w").await;
    let handler: Handler = Arc::new(|_| Box::pin(ready(Ok(None))));
    worker.register_function("w::f", handler).await;
    assert_eq!(stream.change().await["changed"], json!(["functions"]));
}

/// The version that a page shows.
async fn page_version(site: &Site) -> String {
    let page = site.page("/").await;
    let version = page.split("data-live=\"").nth(1).unwrap();
    version.split('"').next().unwrap().to_owned()
}

/// The part of a version that each start of the server changes.
fn start(version: &str) -> &str {
    version.split_once('.').unwrap().0
}

fn number(version: &str) -> u64 {
    version.split_once('.').unwrap().1.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_changes_are_few_events() {
    let site = Site::serve(&[]).await;
    let (mut stream, _) = Stream::open(&site, "/events", &[]).await;
    stream.event("hello").await;
    let many = site.dir.path().join("many");
    for n in 0..200 {
        let text = format!("# Skill {n}\n\nText.\n");
        write(&many, &format!("s{n}.md"), &text);
    }
    site.command(&["import", many.to_str().unwrap()], "");
    let fields = [("id", "last"), ("text", "# Last\n\nText.\n")];
    site.post("/new", &fields).await;
    let last = number(&page_version(&site).await);
    let mut events = 0;
    loop {
        events += 1;
        if number(stream.change().await["version"].as_str().unwrap()) >= last {
            break;
        }
    }
    assert!(events < 201, "{events} events");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_need_access_and_are_limited() {
    let site = Site::with_token(&[], Some("secret")).await;
    let bearer = ("Authorization", "Bearer secret");
    assert_eq!(Stream::open(&site, "/events", &[]).await.1, 401);
    let foreign = [bearer, ("Origin", "http://evil.example")];
    assert_eq!(Stream::open(&site, "/events", &foreign).await.1, 403);
    let embedded = [bearer, ("Sec-Fetch-Site", "cross-site")];
    assert_eq!(Stream::open(&site, "/events", &embedded).await.1, 403);
    let mut open = Vec::new();
    for _ in 0..MAX_PAGE_STREAMS {
        let (stream, status) = Stream::open(&site, "/events", &[bearer]).await;
        assert_eq!(status, 200);
        open.push(stream);
    }
    assert_eq!(Stream::open(&site, "/events", &[bearer]).await.1, 503);
    let page = site.get("/", &[bearer]).await;
    assert_eq!(page.status, 200, "pages are still served");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_server_stops_although_pages_are_open() {
    let site = Site::serve(&[]).await;
    let (mut stream, _) = Stream::open(&site, "/events", &[]).await;
    stream.event("hello").await;
    let (status, log) = timeout(TIMEOUT, site.terminate()).await.unwrap();
    assert!(status.success(), "{log}");
    let mut last = String::new();
    while let Some(line) = stream.line().await {
        last = if line.trim().is_empty() { last } else { line };
    }
    assert_eq!(last.trim(), "0", "the response has its end");
}

/// A session of an MCP client over HTTP, as in the protocol 2025-11-25.
struct McpClient<'a> {
    site: &'a Site,
    session: String,
}

impl<'a> McpClient<'a> {
    async fn connect(site: &'a Site) -> Self {
        let mut client = Self {
            site,
            session: String::new(),
        };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = client.post(&initialize).await;
        client.session = answer.header("mcp-session-id").to_owned();
        client
            .post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        client
    }

    async fn post(&self, message: &Value) -> super::site::Answer {
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if !self.session.is_empty() {
            headers.push(("Mcp-Session-Id", &self.session));
        }
        let answer = self
            .site
            .request("POST", "/mcp", &headers, &message.to_string())
            .await;
        assert!(answer.status < 300, "{message}: {}", answer.text());
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_client_hears_of_an_edit_in_the_page() {
    let site = Site::serve(&[]).await;
    let text = "# A\n\nText.\n";
    site.register("a", text);
    let client = McpClient::connect(&site).await;
    let subscribe = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": { "uri": "iii://a" } });
    client.post(&subscribe).await;
    let session = [("Mcp-Session-Id", client.session.as_str())];
    let (mut heard, status) = Stream::open(&site, "/mcp", &session).await;
    assert_eq!(status, 200);

    let base = Digest::of(text.as_bytes()).to_string();
    let fields = [
        ("text", "# A\n\nEdited.\n"),
        ("base", &*base),
        ("action", "save"),
    ];
    assert_eq!(site.post("/edit/a", &fields).await.status, 303);
    let mut methods = Vec::new();
    while !methods.contains(&"notifications/resources/updated".to_owned()) {
        let data = heard.event("").await;
        if let Ok(message) = serde_json::from_str::<Value>(&data) {
            if let Some(method) = message["method"].as_str() {
                methods.push(method.to_owned());
            }
            if message["method"] == "notifications/resources/updated" {
                assert_eq!(message["params"]["uri"], "iii://a");
            }
        }
    }
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": "iii://a" } });
    assert!(client.post(&read).await.text().contains("Edited."));
}
