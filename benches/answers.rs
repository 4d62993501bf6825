//! Counts the answers that never come: many calls to a skills worker, 32 at a time.
//!
//! `III_ENGINE_WS_URL` names an engine with a skills worker on it; without it, one of
//! our own is started. `CALLS` changes how many (100,000).

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a program that prints figures for people"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use serde_json::value::to_raw_value;
use skills::app;
use skills::config::LoadedConfig;
use skills::engine::remote;
use skills_iii::{Client, ClientOptions, Hub, HubOptions, MemoryState};
use tokio::net::TcpListener;

/// An answer that takes longer is lost.
const LOST_AFTER: Duration = Duration::from_secs(10);
const IN_FLIGHT: usize = 32;

#[tokio::main]
async fn main() {
    let calls = std::env::var("CALLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100_000);
    let url = match std::env::var("III_ENGINE_WS_URL") {
        Ok(url) => url,
        Err(_) => start().await,
    };
    let client = Client::connect(&url, ClientOptions::named("answers")).unwrap();
    client.wait_connected().await.unwrap();
    let register = json!({ "id": "answers", "skill": "# Answers\n\nA skill to read." });
    let register = to_raw_value(&register).unwrap();
    while client
        .call("skills::register", register.clone(), LOST_AFTER)
        .await
        .is_err()
    {
        tokio::task::yield_now().await;
    }
    for (function, payload) in [
        ("skills::resources-templates", json!({})),
        ("skills::resources-read", json!({ "uri": "iii://answers" })),
    ] {
        let (next, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let start = Instant::now();
        let mut work = tokio::task::JoinSet::new();
        for _ in 0..IN_FLIGHT {
            let (client, next, lost) = (client.clone(), Arc::clone(&next), Arc::clone(&lost));
            let payload = to_raw_value(&payload).unwrap();
            work.spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < calls / 2 {
                    if client
                        .call(function, payload.clone(), LOST_AFTER)
                        .await
                        .is_err()
                    {
                        lost.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        work.join_all().await;
        let rate = (calls / 2) as f64 / start.elapsed().as_secs_f64();
        println!(
            "{function}: {} calls, {} lost, {rate:.0}/s",
            calls / 2,
            lost.load(Ordering::Relaxed)
        );
    }
}

/// An engine and a worker on it, over a socket.
async fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let hub = Hub::new(HubOptions::new(Arc::new(MemoryState::default())));
    tokio::spawn(async move { hub.serve(listener, std::future::pending()).await });
    let worker = remote::connect_worker(&url, None).unwrap();
    tokio::spawn(async move {
        app::work(worker, &LoadedConfig::default(), std::future::pending()).await
    });
    url
}
