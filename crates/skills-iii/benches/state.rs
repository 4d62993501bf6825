//! Prints the figures of the state store: durable writes, reads, opening.
//!
//! `cargo bench -p skills-iii --bench state`; `STATE_BENCH_DIR` names the disk to measure.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints figures"
)]

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use skills_iii::state::{Store, StoreOptions};
use tempfile::TempDir;

const WRITERS: u32 = 32;
const ROWS: u32 = 10_000;
const FOR: Duration = Duration::from_secs(3);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let (dir, store) = fresh();
    let alone = runtime.block_on(write(&store, 1));
    println!("set, 1 writer:             {alone:>9.0} /s");
    let together = runtime.block_on(write(&store, WRITERS));
    println!("set, {WRITERS} writers:           {together:>9.0} /s");
    println!("ratio:                     {:>9.1} x", together / alone);
    drop((dir, store));

    let (dir, store) = fresh();
    runtime.block_on(fill(&store));
    let mut times = read(&store);
    println!(
        "get, p50 / p99:            {:?} / {:?}",
        at(&mut times, 50),
        at(&mut times, 99)
    );
    let start = Instant::now();
    assert_eq!(store.list("s").unwrap().len(), ROWS as usize);
    println!("list of {ROWS} x 2 KiB:     {:?}", start.elapsed());
    drop(store);

    let mut times: Vec<_> = (0..50).map(|_| open(dir.path())).collect();
    println!("open, {ROWS} x 2 KiB, p50:  {:?}", at(&mut times, 50));
    println!("open, worst of 50:         {:?}", at(&mut times, 100));

    let floor = sync_rate(dir.path());
    println!("4 KiB append + fsync:      {floor:>9.0} /s (the disk itself)");
}

/// On the disk of the build by default: a temporary directory may be memory.
fn fresh() -> (TempDir, Arc<Store>) {
    let at = env::var("STATE_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").to_owned());
    let dir = tempfile::tempdir_in(at).unwrap();
    let store = Arc::new(Store::open(dir.path(), StoreOptions::default()).unwrap());
    (dir, store)
}

/// A skill of 2 KiB.
fn value() -> Box<RawValue> {
    RawValue::from_string(format!("\"{}\"", "x".repeat(2046))).unwrap()
}

/// Durable writes per second; each writer waits for its own before the next.
async fn write(store: &Arc<Store>, writers: u32) -> f64 {
    let start = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut done = 0_u32;
                while start.elapsed() < FOR {
                    let key = format!("{writer}-{}", done % 300);
                    store.set("s".to_owned(), key, value()).await.unwrap();
                    done += 1;
                }
                done
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    f64::from(done) / start.elapsed().as_secs_f64()
}

async fn fill(store: &Store) {
    let writes: Vec<_> = (0..ROWS)
        .map(|n| store.set("s".to_owned(), n.to_string(), value()))
        .collect();
    for write in writes {
        write.await.unwrap();
    }
}

fn read(store: &Store) -> Vec<Duration> {
    (0..50_000_u32)
        .map(|n| {
            // Spread over the rows, so that no cache is flattered.
            let key = (n.wrapping_mul(7919) % ROWS).to_string();
            let start = Instant::now();
            assert!(store.get("s", &key).unwrap().is_some());
            start.elapsed()
        })
        .collect()
}

fn open(dir: &Path) -> Duration {
    let start = Instant::now();
    let store = Store::open(dir, StoreOptions::default()).unwrap();
    let took = start.elapsed();
    drop(store);
    took
}

fn sync_rate(dir: &Path) -> f64 {
    use std::io::Write;
    let mut file = std::fs::File::create(dir.join("floor")).unwrap();
    let start = Instant::now();
    let mut done = 0_u32;
    while start.elapsed() < FOR {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        done += 1;
    }
    f64::from(done) / start.elapsed().as_secs_f64()
}

fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
