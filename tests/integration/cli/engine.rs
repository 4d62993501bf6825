//! Engines that answer, answer late, answer never, or answer less than they should.

use std::io::Read;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;

use skills_test_support::engine::TestEngine;
use skills_test_support::handler::{hangs, returns};
use skills_test_support::process::{Addresses, SkillsProcess};

use super::transcript::Transcript;

/// A session, with the engine's address hidden.
fn session(url: &str) -> Transcript {
    let mut session = Transcript::new();
    session.call_it(url, "ws://[engine]");
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_a_skills_worker() {
    let engine = TestEngine::start().await;
    let url = &engine.url;
    let mut s = session(url);
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
async fn an_engine_that_wants_another_token() {
    let engine = TestEngine::with_token("secret").await;
    let url = &engine.url;
    let mut s = session(url);
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
    worker
        .register_function("prompts::mcp-list", returns(odd))
        .await;
    let url = &engine.url;
    let mut s = session(url);
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
async fn a_function_that_never_answers() {
    let engine = TestEngine::start().await;
    let worker = engine.peer("slow-worker").await;
    worker.register_function("skills::list", hangs()).await;
    worker.register_function("demo::slow", hangs()).await;
    let url = &engine.url;
    let mut s = session(url);
    s.step(&format!("skills list --timeout 5s --url {url}"));
    s.step(&format!(
        "skills call demo::slow --timeout 5s --url {url} --json"
    ));
    s.matches("call_timeout");
}

/// Something that takes connections and says nothing.
#[test]
fn a_listener_that_stays_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(1)))
                .unwrap();
            // Reads what is said, and keeps the connection.
            let _ = stream.read(&mut [0; 1024]);
            kept.push(stream);
        }
    });
    let mut s = session(&url);
    s.step(&format!("skills list --timeout 300ms --url {url}"));
    s.matches("silent_listener");
}

#[test]
fn an_address_that_was_named_and_does_not_answer() {
    let mut s = Transcript::new();
    // The same as the one of the sessions, written otherwise, so that it shows.
    s.step("skills list --url ws://localhost:1")
        .step("skills list --url ws://localhost:1 --quiet")
        // A program reads one JSON document on stdout, whatever is said beside it.
        .step("skills read nothing --url ws://localhost:1 --json")
        .step("skills list --url ws://localhost:1 --json");
    s.matches("no_engine");
}

/// The same answers from an engine elsewhere as from the data directory.
#[tokio::test(flavor = "multi_thread")]
async fn serve_answers_like_the_data_directory() {
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
        let there = s.run(&format!("skills {verb} --url {url}"));
        let here = s.run(&format!(
            "skills {verb} --data-dir {}",
            s.path("data").display()
        ));
        assert_eq!(there.stdout, here.stdout, "{verb}");
        assert_eq!(there.stderr, here.stderr, "{verb}");
        assert_eq!(there.code, here.code, "{verb}");
    }
}
