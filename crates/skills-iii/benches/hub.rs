//! Measures the hub: `cargo bench -p skills-iii --bench hub`.
//!
//! The hub runs in its own process, the workers in this one, over loopback sockets.
//! `-- --calls N` sets the number of calls of the last run, which counts lost replies (default: a
//! million); `-- --repeat MILLISECONDS` repeats the workers' replies. With `III_ENGINE_WS_URL`
//! set, the same runs are made against the engine there.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use skills_iii::client::{FunctionSpec, Handler};
use skills_iii::state::StoreOptions;
use skills_iii::{Client, ClientOptions, Hub, HubOptions, Raw, SqliteState};
use tempfile::TempDir;
use tokio::net::TcpListener;

const TIMEOUT: Duration = Duration::from_secs(10);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads = if args.iter().any(|arg| arg == "--serve") {
        serve
    } else {
        measure
    };
    threads(&args);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

fn new_hub() -> (TempDir, Hub) {
    let dir = tempfile::tempdir().expect("a directory");
    let state = SqliteState::open(dir.path(), StoreOptions::default()).expect("a store");
    (dir, Hub::new(HubOptions::new(Arc::new(state))))
}

/// Runs the hub: prints its address and serves.
fn serve(_: &[String]) {
    runtime().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        let (_dir, hub) = new_hub();
        hub.serve(listener, std::future::pending()).await;
    });
}

/// A child process that ends with the benchmark.
struct HubProcess(Child);

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

fn start() -> (HubProcess, String) {
    let program = std::env::current_exe().expect("a program");
    let mut child = Command::new(program)
        .arg("--serve")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut line = String::new();
    let out = child.stdout.take().expect("its output");
    BufReader::new(out)
        .read_line(&mut line)
        .expect("its address");
    (HubProcess(child), format!("ws://{}", line.trim()))
}

fn number(args: &[String], name: &str) -> Option<u64> {
    let value = args.get(args.iter().position(|arg| arg == name)? + 1)?;
    Some(value.parse().expect("a number"))
}

fn measure(args: &[String]) {
    let calls = number(args, "--calls").unwrap_or(1_000_000);
    let options = ClientOptions {
        repeat_reply: number(args, "--repeat").map(Duration::from_millis),
        ..ClientOptions::default()
    };
    runtime().block_on(async {
        let (served, url) = start();
        println!("embedded hub, over sockets");
        let hub = served.0.id();
        run(&url, Some(hub), calls, &options).await;
        println!("  the hub holds {:.1} MiB at the end", resident(hub));
        drop(served);

        println!("embedded hub, in process");
        let (_dir, hub) = new_hub();
        let (worker, caller) = (hub.attach("worker"), hub.attach("caller"));
        offer(&worker, &caller).await;
        sequential("no-op call", &caller, "bench::noop", &raw("{}"), 50_000).await;
        concurrent(
            "no-op call",
            &caller,
            "bench::noop",
            &raw("{}"),
            32,
            500_000,
        )
        .await;

        if let Ok(url) = std::env::var("III_ENGINE_WS_URL") {
            println!("the engine at {url}");
            run(&url, None, calls, &options).await;
        }
    });
}

