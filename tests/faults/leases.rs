//! Owners and leases while processes are killed: what is registered has the owner that it had, or
//! the one of the write that was in flight.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use skills_test_support::TIMEOUT;
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

const WRITERS: usize = 6;
const WRITES_MAX: usize = 400;

/// What a run found.
#[derive(Debug, Default)]
struct Found {
    acknowledged: usize,
    /// Entries of killed processes, and those among them whose last write was in flight.
    entries: usize,
    in_flight: usize,
}

/// Registers one entry with another text and another owner each time, until the process is gone.
/// Returns how often that was acknowledged.
async fn write(url: String, writer: usize, count: Arc<(AtomicUsize, Notify)>) -> usize {
    let peer = Peer::connect(&url, &format!("writer-{writer}")).await;
    for number in 1..=WRITES_MAX {
        let skill = json!({
            "id": format!("w{writer}"),
            "skill": format!("# {number}\n"),
            "owner": format!("owner-{number}"),
            "ttl_ms": 3_600_000,
        });
        if peer.call("skills::register", skill).await.is_err() {
            return number - 1;
        }
        count.0.fetch_add(1, Ordering::SeqCst);
        count.1.notify_one();
    }
    WRITES_MAX
}

async fn serve(dir: &Path) -> (SkillsProcess, Addresses) {
    SkillsProcess::serve(&dir.join("data"), &[]).await
}

async fn kill_repeatedly(kills: usize) -> Found {
    let mut found = Found::default();
    let dir = tempfile::tempdir().unwrap();
    for round in 0..kills {
        let (process, addresses) = serve(dir.path()).await;
        let count = Arc::<(AtomicUsize, Notify)>::default();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (url, count) = (addresses.url.clone(), Arc::clone(&count));
            writers.spawn(async move { (writer, write(url, writer, count).await) });
        }
        // A different moment in each round.
        let enough = 30 + round * 37 % 150;
        let reached = async {
            while count.0.load(Ordering::SeqCst) < enough {
                count.1.notified().await;
            }
        };
        timeout(TIMEOUT, reached).await.expect("writes in time");
        process.kill().await;
        let written = timeout(TIMEOUT, writers.join_all()).await;
        let (next, addresses) = serve(dir.path()).await;
        let peer = Peer::connect(&addresses.url, "peer").await;
        let list = peer.call("skills::list", json!({})).await.unwrap();
        for (writer, acknowledged) in written.expect("the writers end") {
            let id = format!("w{writer}");
            let skills = list["skills"].as_array().unwrap().iter();
            let Some(skill) = skills.clone().find(|skill| skill["id"] == id.as_str()) else {
                assert_eq!(acknowledged, 0, "{id} is missing");
                continue;
            };
            let text = peer.read(&format!("iii://{id}")).await.unwrap();
            let number: usize = text.trim_start_matches("# ").trim().parse().unwrap();
            let owner = skill["owner"].as_str();
            assert_eq!(owner, Some(&*format!("owner-{number}")), "of {id}: {skill}");
            assert!(skill["expires_at"].is_string(), "{skill}");
            found.acknowledged += acknowledged;
            found.entries += 1;
            found.in_flight += usize::from(number > acknowledged);
            peer.call("skills::unregister", json!({ "id": id }))
                .await
                .unwrap();
        }
        next.kill().await;
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_registered_has_its_owner_after_kill_9() {
    let found = kill_repeatedly(2).await;
    assert!(found.acknowledged > 30, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
#[expect(clippy::print_stderr, reason = "the figures of the campaign")]
async fn what_is_registered_has_its_owner_after_twenty_kills() {
    let found = kill_repeatedly(20).await;
    eprintln!("20 kills of one process: {found:?}");
}
