//! A standby takes over from a worker that is killed under load.

use skills_test_support::engine::{Peer, TestEngine};
use skills_test_support::process::SkillsProcess;

use super::support::{Writers, verify};

async fn take_over_repeatedly(times: usize) {
    let engine = TestEngine::start().await;
    let mut owner = SkillsProcess::worker(&engine.url, &[]);
    owner.wait_for_log("serving").await;
    let writers = Writers::start(&engine.url, 8, "load").await;
    for _ in 0..times {
        let mut standby = SkillsProcess::worker(&engine.url, &[]);
        standby.wait_for_log("standing by").await;
        writers.wait_for(50).await;
        owner.kill().await;
        standby.wait_for_log("serving").await;
        writers.wait_for(50).await;
        owner = standby;
    }
    let acknowledged = writers.stop().await;
    verify(&engine.peer("peer").await, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_under_load_and_no_acknowledged_write_is_lost() {
    take_over_repeatedly(1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn sixteen_take_overs_under_load_lose_no_acknowledged_write() {
    take_over_repeatedly(16).await;
}

/// The subscriptions of a client are for the registry, not for the process that serves it.
#[tokio::test(flavor = "multi_thread")]
async fn subscribers_receive_events_of_the_standby() {
    let engine = TestEngine::start().await;
    let mut owner = SkillsProcess::worker(&engine.url, &[]);
    owner.wait_for_log("serving").await;
    let mut standby = SkillsProcess::worker(&engine.url, &[]);
    standby.wait_for_log("standing by").await;
    let peer = Peer::connect(&engine.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    let writers = Writers::start(&engine.url, 2, "load").await;
    owner.kill().await;
    standby.wait_for_log("serving").await;
    writers.wait_for(20).await;
    writers.stop().await;
    peer.register_skill("last", "# Last").await;
    while skills_test_support::engine::next_event(&mut events).await["id"] != "last" {}
}
