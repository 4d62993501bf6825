//! Two `skills serve` on one data directory, under load, and one of them is killed.

use std::collections::HashSet;

use skills_test_support::engine::Peer;
use skills_test_support::process::SkillsProcess;

use super::support::{Writers, until, verify};

async fn write_to_both(count: usize, kills: usize) {
    let dir = tempfile::tempdir().unwrap();
    let (first, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let survivor = Peer::connect(&addresses.url, "survivor").await;
    let writers = Writers::start(&addresses.url, 4, "first").await;
    let mut acknowledged = Vec::new();
    for round in 0..kills {
        let (second, others) = SkillsProcess::serve(dir.path(), &[]).await;
        let more = Writers::start(&others.url, 4, &format!("second{round}")).await;
        tokio::join!(writers.wait_for(count), more.wait_for(count));
        second.kill().await;
        acknowledged.extend(more.stop().await);
    }
    acknowledged.extend(writers.stop().await);
    // Writes of the other process arrive as events.
    until("the writes of both", || async {
        let ids: HashSet<_> = survivor.skill_ids().await.into_iter().collect();
        acknowledged.iter().all(|id| ids.contains(id))
    })
    .await;
    verify(&survivor, &acknowledged).await;
    first.kill().await;
    let (_serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    verify(&Peer::connect(&addresses.url, "peer").await, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_two_processes_survive_the_end_of_one() {
    write_to_both(50, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn writes_of_two_processes_survive_thirty_kills_of_one() {
    write_to_both(100, 30).await;
}
