//! The worker on an engine that comes, goes and is shared.

use serde_json::json;
use tokio::net::TcpListener;

use skills_test_support::engine::{Peer, TestEngine, next_event};
use skills_test_support::process::SkillsProcess;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_started_before_its_engine_serves_when_the_engine_comes() {
    let address = TestEngine::start().await.stop().await;
    let mut worker = SkillsProcess::worker(&format!("ws://{address}"), &[]);
    worker.wait_for_log("connecting").await;
    let engine = TestEngine::start_at(&address).await;
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    assert_eq!(peer.skill_ids().await, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_takes_the_connection_and_says_nothing_is_left_for_one_that_does() {
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = mute.local_addr().unwrap().to_string();
    let mut worker = SkillsProcess::worker(&format!("ws://{address}"), &[]);
    let (half_open, _) = mute.accept().await.unwrap();
    drop(mute);
    drop(half_open);
    let engine = TestEngine::start_at(&address).await;
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let list = peer.call_until_ok("skills::list", json!({})).await;
    assert_eq!(list, json!({ "skills": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_engine_restart_everything_is_registered_again_and_nothing_old_is_served() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    let address = engine.stop().await;
    worker.wait_for_log("the engine is gone").await;
    // Its state was in memory: the new one knows nothing, and neither may we.
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
async fn a_standby_takes_over_when_the_owner_is_killed_and_subscribers_still_hear() {
    let engine = TestEngine::start().await;
    let mut owner = SkillsProcess::worker(&engine.url, &[]);
    owner.wait_for_log("serving").await;
    let mut standby = SkillsProcess::worker(&engine.url, &[]);
    let standing = standby.wait_for_log("standing by").await;
    assert!(
        standing["owner"].as_str().unwrap().starts_with("skills@"),
        "{standing}"
    );
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut notices = peer.subscribe("skills::on-change", "peer::heard");
    peer.call_until_ok("skills::register", json!({ "id": "a", "skill": "A" }))
        .await;
    assert_eq!(next_event(&mut notices).await["id"], "a");

    owner.kill().await;
    standby.wait_for_log("serving").await;
    peer.call_until_ok("skills::register", json!({ "id": "b", "skill": "B" }))
        .await;
    assert_eq!(next_event(&mut notices).await["id"], "b");
    assert_eq!(peer.skill_ids().await, ["a", "b"]);
    assert!(notices.try_recv().is_err(), "each change is told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_lets_go_of_an_engine_that_is_gone_and_brings_nothing_old_to_the_next() {
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
        .wait_for_any_log(&["the engine is gone", "serving"])
        .await;
    assert_eq!(first["message"], "the engine is gone; trying again");
    standby.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "another").await;
    assert_eq!(peer.skill_ids().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_written_into_state_by_somebody_else_shows_up_and_is_announced() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut notices = peer.subscribe("skills::on-change", "peer::heard");
    peer.call_until_ok("skills::register", json!({ "id": "first", "skill": "F" }))
        .await;
    assert_eq!(next_event(&mut notices).await["id"], "first");
    let row = json!({ "id": "direct", "skill": "# Direct", "registered_at": "t", "owner": 1 });
    let set = json!({ "scope": "skills", "key": "direct", "value": row });
    peer.call("state::set", set).await.unwrap();
    assert_eq!(
        next_event(&mut notices).await,
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
        next_event(&mut notices).await,
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
async fn scopes_are_the_configurations() {
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
async fn thirty_two_clients_register_one_id_and_the_last_acknowledged_stays() {
    let engine = TestEngine::start().await;
    let mut worker = SkillsProcess::worker(&engine.url, &[]);
    worker.wait_for_log("serving").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut notices = peer.subscribe("skills::on-change", "peer::heard");
    peer.call_until_ok(
        "skills::register",
        json!({ "id": "same", "skill": "first" }),
    )
    .await;
    next_event(&mut notices).await;
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
    // Writers take turns, so times are in the order of acknowledgement.
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
            next_event(&mut notices).await,
            json!({ "op": "register", "id": "same" })
        );
    }
    peer.register_skill("end", "E").await;
    assert_eq!(
        next_event(&mut notices).await["id"],
        "end",
        "nothing was told twice"
    );
}
