//! The registry over a socket, as ratios to a function that does nothing and one that returns the same
//! result, on the same engine in the same run.
//!
//! Starts `skills serve`. `III_ENGINE_WS_URL` names another engine that has a skills worker.
//! `SKILLS_COUNT` sets the number of skills.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "prints its measurements"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::{Client, ClientOptions};
use skills_test_support::TIMEOUT;
use skills_test_support::process::SkillsProcess;
use tokio::sync::Notify;

const BODY: usize = 2048;

struct Bench {
    caller: Client,
    worker: Client,
}

impl Bench {
    async fn call(&self, function: &str, payload: Value) -> Box<RawValue> {
        let payload = to_raw_value(&payload).unwrap();
        let answer = self.caller.call(function, payload, TIMEOUT).await.unwrap();
        answer.unwrap_or_else(|| RawValue::NULL.to_owned())
    }

    /// The median time of `rounds` calls, in microseconds.
    async fn median(&self, rounds: usize, function: &str, payload: Value) -> f64 {
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let start = Instant::now();
            self.call(function, payload.clone()).await;
            times.push(start.elapsed());
        }
        median(times)
    }

    /// The median time of a function that returns the same result.
    async fn floor(&self, rounds: usize, answer: Box<RawValue>) -> f64 {
        let id = format!("bench::give_{}", answer.get().len());
        register_function(
            &self.worker,
            &id,
            Arc::new(move |_| Box::pin(std::future::ready(Ok(Some(answer.clone()))))),
        );
        self.wait_until_registered(&id).await;
        self.median(rounds, &id, json!({})).await
    }

    async fn wait_until_registered(&self, id: &str) {
        loop {
            let payload = to_raw_value(&json!({})).unwrap();
            match self.caller.call(id, payload, TIMEOUT).await {
                Ok(_) => return,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn register_function(client: &Client, id: &str, handler: Handler) {
    client.register_function(
        FunctionSpec {
            id: id.into(),
            ..FunctionSpec::default()
        },
        handler,
    );
}

fn line(what: &str, ours: f64, floor: f64, most: f64) {
    println!(
        "{what:<44} {ours:>10.0} us  floor {floor:>10.0} us  ratio {:>5.2} (at most {most})",
        ours / floor
    );
}

fn document(number: usize) -> String {
    let mut text = format!("# Skill {number}\n\nWhen to use tool number {number} and why.\n\n");
    while text.len() < BODY {
        text.push_str("A paragraph with `code`, *emphasis* and a [link](iii://skills).\n\n");
    }
    text.truncate(BODY);
    text
}

#[tokio::main]
async fn main() {
    let count = std::env::var("SKILLS_COUNT")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(10_000);
    let (_serve, url) = if let Ok(url) = std::env::var("III_ENGINE_WS_URL") {
        (None, url)
    } else {
        let data = tempfile::tempdir().unwrap();
        let (serve, addresses) = SkillsProcess::serve(data.path(), &[]).await;
        (Some((serve, data)), addresses.url)
    };
    let worker = ClientOptions {
        // Other engines lose some replies of a worker as fast as this one.
        repeat_reply: Some(Duration::from_millis(10)),
        ..ClientOptions::named("bench-worker")
    };
    let bench = Bench {
        caller: Client::connect(&url, ClientOptions::named("bench-caller")).unwrap(),
        worker: Client::connect(&url, worker).unwrap(),
    };
    bench.caller.wait_connected().await.unwrap();
    bench.worker.wait_connected().await.unwrap();
    register_function(
        &bench.worker,
        "bench::noop",
        Arc::new(|_| Box::pin(std::future::ready(Ok(None)))),
    );
    bench.wait_until_registered("bench::noop").await;
    bench.wait_until_registered("skills::list").await;
    fill(&bench, count).await;
    reads(&bench, count).await;
    writes(&bench).await;
    versions(&bench).await;
    prompts(&bench).await;
}

async fn fill(bench: &Bench, count: usize) {
    let start = Instant::now();
    let mut next = 0;
    let mut work = tokio::task::JoinSet::new();
    while next < count || !work.is_empty() {
        if next < count && work.len() < 32 {
            let caller = bench.caller.clone();
            let id = format!("g{}/s{next}", next % 100);
            let payload = to_raw_value(&json!({ "id": id, "skill": document(next) })).unwrap();
            work.spawn(async move {
                caller
                    .call("skills::register", payload, TIMEOUT)
                    .await
                    .unwrap()
            });
            next += 1;
        } else {
            work.join_next().await;
        }
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    println!("{count} skills registered, 32 at a time: {rate:.0}/s");
}

async fn reads(bench: &Bench, count: usize) {
    let rounds = if count > 20_000 { 30 } else { 200 };
    for (what, function, payload) in [
        ("skills::list", "skills::list", json!({})),
        ("resources-list", "skills::resources-list", json!({})),
        (
            "iii://skills",
            "skills::resources-read",
            json!({ "uri": "iii://skills" }),
        ),
    ] {
        let answer = bench.call(function, payload.clone()).await;
        let bytes = answer.get().len();
        let floor = bench.floor(rounds, answer).await;
        let ours = bench.median(rounds, function, payload).await;
        line(&format!("{what} ({bytes} bytes)"), ours, floor, 1.5);
    }
    let payload = json!({ "uri": "iii://g7/s7" });
    let answer = bench.call("skills::resources-read", payload.clone()).await;
    let floor = bench.floor(5000, answer).await;
    let ours = bench.median(5000, "skills::resources-read", payload).await;
    line("iii://{id} (2 KiB)", ours, floor, 1.3);
}

async fn writes(bench: &Bench) {
    let register = json!({ "id": "g7/s7", "skill": document(7) });
    let row = json!({ "scope": "bench", "key": "k", "value": register });
    let noop = bench.median(3000, "bench::noop", json!({})).await;
    let set = bench.median(500, "state::set", row).await;
    let mut times = Vec::new();
    for _ in 0..500 {
        times.push(acknowledged(bench, &register).await);
    }
    let alone = median(times);
    println!("no-op {noop:.0} us, state::set {set:.0} us");
    line("skills::register", alone, noop + set, 1.3);

    let received = Arc::new(AtomicUsize::new(0));
    let all = Arc::new(Notify::new());
    for n in 0..10 {
        let (received, all) = (Arc::clone(&received), Arc::clone(&all));
        let id = format!("bench::hear_{n}");
        register_function(
            &bench.worker,
            &id,
            Arc::new(move |_| {
                if received.fetch_add(1, Ordering::SeqCst) % 10 == 9 {
                    all.notify_one();
                }
                Box::pin(std::future::ready(Ok(None)))
            }),
        );
        bench.worker.register_trigger(TriggerSpec {
            id: uuid::Uuid::new_v4().to_string(),
            trigger_type: "skills::on-change".into(),
            function_id: id,
            config: to_raw_value(&json!({})).unwrap(),
            metadata: None,
            ..TriggerSpec::default()
        });
    }
    // The subscriptions are in place when a change reaches all ten.
    loop {
        bench.call("skills::register", register.clone()).await;
        if tokio::time::timeout(Duration::from_millis(500), all.notified())
            .await
            .is_ok()
        {
            break;
        }
    }
    received.store(0, Ordering::SeqCst);
    let (mut acks, mut deliveries) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        acks.push(acknowledged(bench, &register).await);
        let acked = Instant::now();
        all.notified().await;
        deliveries.push(acked.elapsed());
    }
    line(
        "ack with 10 subscribers, against none",
        median(acks),
        alone,
        1.2,
    );
    line(
        "delivery to all 10 after the ack",
        median(deliveries),
        noop,
        3.0,
    );
}

/// The time of one registration, after everything of the one before has been handled.
async fn acknowledged(bench: &Bench, register: &Value) -> Duration {
    for _ in 0..3 {
        bench.call("bench::noop", json!({})).await;
    }
    let start = Instant::now();
    bench.call("skills::register", register.clone()).await;
    start.elapsed()
}

/// What a version costs: registrations that change the text, against those that do not and make
/// none. By turns, because other programs run on the machine.
async fn versions(bench: &Bench) {
    let (mut changed, mut same) = (Vec::new(), Vec::new());
    let mut text = document(7);
    for round in 0..500 {
        text.replace_range(..12, &format!("# S {round:08}"));
        let register = json!({ "id": "g7/s7", "skill": text });
        changed.push(acknowledged(bench, &register).await);
        same.push(acknowledged(bench, &register).await);
    }
    line(
        "register a change, against no change",
        median(changed),
        median(same),
        1.5,
    );
    let (mut changed, mut same) = (Vec::new(), Vec::new());
    for round in 0..40 {
        // The same texts twice: the second time nothing changes.
        changed.push(register_100(bench, round).await);
        same.push(register_100(bench, round).await);
    }
    line(
        "the same, 100 of them 32 at a time",
        median(changed),
        median(same),
        1.5,
    );
}

async fn register_100(bench: &Bench, round: usize) -> Duration {
    let start = Instant::now();
    let calls = futures_util::stream::iter((0..100).map(|number| {
        let mut text = document(number);
        text.replace_range(..12, &format!("# S {round:08}"));
        bench.call(
            "skills::register",
            json!({ "id": format!("g{number}/s{number}"), "skill": text }),
        )
    }));
    let mut calls = calls.buffer_unordered(32);
    while calls.next().await.is_some() {}
    start.elapsed()
}

async fn prompts(bench: &Bench) {
    register_function(
        &bench.worker,
        "bench::prompt",
        Arc::new(|_| Box::pin(std::future::ready(Ok(Some(to_raw_value(&"Hi").unwrap()))))),
    );
    bench.wait_until_registered("bench::prompt").await;
    let prompt = json!({ "name": "bench", "description": "d", "function_id": "bench::prompt" });
    bench.call("prompts::register", prompt).await;
    let noop = bench.median(3000, "bench::noop", json!({})).await;
    let ours = bench
        .median(3000, "prompts::mcp-get", json!({ "name": "bench" }))
        .await;
    line(
        "prompts::mcp-get, against two no-ops",
        ours,
        noop * 2.0,
        1.3,
    );
}