async fn run(url: &str, hub: Option<u32>, calls: u64, options: &ClientOptions) {
    let connect = |name: &str| {
        let options = ClientOptions {
            name: name.to_owned(),
            ..options.clone()
        };
        Client::connect(url, options).expect("an address that can be used")
    };
    if let Some(pid) = hub {
        let before = resident(pid);
        let idle: Vec<_> = (0..100)
            .map(|number| connect(&format!("idle-{number}")))
            .collect();
        for client in &idle {
            client.wait_connected().await.expect("a connection");
        }
        let after = resident(pid);
        println!("  100 idle workers       {after:.1} MiB resident ({before:.1} without them)");
    }
    let (worker, caller) = (connect("bench-worker"), connect("bench-caller"));
    offer(&worker, &caller).await;
    let row = r#"{"scope":"bench","key":"k","value":{"title":"t"}}"#;
    caller
        .call("state::set", raw(row), TIMEOUT)
        .await
        .expect("a write");
    let get = raw(r#"{"scope":"bench","key":"k"}"#);

    sequential("warm up", &caller, "bench::noop", &raw("{}"), 5_000).await;
    let noop = sequential("no-op call", &caller, "bench::noop", &raw("{}"), 20_000).await;
    let read = sequential("state::get", &caller, "state::get", &get, 20_000).await;
    println!(
        "  state::get is {:.2} of a no-op call",
        read.as_secs_f64() / noop.as_secs_f64()
    );
    for size in [2 << 10, 32 << 10, 256 << 10] {
        let payload = raw(&format!(r#"["{}"]"#, "x".repeat(size)));
        let name = format!("echo {} KiB", size >> 10);
        sequential(&name, &caller, "bench::echo", &payload, 1_000).await;
        concurrent(&name, &caller, "bench::echo", &payload, 32, 5_000).await;
    }
    for in_flight in [32, 128] {
        concurrent(
            "no-op call",
            &caller,
            "bench::noop",
            &raw("{}"),
            in_flight,
            200_000,
        )
        .await;
    }
    concurrent("state::get", &caller, "state::get", &get, 32, 200_000).await;
    concurrent(
        "lost replies",
        &caller,
        "bench::noop",
        &raw("{}"),
        64,
        calls,
    )
    .await;
}

async fn offer(worker: &Client, caller: &Client) {
    let noop: Handler = Arc::new(|_| Box::pin(async { Ok(None) }));
    let echo: Handler = Arc::new(|payload| Box::pin(async { Ok(Some(payload)) }));
    for (id, handler) in [("bench::noop", noop), ("bench::echo", echo)] {
        let spec = FunctionSpec {
            id: id.to_owned(),
            ..FunctionSpec::default()
        };
        worker.register_function(spec, handler);
    }
    caller.wait_connected().await.expect("a connection");
    let offered = async {
        while caller
            .call("bench::echo", raw("[]"), TIMEOUT)
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, offered)
        .await
        .expect("the functions");
}

async fn sequential(name: &str, caller: &Client, id: &str, payload: &Raw, calls: u32) -> Duration {
    let mut took = Vec::new();
    let mut lost = 0;
    for _ in 0..calls {
        let asked = Instant::now();
        match caller.call(id, payload.clone(), TIMEOUT).await {
            Ok(_) => took.push(asked.elapsed()),
            Err(_) => lost += 1,
        }
    }
    took.sort_unstable();
    let at = |part: usize| took[took.len() * part / 100];
    let (half, most, longest) = (at(50), at(99), took[took.len() - 1]);
    println!(
        "  {name:<14} one by one   p50 {half:>9.1?}  p99 {most:>9.1?}  max {longest:>9.1?}  lost {lost}"
    );
    half
}

async fn concurrent(name: &str, caller: &Client, id: &str, payload: &Raw, width: u64, calls: u64) {
    let left = Arc::new(AtomicU64::new(calls));
    let lost = Arc::new(AtomicU64::new(0));
    let (began, worked) = (Instant::now(), processor_time());
    let mut lanes = tokio::task::JoinSet::new();
    for _ in 0..width {
        let (caller, id, payload) = (caller.clone(), id.to_owned(), payload.clone());
        let (left, lost) = (Arc::clone(&left), Arc::clone(&lost));
        lanes.spawn(async move {
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                if caller.call(&id, payload.clone(), TIMEOUT).await.is_err() {
                    lost.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    while lanes.join_next().await.is_some() {}
    let took = began.elapsed();
    #[expect(
        clippy::cast_precision_loss,
        reason = "the precision suffices for a rate"
    )]
    let rate = calls as f64 / took.as_secs_f64();
    let lost = lost.load(Ordering::Relaxed);
    let worked = processor_time().saturating_sub(worked) / u32::try_from(calls).unwrap_or(u32::MAX);
    println!(
        "  {name:<14} {width:>3} in flight {rate:>9.0} calls/s  {worked:>7.1?} of processor each  ({calls} calls, lost {lost})"
    );
}

/// The processor time of this process and its children, which is more reliable than a rate on a
/// busy machine.
fn processor_time() -> Duration {
    let own = std::process::id().to_string();
    let mut ticks = 0;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((pid, rest)) = stat.split_once(' ') else {
            continue;
        };
        let fields: Vec<_> = rest
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest)
            .split_whitespace()
            .collect();
        if pid == own || fields.get(1) == Some(&own.as_str()) {
            let of = |at: usize| {
                fields
                    .get(at)
                    .and_then(|n| n.parse::<u64>().ok())
                    .unwrap_or(0)
            };
            ticks += of(11) + of(12);
        }
    }
    // Linux counts a hundred ticks a second.
    Duration::from_millis(ticks * 10)
}

/// Resident memory of a process in MiB.
fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or_default();
    let kib = line
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

fn raw(text: &str) -> Raw {
    RawValue::from_string(text.to_owned()).expect("JSON")
}
