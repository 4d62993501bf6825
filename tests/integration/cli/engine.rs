//! Commands with `--url`: engines that work, reject, time out or lack a registry.

use std::io::Read;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_iii::client::FunctionSpec;
use skills_test_support::engine::TestEngine;
use skills_test_support::handler::{fails, hangs, returns};
use skills_test_support::process::{Addresses, SkillsProcess, skills_path};

use super::transcript::Transcript;

/// A transcript that hides the engine's address.
fn transcript(url: &str) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.redact(url, "ws://[engine]");
    transcript
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_a_skills_worker() {
    let engine = TestEngine::start().await;
    let url = &engine.url;
    let mut s = transcript(url);
    for verb in [
        "list",
        "read a",
        "prompts list",
        "watch",
        "call demo::greet",
    ] {
        s.step(&format!("skills {verb} --url {url}"));
    }
    s.matches("no_worker");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_rejects_the_token() {
    let engine = TestEngine::with_token("secret").await;
    let url = &engine.url;
    let mut s = transcript(url);
    s.step(&format!("skills list --url {url}"))
        .step(&format!("skills list --url {url} --token wrong --json"))
        .step(&format!("skills mcp --url {url}"));
    s.matches("wrong_token");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_with_an_older_skills_worker() {
    let engine = TestEngine::start().await;
    let old_list = json!({ "skills": [{ "id": "old", "bytes": 3, "registered_at": "" }] });
    let odd = json!({ "prompts": "none" });
    let worker = engine.peer("older-worker").await;
    worker
        .register_function("skills::list", returns(old_list))
        .await;
    let resources = json!({ "resources": [{ "uri": "iii://old", "name": "Old" }] });
    worker
        .register_function("skills::resources-list", returns(resources))
        .await;
    worker
        .register_function("prompts::mcp-list", returns(odd))
        .await;
    let url = &engine.url;
    let mut s = transcript(url);
    s.file("a.md", "# A\n");
    for verb in [
        "list",
        "read old",
        "register a a.md",
        "index",
        "prompts list",
        "prompts get x",
        "import .",
    ] {
        s.step(&format!("skills {verb} --url {url}"));
    }
    s.matches("older_worker");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_never_returns() {
    let engine = TestEngine::start().await;
    let worker = engine.peer("slow-worker").await;
    worker.register_function("skills::list", hangs()).await;
    worker.register_function("demo::slow", hangs()).await;
    let url = &engine.url;
    let mut s = transcript(url);
    s.steps_at_once(&[
        format!("skills list --timeout 5s --url {url}"),
        format!("skills call demo::slow --timeout 5s --url {url} --json"),
    ]);
    s.matches("call_timeout");
}

/// A listener that accepts connections and sends nothing.
#[test]
fn a_listener_that_is_not_an_engine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(1)))
                .unwrap();
            // Reads the handshake and keeps the connection open.
            let _ = stream.read(&mut [0; 1024]);
            kept.push(stream);
        }
    });
    let mut s = transcript(&url);
    s.step(&format!("skills list --timeout 300ms --url {url}"));
    s.matches("silent_listener");
}

#[test]
fn a_url_without_an_engine() {
    let mut s = Transcript::new();
    s.file("a.md", "# A\n");
    // Not `NO_ENGINE`, which transcripts hide.
    s.step("skills register a a.md --url ws://localhost:1")
        .step("skills list --url ws://localhost:1 --json")
        .step("skills list --url ws://localhost:1 --data-dir data")
        .step("skills list --url ws://localhost:1 --data-dir data --quiet")
        // Notes go to stderr: stdout has one JSON document.
        .step("skills read nothing --url ws://localhost:1 --data-dir data --json")
        .step("skills list --url ws://localhost:1 --data-dir data --json");
    s.matches("no_engine");
}

#[test]
fn a_url_of_the_environment_takes_no_data_directory_that_nothing_names() {
    let s = Transcript::new();
    let register = |url: &str, data: Option<&str>| {
        let args = ["register", "a", "-", "--quiet"];
        let mut command = s.command(skills_path()).args(args).stdin("# A\n");
        command = command.env_remove("SKILLS_URL").env_remove("III_URL");
        command = command.env_remove("SKILLS_DATA_DIR");
        if let Some(data) = data {
            command = command.env("SKILLS_DATA_DIR", s.path(data));
        }
        s.finish(command.env(url, "ws://localhost:1")).code
    };
    for url in ["SKILLS_URL", "III_URL"] {
        assert_eq!(register(url, None), 5, "{url}");
        assert_eq!(register(url, Some("data")), 0, "{url}");
    }
    assert!(!s.path("home").exists(), "nothing was written there");
}

/// A remote registry and a local one print the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_remote_registry_prints_what_the_data_directory_does() {
    let s = Transcript::new();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&s.path("data"), &[]).await;
    let verbs = [
        "list --flat",
        "index",
        "read a/b",
        "read a/c",
        "prompts list",
        "fetch a/b skills",
        "list --json",
    ];
    s.run_with(
        &format!("skills register a/b - --url {url}"),
        "# B\n\nAbout B.\n",
    );
    for verb in verbs {
        let remote = s.run(&format!("skills {verb} --url {url}"));
        let local = s.run(&format!(
            "skills {verb} --data-dir {}",
            s.path("data").display()
        ));
        assert_eq!(remote.stdout, local.stdout, "{verb}");
        assert_eq!(remote.stderr, local.stderr, "{verb}");
        assert_eq!(remote.code, local.code, "{verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_before_the_call_and_a_failure_is_not_an_outage() {
    let engine = TestEngine::start().await;
    let worker = engine.peer("worker").await;
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
        "required": ["a", "b"],
    });
    let spec = FunctionSpec {
        id: "calc::add".into(),
        request_format: Some(to_raw_value(&schema).unwrap()),
        ..FunctionSpec::default()
    };
    worker.register_function_spec(spec, returns(json!(3))).await;
    worker
        .register_function("calc::divide", fails("zero", "division by zero"))
        .await;
    let url = &engine.url;
    let mut s = transcript(url);
    for call in [
        "calc::add a=1",
        "calc::add a=1 b=two --json",
        "calc::add a=1 b=2",
        "calc::divide",
    ] {
        s.step(&format!("skills call {call} --url {url}"));
    }
    s.matches("call_arguments");
}
