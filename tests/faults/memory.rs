//! Memory after a burst: the process gives back what the burst needed.

use std::sync::Arc;

use serde_json::json;
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess};
use skills_test_support::usage::Usage;
use tokio::task::JoinSet;

use crate::support::until;

/// More than an idle process with its caches needs, and less than the burst below.
const IDLE_BYTES: u64 = 100 << 20;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn memory_is_given_back_after_a_burst() {
    let dir = tempfile::tempdir().unwrap();
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(dir.path(), &[]).await;
    let pid = serve.pid();
    let peer = Arc::new(Peer::connect(&url, "peer").await);
    let mut calls = JoinSet::new();
    // Blocks of every size, so that they leave holes in the memory of the process.
    for n in 0..1500 {
        let peer = Arc::clone(&peer);
        let value = "x".repeat(1000 + n * 61 % 90_000);
        let row = json!({ "scope": "s", "key": (n % 100).to_string(), "value": value });
        // Some are refused, because too much waits.
        calls.spawn(async move { drop(peer.call("state::set", row).await) });
    }
    calls.join_all().await;
    let peak = Usage::of(pid).unwrap().peak_memory;
    assert!(peak > IDLE_BYTES, "the burst needed only {peak} bytes");
    until("the memory is given back", || async move {
        Usage::of(pid).unwrap().memory < IDLE_BYTES
    })
    .await;
}
