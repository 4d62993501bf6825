//! `skills mcp` as a client starts it: on a data directory, and on an engine.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::handler::returns;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};
use skills_test_support::test_client::TestClient;
use skills_test_support::{NO_ENGINE, TIMEOUT};
use tokio::process::Command;
use tokio::time::timeout;

/// `skills mcp`, and a client of it.
struct McpProcess {
    client: TestClient,
    process: SkillsProcess,
}

impl McpProcess {
    fn start(url: &str, data_dir: &Path) -> Self {
        let data_dir = data_dir.to_str().unwrap();
        let mut process = SkillsProcess::start(&["mcp", "--url", url, "--data-dir", data_dir]);
        Self {
            client: process.client(),
            process,
        }
    }

    /// Closes its input and checks that it ends without an error.
    async fn close(self) {
        self.client.close().await;
        let (status, stderr) = self.process.wait().await;
        assert!(status.success(), "{status}: {stderr}");
    }
}

#[tokio::test]
async fn two_processes_on_one_data_directory_notify_each_other() {
    let data = tempfile::tempdir().unwrap();
    let mut one = McpProcess::start(NO_ENGINE, data.path());
    let mut two = McpProcess::start(NO_ENGINE, data.path());
    for mcp in [&mut one, &mut two] {
        mcp.client.initialize("2025-11-25").await;
        // Notifications begin after the first list.
        let asked = mcp.client.request("resources/list", json!({}));
        let empty = asked.await.unwrap();
        assert_eq!(empty["resources"].as_array().unwrap().len(), 1);
    }
    // A third process writes.
    let (serving, Addresses { url, .. }) = SkillsProcess::serve(data.path(), &[]).await;
    let peer = Peer::connect(&url, "peer").await;
    peer.register_skill("a", "# A").await;
    for mcp in [&mut one, &mut two] {
        mcp.client
            .notification("notifications/resources/list_changed")
            .await;
        let read = mcp
            .client
            .request("resources/read", json!({ "uri": "iii://a" }))
            .await
            .unwrap();
        assert_eq!(read["contents"][0]["text"], "# A");
    }
    drop(serving);
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn an_engines_skills_files_prompts_and_functions_are_served() {
    let data = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(files.path().join(path), text).unwrap();
    write(
        "config.yaml",
        "skills: ['doc-*.md']\nprompts: ['say-*.md']\n",
    );
    write("doc-house.md", "# House\n\nRules of the house.");
    write("say-hello.md", "---\ndescription: Says hello.\n---\nHello.");
    let config = files.path().join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (_serving, Addresses { url, .. }) = SkillsProcess::serve(data.path(), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    peer.register_skill("a", "# A").await;

    let elsewhere = tempfile::tempdir().unwrap();
    let mut mcp = McpProcess::start(&url, elsewhere.path());
    let client = &mut mcp.client;
    client.initialize("2025-11-25").await;
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let names: Vec<_> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert_eq!(names, ["Skills", "A", "House"]);
    assert_eq!(listed["resources"][2]["description"], "Rules of the house.");
    assert_eq!(listed["resources"][2]["size"], 28);
    let uri = listed["resources"][2]["uri"].clone();
    let read = client
        .request("resources/read", json!({ "uri": uri }))
        .await
        .unwrap();
    assert_eq!(
        read["contents"][0]["text"],
        "# House\n\nRules of the house."
    );
    let missing = client
        .request("resources/read", json!({ "uri": "iii://b" }))
        .await
        .unwrap_err();
    assert_eq!(missing["code"], -32002, "{missing}");
    let prompts = client.request("prompts/list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"][0]["description"], "Says hello.");
    let name = prompts["prompts"][0]["name"].clone();
    let got = client
        .request("prompts/get", json!({ "name": name }))
        .await
        .unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "Hello.");

    let tools = client.request("tools/list", json!({})).await.unwrap();
    let mut tools = tools["tools"].as_array().unwrap().iter();
    let ours = |tool: &Value| tool["name"].as_str().unwrap().starts_with("skill__");
    assert!(tools.all(ours));
    peer.register_function("demo::greet", returns(json!("hi")))
        .await;
    client
        .notification("notifications/tools/list_changed")
        .await;
    let got = client
        .request("tools/call", json!({ "name": "demo__greet" }))
        .await
        .unwrap();
    assert_eq!(got["content"][0]["text"], "hi");

    peer.register_skill("b", "# B").await;
    client
        .notification("notifications/resources/list_changed")
        .await;
    let read = client
        .request("resources/read", json!({ "uri": "iii://b" }))
        .await
        .unwrap();
    assert_eq!(read["contents"][0]["text"], "# B");
    mcp.close().await;
}

#[tokio::test]
async fn an_invalid_url_and_a_listener_that_is_not_an_engine_are_errors() {
    let data = tempfile::tempdir().unwrap();
    let run = |url: String| {
        let dir = data.path().to_str().unwrap().to_owned();
        let mut command = Command::from(skills_command());
        command
            .args(["mcp", "--url", &url, "--data-dir", &dir])
            .stdin(Stdio::null());
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
