//! The worker on an engine that starts late, restarts, or has another worker.

use serde_json::json;
use skills_test_support::engine::{Peer, TestEngine, next_event};
use skills_test_support::process::SkillsProcess;
use tokio::net::TcpListener;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_started_before_its_engine_connects_later() {
    let address = TestEngine::start().await.stop().await;
    let mut worker = SkillsProcess::worker(&format!("ws://{address}"), &[]);
    let line = worker.wait_for_log("no engine can be reached").await;
    let line = line["message"].as_str().unwrap();
    assert!(line.contains("`skills serve`"), "{line}");
    let engine = TestEngine::start_at(&address).await;
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    assert_eq!(peer.skill_ids().await, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_without_a_handshake_is_retried() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut worker = SkillsProcess::worker(&format!("ws://{address}"), &[]);
    let (half_open, _) = listener.accept().await.unwrap();
    drop(listener);
    drop(half_open);
    let engine = TestEngine::start_at(&address).await;
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let list = peer.call_until_ok("skills::list", json!({})).await;
    assert_eq!(list, json!({ "skills": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_engine_restart_functions_are_registered_again_and_caches_are_empty() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    let address = engine.stop().await;
    worker.wait_for_log("the engine disconnected").await;
    // The new engine has another directory, so no state, and the worker must not serve the old.
    let engine = TestEngine::start_at(&address).await;
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "another").await;
    let list = peer.call_until_ok("skills::list", json!({})).await;
    assert_eq!(list, json!({ "skills": [] }));
    let offered = peer
        .call("engine::functions::list", json!({ "prefix": "skills::" }))
        .await
        .unwrap();
    assert!(
        offered.to_string().contains("skills::fetch_skill"),
        "{offered}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_when_the_owner_is_killed_and_events_continue() {
    let engine = TestEngine::start().await;
    let mut owner = SkillsProcess::worker(&engine.url, &[]);
    owner.wait_for_log("serving").await;
    let mut standby = SkillsProcess::worker(&engine.url, &[]);
    let standby_log = standby.wait_for_log("standing by").await;
    assert!(
        standby_log["owner"]
            .as_str()
            .unwrap()
            .starts_with("skills@"),
        "{standby_log}"
    );
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    assert_eq!(next_event(&mut events).await["id"], "a");

    owner.kill().await;
    standby.wait_for_log("serving").await;
    peer.call_until_ok("skills::register", json!({ "id": "b", "skill": "B" }))
        .await;
    assert_eq!(next_event(&mut events).await["id"], "b");
    assert_eq!(peer.skill_ids().await, ["a", "b"]);
    assert!(events.try_recv().is_err(), "one event for each change");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_disconnects_from_a_lost_engine_and_serves_nothing_old_on_the_next() {
    let engine = TestEngine::start().await;
    let mut owner = SkillsProcess::worker(&engine.url, &[]);
    owner.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "old", "skill": "O" }))
        .await;
    let mut standby = SkillsProcess::worker(&engine.url, &[]);
    standby.wait_for_log("standing by").await;
    let address = engine.stop().await;
    owner.kill().await;
    let engine = TestEngine::start_at(&address).await;
    let first = standby
        .wait_for_any_log(&["the engine disconnected", "serving"])
        .await;
    assert_eq!(first["message"], "the engine disconnected; reconnecting");
    standby.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "another").await;
    assert_eq!(peer.skill_ids().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_written_to_the_state_directly_is_served_and_is_an_event() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    peer.call_until_ok("skills::register", json!({ "id": "first", "skill": "F" }))
        .await;
    assert_eq!(next_event(&mut events).await["id"], "first");
    let row = json!({ "id": "direct", "skill": "# Direct", "registered_at": "t", "owner": 1 });
    let set = json!({ "scope": "skills", "key": "direct", "value": row });
    peer.call("state::set", set).await.unwrap();
    assert_eq!(
        next_event(&mut events).await,
        json!({ "op": "register", "id": "direct" })
    );
    assert_eq!(peer.read("iii://direct").await.unwrap(), "# Direct");
    peer.call(
        "state::delete",
        json!({ "scope": "skills", "key": "direct" }),
    )
    .await
    .unwrap();
    assert_eq!(
        next_event(&mut events).await,
        json!({ "op": "unregister", "id": "direct" })
    );
    assert!(
        peer.read("iii://direct")
            .await
            .unwrap_err()
            .contains("not found")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_come_from_the_configuration() {
    let engine = TestEngine::start().await;
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yaml");
    std::fs::write(
        &config,
        "scopes:\n  skills: team-skills\n  prompts: team-prompts\n",
    )
    .unwrap();
    let mut worker = SkillsProcess::worker(&engine.url, &["--config", config.to_str().unwrap()]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    let stored = peer
        .call("state::list", json!({ "scope": "team-skills" }))
        .await
        .unwrap();
    assert_eq!(stored[0]["id"], "a");
    assert_eq!(
        peer.call("state::list", json!({ "scope": "skills" }))
            .await
            .unwrap(),
        json!([])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_two_writers_of_one_id_the_last_acknowledged_wins() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    peer.call_until_ok(
        "skills::register",
        json!({ "id": "same", "skill": "first" }),
    )
    .await;
    next_event(&mut events).await;
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..32 {
        let url = engine.url.clone();
        clients.spawn(async move {
            let client = Peer::connect(&url, &format!("client-{n}")).await;
            let answer = client.register_skill("same", &format!("from {n}")).await;
            (answer["registered_at"].as_str().unwrap().to_owned(), n)
        });
    }
    let answers = clients.join_all().await;
    // Writers of one id run one after the other, so their times are in the order of acknowledgement.
    let (_, last) = answers.iter().max().unwrap();
    assert_eq!(
        peer.read("iii://same").await.unwrap(),
        format!("from {last}")
    );
    let stored = peer
        .call("state::get", json!({ "scope": "skills", "key": "same" }))
        .await
        .unwrap();
    assert_eq!(stored["skill"], format!("from {last}"));
    for _ in 0..32 {
        assert_eq!(
            next_event(&mut events).await,
            json!({ "op": "register", "id": "same" })
        );
    }
    peer.register_skill("end", "E").await;
    assert_eq!(
        next_event(&mut events).await["id"],
        "end",
        "no event arrived twice"
    );
}
