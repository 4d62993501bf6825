//! Two `skills serve` on one data directory, under load: one of them is killed, or both write the
//! same skill.

use std::collections::HashSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
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

/// Clients of two processes that write one skill with `if_match` at the same moment, in rounds: one
/// of them wins each.
async fn write_if_match(rounds: usize) {
    let dir = tempfile::tempdir().unwrap();
    let (_first, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let (_second, others) = SkillsProcess::serve(dir.path(), &[]).await;
    let mut peers = Vec::new();
    for number in 0..6 {
        let url = [&addresses.url, &others.url][number % 2];
        peers.push(Peer::connect(url, &format!("peer-{number}")).await);
    }
    let mut current = Value::Null;
    for round in 0..rounds {
        let writes = peers.iter().enumerate().map(|(number, peer)| {
            let text = format!("# {round}\n\nBy {number}.\n");
            let skill = json!({ "id": "contended", "skill": text, "if_match": current });
            async move { (text, peer.call("skills::register", skill).await) }
        });
        let (won, lost): (Vec<_>, Vec<_>) = join_all(writes)
            .await
            .into_iter()
            .partition(|(_, result)| result.is_ok());
        assert_eq!(won.len(), 1, "round {round}: {won:?} {lost:?}");
        let winner = &won[0].0;
        for peer in &peers[..2] {
            until("the row of the winner", || async {
                peer.read("iii://contended").await.as_ref() == Ok(winner)
            })
            .await;
        }
        let history = json!({ "id": "contended" });
        let history = peers[0].call("skills::history", history).await.unwrap();
        let newest = &history["versions"][0];
        assert_eq!(newest["version"], round + 1, "one version for each round");
        current = newest["digest"].clone();
        let digest = current.as_str().unwrap();
        for (_, refused) in &lost {
            let refused = refused.as_ref().unwrap_err();
            assert!(refused.starts_with("conflict: "), "{refused}");
            assert!(refused.contains(digest), "{refused}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_writes_with_if_match_in_two_processes_one_wins() {
    write_if_match(40).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn of_writes_with_if_match_in_two_processes_one_wins_a_thousand_times() {
    write_if_match(1_000).await;
}
