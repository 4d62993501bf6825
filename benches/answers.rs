//! Counts lost replies: many calls to a skills worker, 32 at a time.
//!
//! `III_ENGINE_WS_URL` names an engine with a skills worker; without it, an embedded one is
//! started. `CALLS` sets the number of calls (100,000).

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "prints its measurements"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use serde_json::value::to_raw_value;
use skills::app;
use skills::config::LoadedConfig;
use skills::engine::remote;
use skills_iii::limits::MAX_ENGINE_MESSAGE_BYTES;
use skills_iii::{Client, ClientOptions};
use skills_test_support::engine::TestEngine;

/// A reply that takes longer counts as lost.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
const IN_FLIGHT: usize = 32;

#[tokio::main]
async fn main() {
    let calls = std::env::var("CALLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100_000);
    let (_engine, url) = if let Ok(url) = std::env::var("III_ENGINE_WS_URL") {
        (None, url)
    } else {
        let (engine, url) = start().await;
        (Some(engine), url)
    };
    let client = Client::connect(&url, ClientOptions::named("answers")).unwrap();
    client.wait_connected().await.unwrap();
    let register = json!({ "id": "answers", "skill": "# Answers\n\nA skill to read." });
    let register = to_raw_value(&register).unwrap();
    while client
        .call("skills::register", register.clone(), REPLY_TIMEOUT)
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
                        .call(function, payload.clone(), REPLY_TIMEOUT)
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

/// An engine and a skills worker on it, over a socket.
async fn start() -> (TestEngine, String) {
    let engine = TestEngine::start().await;
    let url = engine.url.clone();
    let worker = remote::connect_worker(&url, None, MAX_ENGINE_MESSAGE_BYTES).unwrap();
    tokio::spawn(async move {
        app::work(worker, &LoadedConfig::default(), std::future::pending()).await;
    });
    (engine, url)
}
