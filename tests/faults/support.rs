//! Writers that note what was acknowledged, and waiting for a condition.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use skills_test_support::TIMEOUT;
use skills_test_support::engine::Peer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The time between two checks of something that no event reports.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Clients that register skills, one after the other, until they are stopped.
pub struct Writers {
    tasks: JoinSet<()>,
    acknowledged: Arc<Acknowledged>,
}

#[derive(Default)]
struct Acknowledged {
    ids: Mutex<Vec<String>>,
    added: Notify,
}

impl Writers {
    /// Starts writers. The ids of their skills begin with `prefix`.
    pub async fn start(url: &str, count: usize, prefix: &str) -> Self {
        let mut tasks = JoinSet::new();
        let acknowledged = Arc::<Acknowledged>::default();
        for writer in 0..count {
            let peer = Peer::connect(url, &format!("{prefix}-{writer}")).await;
            let (prefix, acknowledged) = (prefix.to_owned(), Arc::clone(&acknowledged));
            tasks.spawn(async move {
                for number in 0.. {
                    let id = format!("{prefix}/{writer}/{number}");
                    let skill = json!({ "id": id, "skill": body(&id) });
                    if peer.call("skills::register", skill).await.is_ok() {
                        acknowledged.ids.lock().unwrap().push(id);
                        acknowledged.added.notify_one();
                    } else {
                        // Most likely no worker serves at this moment.
                        tokio::time::sleep(CHECK_INTERVAL).await;
                    }
                }
            });
        }
        Self {
            tasks,
            acknowledged,
        }
    }

    /// How many writes were acknowledged.
    pub fn count(&self) -> usize {
        self.acknowledged.ids.lock().unwrap().len()
    }

    /// Waits until so many more writes were acknowledged.
    pub async fn wait_for(&self, more: usize) {
        let wanted = self.count() + more;
        let reached = async {
            while self.count() < wanted {
                self.acknowledged.added.notified().await;
            }
        };
        timeout(TIMEOUT, reached).await.expect("writes in time");
    }

    /// Stops the writers; returns the ids of the acknowledged writes.
    pub async fn stop(mut self) -> Vec<String> {
        self.tasks.shutdown().await;
        std::mem::take(&mut *self.acknowledged.ids.lock().unwrap())
    }
}

/// The body of a skill that a writer registers.
fn body(id: &str) -> String {
    format!("# Skill {id}\n\nWritten under load.\n")
}

/// Checks that every acknowledged write can be read.
pub async fn verify(peer: &Peer, acknowledged: &[String]) {
    assert!(!acknowledged.is_empty(), "nothing was acknowledged");
    let ids: HashSet<_> = peer.skill_ids().await.into_iter().collect();
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !ids.contains(*id))
        .collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    for id in acknowledged {
        assert_eq!(peer.read(&format!("iii://{id}")).await.unwrap(), body(id));
    }
}

/// The status line and the body of `/healthz`.
pub async fn healthz(address: SocketAddr) -> (String, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (
        head.lines().next().unwrap().to_owned(),
        serde_json::from_str(body).unwrap(),
    )
}

/// Waits until a condition holds that no event reports.
pub async fn until<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    let held = async {
        while !condition().await {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    };
    timeout(TIMEOUT, held)
        .await
        .unwrap_or_else(|_| panic!("not in time: {what}"));
}
