//! Versions while processes are killed: no acknowledged one is missing, and at most the write that was
//! in flight is there without its acknowledgement.

use std::collections::BTreeMap;
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

const WRITERS: usize = 8;
/// Fewer than are kept, so that every version can be compared.
const TEXTS_MAX: usize = 45;

/// What one writer sent, in order, and how many of it were acknowledged.
struct Written {
    id: String,
    sent: Vec<String>,
    acknowledged: usize,
}

/// Clients that change one skill each, one text after the other.
struct Changers {
    tasks: JoinSet<Written>,
    count: Arc<(AtomicUsize, Notify)>,
}

impl Changers {
    /// Starts writers. `id` names the skill of a writer, `name` begins its texts.
    async fn start(url: &str, name: &str, id: impl Fn(usize) -> String) -> Self {
        let mut tasks = JoinSet::new();
        let count = Arc::<(AtomicUsize, Notify)>::default();
        for writer in 0..WRITERS {
            let peer = Peer::connect(url, &format!("{name}-{writer}")).await;
            let (id, name, count) = (id(writer), name.to_owned(), Arc::clone(&count));
            tasks.spawn(async move {
                let mut written = Written {
                    id,
                    sent: Vec::new(),
                    acknowledged: 0,
                };
                for number in 0..TEXTS_MAX {
                    let text = format!("# {name} {writer} {number}\n");
                    written.sent.push(text.clone());
                    let skill = json!({ "id": written.id, "skill": text });
                    // The process is gone: this write was in flight.
                    if peer.call("skills::register", skill).await.is_err() {
                        break;
                    }
                    written.acknowledged += 1;
                    count.0.fetch_add(1, Ordering::SeqCst);
                    count.1.notify_one();
                }
                written
            });
        }
        Self { tasks, count }
    }

    async fn wait_for(&self, acknowledged: usize) {
        let reached = async {
            while self.count.0.load(Ordering::SeqCst) < acknowledged {
                self.count.1.notified().await;
            }
        };
        timeout(TIMEOUT, reached).await.expect("writes in time");
    }

    async fn finish(self) -> Vec<Written> {
        timeout(TIMEOUT, self.tasks.join_all())
            .await
            .expect("the writers end")
    }
}

async fn serve(dir: &Path) -> (SkillsProcess, Addresses) {
    let config = dir.join("config.yaml");
    std::fs::write(&config, "history:\n  versions: 100\n").unwrap();
    let config = config.to_str().unwrap().to_owned();
    SkillsProcess::serve(&dir.join("data"), &["--config", &config]).await
}

/// The texts of a skill's versions, oldest first. Checks that their numbers have no gap.
async fn texts(peer: &Peer, id: &str) -> Vec<String> {
    let history = peer.call("skills::history", json!({ "id": id })).await;
    let Ok(history) = history else {
        return Vec::new();
    };
    let versions = history["versions"].as_array().unwrap();
    let numbers: Vec<_> = versions
        .iter()
        .rev()
        .map(|one| one["version"].as_u64())
        .collect();
    let expected: Vec<_> = (1..=versions.len() as u64).map(Some).collect();
    assert_eq!(numbers, expected, "the versions of {id}");
    let mut texts = Vec::new();
    for number in numbers.into_iter().flatten() {
        texts.push(peer.read(&format!("iii://{id}@{number}")).await.unwrap());
    }
    texts
}

/// What a run found.
#[derive(Debug, Default)]
struct Found {
    acknowledged: usize,
    /// Writes in flight that are there.
    in_flight: usize,
}

