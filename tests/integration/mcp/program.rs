//! `skills mcp` as a client starts it: on a data directory, and through an engine.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler};
use skills_iii::{Client, ClientOptions};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::test_client::{TIMEOUT, TestClient};

/// A client and the program it started.
struct Started {
    client: TestClient,
    child: Child,
}

impl Started {
    fn mcp(url: &str, data_dir: &Path) -> Self {
        let mut child = skills(&[
            "mcp",
            "--url",
            url,
            "--data-dir",
            data_dir.to_str().unwrap(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let client = TestClient::over(Box::new(input), Box::new(output));
        Self { client, child }
    }

    /// Closes its input: it ends, and well.
    async fn end(mut self) {
        self.client.end().await;
        let status = timeout(TIMEOUT, self.child.wait()).await.unwrap().unwrap();
        assert!(status.success(), "{status}");
    }
}

fn skills(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skills"));
    command.args(args).kill_on_drop(true);
    command
        .env_remove("SKILLS_TOKEN")
        .env_remove("SKILLS_DATA_DIR");
    command
}

/// `skills serve` on free ports; answers it and its addresses.
async fn serve(data_dir: &Path, more: &[&str]) -> (Child, Value) {
    let dir = data_dir.to_str().unwrap();
    let mut args = vec!["serve", "--data-dir", dir, "--log-format", "json"];
    args.extend(["--url", "ws://127.0.0.1:0", "--http", "127.0.0.1:0"]);
    args.extend(more);
    let mut child = skills(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let ready = timeout(TIMEOUT, async {
        loop {
            let line = lines
                .next_line()
                .await
                .unwrap()
                .expect("it says that it is ready");
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["message"] == "ready" {
                return said;
            }
        }
    });
    let ready = ready.await.unwrap();
    // Somebody must read what it says.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, ready)
}

/// Nobody listens there.
const NO_ENGINE: &str = "ws://127.0.0.1:1";

#[tokio::test]
async fn two_at_once_share_a_data_directory_and_hear_of_each_other() {
    let data = tempfile::tempdir().unwrap();
    let mut one = Started::mcp(NO_ENGINE, data.path());
    let mut two = Started::mcp(NO_ENGINE, data.path());
    for started in [&mut one, &mut two] {
        started.client.initialize("2025-11-25").await;
        // What was there when a program first looked is no news to its client.
        let asked = started.client.ask("resources/list", json!({}));
        let empty = asked.await.unwrap();
        assert_eq!(empty["resources"].as_array().unwrap().len(), 1);
    }
    // A third process writes.
    let (serving, ready) = serve(data.path(), &[]).await;
    let worker = worker(&ready).await;
    register(&worker, "a", "# A").await;
    for started in [&mut one, &mut two] {
        started
            .client
            .notice("notifications/resources/list_changed")
            .await;
        let read = started
            .client
            .ask("resources/read", json!({ "uri": "iii://a" }))
            .await
            .unwrap();
        assert_eq!(read["contents"][0]["text"], "# A");
    }
    drop(serving);
    one.end().await;
    two.end().await;
}

async fn worker(ready: &Value) -> Client {
    let url = ready["workers"].as_str().unwrap();
    let client = Client::connect(url, ClientOptions::named("tester")).unwrap();
    timeout(TIMEOUT, client.wait_connected())
        .await
        .unwrap()
        .unwrap();
    client
}

async fn register(worker: &Client, id: &str, skill: &str) {
    let payload = to_raw_value(&json!({ "id": id, "skill": skill })).unwrap();
    worker
        .call("skills::register", payload, TIMEOUT)
        .await
        .unwrap();
}

#[tokio::test]
async fn through_an_engine_its_skills_files_prompts_and_functions_are_there() {
    let data = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(files.path().join(path), text).unwrap();
    write(
        "config.yaml",
        "skills: ['doc-*.md']\nprompts: ['say-*.md']\n",
    );
    write("doc-fixture.md", "# Fixture\n\nRules of the fixture.");
    write("say-hello.md", "---\ndescription: Says hello.\n---\nHello.");
    let config = files.path().join("config.yaml");
    let (_serving, ready) = serve(data.path(), &["--config", config.to_str().unwrap()]).await;
    let worker = worker(&ready).await;
    register(&worker, "a", "# A").await;

    let elsewhere = tempfile::tempdir().unwrap();
    let mut started = Started::mcp(ready["workers"].as_str().unwrap(), elsewhere.path());
    let client = &mut started.client;
    client.initialize("2025-11-25").await;
    let listed = client.ask("resources/list", json!({})).await.unwrap();
    let names: Vec<_> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert_eq!(names, ["Skills", "A", "Fixture"]);
    assert_eq!(
        listed["resources"][2]["description"],
        "Rules of the fixture."
    );
    assert_eq!(listed["resources"][2]["size"], 28);
    let uri = listed["resources"][2]["uri"].clone();
    let read = client
        .ask("resources/read", json!({ "uri": uri }))
        .await
        .unwrap();
    assert_eq!(
        read["contents"][0]["text"],
        "# Fixture\n\nRules of the fixture."
    );
    let missing = client
        .ask("resources/read", json!({ "uri": "iii://b" }))
        .await
        .unwrap_err();
    assert_eq!(missing["code"], -32002, "{missing}");
    let prompts = client.ask("prompts/list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"][0]["description"], "Says hello.");
    let name = prompts["prompts"][0]["name"].clone();
    let got = client
        .ask("prompts/get", json!({ "name": name }))
        .await
        .unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "Hello.");

    let tools = client.ask("tools/list", json!({})).await.unwrap();
    let mut tools = tools["tools"].as_array().unwrap().iter();
    let ours = |tool: &Value| tool["name"].as_str().unwrap().starts_with("skill__");
    assert!(tools.all(ours));
    let answer: Handler = Arc::new(|_| {
        let answer = to_raw_value("hi").unwrap();
        Box::pin(std::future::ready(Ok(Some(answer))))
    });
    let spec = FunctionSpec {
        id: "demo::greet".into(),
        ..FunctionSpec::default()
    };
    worker.register_function(spec, answer);
    client.notice("notifications/tools/list_changed").await;
    let got = client
        .ask("tools/call", json!({ "name": "demo__greet" }))
        .await
        .unwrap();
    assert_eq!(got["content"][0]["text"], "hi");

    register(&worker, "b", "# B").await;
    client.notice("notifications/resources/list_changed").await;
    let read = client
        .ask("resources/read", json!({ "uri": "iii://b" }))
        .await
        .unwrap();
    assert_eq!(read["contents"][0]["text"], "# B");
    started.end().await;
}

#[tokio::test]
async fn an_address_that_is_none_and_a_stranger_at_the_address_are_said() {
    let data = tempfile::tempdir().unwrap();
    let run = |url: String| {
        let dir = data.path().to_str().unwrap().to_owned();
        let mut command = skills(&["mcp", "--url", &url, "--data-dir", &dir]);
        command.stdin(Stdio::null());
        async move { timeout(TIMEOUT, command.output()).await.unwrap().unwrap() }
    };
    let output = run("http://x".into()).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("ws://127.0.0.1:49134"));
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let output = run(format!("ws://{}", silent.local_addr().unwrap())).await;
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did not answer as an engine"));
}
