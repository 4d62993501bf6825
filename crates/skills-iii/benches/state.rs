//! Prints the figures of the state store: durable writes, reads, opening.
//!
//! `cargo bench -p skills-iii --bench state`; `STATE_BENCH_DIR` names the disk to measure.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints figures"
)]

use std::env;
use std::io::Write;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use skills_iii::state::{SqliteState, StoreOptions};
use tempfile::TempDir;

const WRITERS: u32 = 32;
const ROWS: u32 = 10_000;
const ROUNDS: u32 = 5;
const FOR: Duration = Duration::from_millis(800);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let (dir, store) = fresh();
    let (mut disk, mut alone, mut together) = (Rate::default(), Rate::default(), Rate::default());
    // Alternating, because the speed of a shared disk varies.
    for _ in 0..ROUNDS {
        disk += sync(dir.path());
        alone += runtime.block_on(write(&store, 1));
        together += runtime.block_on(write(&store, WRITERS));
    }
    println!(
        "4 KiB append + fsync:      {:>9.0} /s (the disk alone)",
        disk.get()
    );
    println!("set, 1 writer:             {:>9.0} /s", alone.get());
    println!(
        "set, {WRITERS} writers:           {:>9.0} /s",
        together.get()
    );
    println!(
        "ratio:                     {:>9.1} x",
        together.get() / alone.get()
    );
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
    assert!(store.list("s").unwrap().get().len() > ROWS as usize * value().get().len());
    println!("list of {ROWS} x 2 KiB:     {:?}", start.elapsed());
    drop(store);

    let mut times: Vec<_> = (0..50).map(|_| open(dir.path())).collect();
    println!("open, {ROWS} x 2 KiB, p50:  {:?}", at(&mut times, 50));
    println!("open, worst of 50:         {:?}", at(&mut times, 100));
}

/// On the disk of the build by default, because a temporary directory may be in memory.
fn fresh() -> (TempDir, Arc<SqliteState>) {
    let at = env::var("STATE_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").to_owned());
    let dir = tempfile::tempdir_in(at).unwrap();
    let store = Arc::new(SqliteState::open(dir.path(), StoreOptions::default()).unwrap());
    (dir, store)
}

/// A skill of 2 KiB.
fn value() -> Box<RawValue> {
    RawValue::from_string(format!("\"{}\"", "x".repeat(2046))).unwrap()
}

/// Operations and their duration.
#[derive(Default)]
struct Rate(u32, Duration);

impl Rate {
    fn get(&self) -> f64 {
        f64::from(self.0) / self.1.as_secs_f64()
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

/// Durable writes; each writer waits for its last write before the next.
async fn write(store: &Arc<SqliteState>, writers: u32) -> Rate {
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
    Rate(done, start.elapsed())
}

async fn fill(store: &SqliteState) {
    let writes: Vec<_> = (0..ROWS)
        .map(|n| store.set("s".to_owned(), n.to_string(), value()))
        .collect();
    for write in writes {
        write.await.unwrap();
    }
}

fn read(store: &SqliteState) -> Vec<Duration> {
    (0..50_000_u32)
        .map(|n| {
            // Spread over the rows, so that the result does not depend on a cache.
            let key = (n.wrapping_mul(7919) % ROWS).to_string();
            let start = Instant::now();
            assert!(store.get("s", &key).unwrap().is_some());
            start.elapsed()
        })
        .collect()
}

fn open(dir: &Path) -> Duration {
    let start = Instant::now();
    let store = SqliteState::open(dir, StoreOptions::default()).unwrap();
    let took = start.elapsed();
    drop(store);
    took
}

fn sync(dir: &Path) -> Rate {
    let mut file = std::fs::File::create(dir.join("floor")).unwrap();
    let start = Instant::now();
    let mut done = 0_u32;
    while start.elapsed() < FOR {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        done += 1;
    }
    Rate(done, start.elapsed())
}

fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