async fn kill_repeatedly(kills: usize) -> Found {
    let dir = tempfile::tempdir().unwrap();
    let mut found = Found::default();
    let mut written: Vec<Written> = Vec::new();
    for round in 0..=kills {
        let (serve, addresses) = serve(dir.path()).await;
        let peer = Peer::connect(&addresses.url, "peer").await;
        for Written {
            id,
            sent,
            acknowledged,
        } in written.drain(..)
        {
            let texts = texts(&peer, &id).await;
            assert!(
                texts.len() >= acknowledged,
                "{id} lost an acknowledged version"
            );
            assert!(
                texts.len() <= acknowledged + 1,
                "{id} has more than one in flight"
            );
            assert_eq!(texts, sent[..texts.len()], "{id}");
            // What is registered is the last version, or the one before if its row was lost.
            if !texts.is_empty() {
                let current = peer.read(&format!("iii://{id}")).await.unwrap();
                assert!(
                    texts[acknowledged.saturating_sub(1)..].contains(&current),
                    "{id}"
                );
            }
            found.acknowledged += acknowledged;
            found.in_flight += texts.len() - acknowledged;
        }
        if round == kills {
            break;
        }
        let changers = Changers::start(&addresses.url, &format!("round {round}"), |writer| {
            format!("r{round}/w{writer}")
        })
        .await;
        // A different moment in each round.
        changers.wait_for(20 + round * 37 % 200).await;
        serve.kill().await;
        written = changers.finish().await;
    }
    found
}

/// Two processes on one data directory change the same skills, and one of them is killed.
async fn kill_one_of_two(kills: usize) -> Found {
    let dir = tempfile::tempdir().unwrap();
    let (_first, addresses) = serve(dir.path()).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    let mut found = Found::default();
    for round in 0..kills {
        let (second, others) = serve(dir.path()).await;
        let id = |writer: usize| format!("r{round}/w{writer}");
        let mine = Changers::start(&addresses.url, "first", id).await;
        let theirs = Changers::start(&others.url, "second", id).await;
        theirs.wait_for(20 + round * 37 % 150).await;
        second.kill().await;
        let mut by_id: BTreeMap<String, Vec<Written>> = BTreeMap::new();
        let written = [mine.finish().await, theirs.finish().await];
        for written in written.into_iter().flatten() {
            by_id.entry(written.id.clone()).or_default().push(written);
        }
        let (_third, fresh) = serve(dir.path()).await;
        let fresh = Peer::connect(&fresh.url, "fresh").await;
        for (id, writers) in by_id {
            let texts = texts(&fresh, &id).await;
            // The first process may not have heard of the last row of the one that was killed, which
            // has no version then.
            let agrees = async {
                while self::texts(&peer, &id).await != texts {
                    tokio::task::yield_now().await;
                }
            };
            let in_time = timeout(TIMEOUT, agrees).await.is_ok();
            assert!(in_time, "all instances agree on {id}");
            let mut known = 0;
            for Written {
                sent, acknowledged, ..
            } in &writers
            {
                // In the order in which they were sent.
                let there: Vec<_> = texts.iter().filter(|text| sent.contains(text)).collect();
                assert!(
                    there.len() >= *acknowledged,
                    "{id} lost an acknowledged version"
                );
                assert!(
                    there.len() <= acknowledged + 1,
                    "{id} has more than one in flight"
                );
                assert_eq!(
                    there,
                    sent[..there.len()].iter().collect::<Vec<_>>(),
                    "{id}"
                );
                found.acknowledged += acknowledged;
                found.in_flight += there.len() - acknowledged;
                known += there.len();
            }
            assert_eq!(known, texts.len(), "{id}: each text once");
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_versions_survive_kill_9() {
    let found = kill_repeatedly(2).await;
    assert!(found.acknowledged > 40, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_change_the_same_skills_lose_no_version() {
    let found = kill_one_of_two(1).await;
    assert!(found.acknowledged > 20, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
#[expect(clippy::print_stderr, reason = "the figures of the campaign")]
async fn acknowledged_versions_survive_fifty_kills() {
    let found = kill_repeatedly(50).await;
    eprintln!("50 kills of one process: {found:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
#[expect(clippy::print_stderr, reason = "the figures of the campaign")]
async fn two_processes_lose_no_version_in_fifty_kills_of_one() {
    let found = kill_one_of_two(50).await;
    eprintln!("50 kills of one of two processes: {found:?}");
}
