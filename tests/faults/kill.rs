//! `skills serve` is killed while eight writers write, or stopped with SIGTERM.

use skills_test_support::engine::Peer;
use skills_test_support::process::SkillsProcess;

use super::support::{Writers, verify};

const WRITERS: usize = 8;

async fn kill_repeatedly(kills: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..kills {
        let (serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
        let writers = Writers::start(&addresses.url, WRITERS, &format!("r{round}")).await;
        // A different moment in each round.
        writers.wait_for(20 + round * 37 % 200).await;
        serve.kill().await;
        acknowledged.extend(writers.stop().await);
    }
    let (_serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    verify(&peer, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_survive_kill_9_under_eight_writers() {
    kill_repeatedly(2).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn acknowledged_writes_survive_eighty_kills() {
    kill_repeatedly(80).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_removes_the_lock_file_of_the_engine() {
    let dir = tempfile::tempdir().unwrap();
    let (serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let writers = Writers::start(&addresses.url, WRITERS, "a").await;
    writers.wait_for(20).await;
    let files = || {
        std::fs::read_dir(dir.path().join("engines"))
            .unwrap()
            .count()
    };
    assert_eq!(files(), 1);
    let (status, log) = serve.terminate().await;
    assert!(status.success(), "{log}");
    assert_eq!(files(), 0, "{log}");
    writers.stop().await;
}
