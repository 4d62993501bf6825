//! Many workers that connect and leave at once.

use serde_json::json;
use skills_test_support::abuse::{Target, named};
use skills_test_support::engine::Peer;
use skills_test_support::process::SkillsProcess;

use super::support::{Writers, until, verify};

async fn storm(count: usize) {
    let dir = tempfile::tempdir().unwrap();
    let (serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    let target = Target {
        workers: addresses.workers(),
        http: addresses.http,
    };
    let storm = tokio::spawn(named("reconnect-storm").unwrap().run(target));
    let writers = Writers::start(&addresses.url, 2, "load").await;
    writers.wait_for(count).await;
    storm.abort();
    let acknowledged = writers.stop().await;
    verify(&peer, &acknowledged).await;
    until("every worker of the storm is gone", || async {
        let workers = peer.call("engine::workers::list", json!({})).await.unwrap();
        !workers.to_string().contains("storm-")
    })
    .await;
    let functions = json!({ "prefix": "storm-" });
    let functions = peer.call("engine::functions::list", functions).await;
    assert_eq!(functions.unwrap()["functions"], json!([]));
    let (status, stderr) = serve.terminate().await;
    assert!(status.success(), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconnect_storm_delays_nobody_for_ever_and_leaves_nothing() {
    storm(100).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn a_long_reconnect_storm_leaves_nothing() {
    storm(5_000).await;
}
