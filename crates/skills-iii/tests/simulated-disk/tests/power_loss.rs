//! Power loss: a store keeps every acknowledged write, whatever the disk loses of the others.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::value::RawValue;
use simulated_disk::{Disk, Random};
use skills_iii::state::{FILE_NAME, SqliteState, StoreOptions};

const SCOPE: &str = "s";

/// How many cuts one disk lives through.
const CUTS_PER_DISK: u64 = 20;

type Rows = BTreeMap<String, String>;

#[tokio::test]
async fn nothing_acknowledged_is_lost_in_a_power_cut() {
    assert!(cut_the_power(0..60).await > 500);
}

#[tokio::test]
#[ignore = "slow: just campaign"]
async fn nothing_acknowledged_is_lost_in_1000_power_cuts() {
    assert!(cut_the_power(1000..2000).await > 10_000);
}

/// Cuts the power once for every seed. Returns how many writes were acknowledged.
async fn cut_the_power(seeds: std::ops::Range<u64>) -> usize {
    let mut acknowledged = 0;
    let seeds: Vec<_> = seeds.collect();
    for seeds in seeds.chunks(usize::try_from(CUTS_PER_DISK).unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::install(dir.path());
        // What the store may have: one of these.
        let mut possible = vec![Rows::new()];
        for seed in seeds {
            let mut random = Random::new(*seed);
            // Small numbers hit opening and recovery, large ones checkpoints and closing.
            let end = 1 << (3 + random.below(9));
            disk.cut_after(random.below(end));
            acknowledged += live(dir.path(), &disk, &mut possible, &mut random, *seed).await;
            disk.restart(&mut random);
        }
        let store = open(dir.path()).expect("a store on a disk with power");
        check(&store, &mut possible, seeds.last());
        store.close();
    }
    acknowledged
}

/// Opens the store, compares it, and writes until the power is cut or the work is done. Returns
/// how many writes were acknowledged.
async fn live(
    dir: &Path,
    disk: &Disk,
    possible: &mut Vec<Rows>,
    random: &mut Random,
    seed: u64,
) -> usize {
    let store = match open(dir) {
        Ok(store) => store,
        Err(error) => {
            assert!(disk.is_off(), "seed {seed}: {error}");
            return 0;
        }
    };
    if !check_if_on(dir, disk, &store, possible, seed) {
        return 0;
    }
    let mut acknowledged = 0;
    let mut waiting = Vec::new();
    for n in 0..random.below(80) {
        let key = random.below(30).to_string();
        let value = random.below(6).checked_sub(1).map(|size| {
            let text = "x".repeat(usize::try_from(random.below(1 << (4 + 3 * size))).unwrap());
            format!("\"{seed}.{n} {text}\"")
        });
        let written = match &value {
            Some(text) => {
                let value = RawValue::from_string(text.clone()).unwrap();
                store.set(SCOPE.into(), key.clone(), value)
            }
            None => store.delete(SCOPE.into(), key.clone()),
        };
        let mut rows = possible.last().unwrap().clone();
        match value {
            Some(value) => rows.insert(key, value),
            None => rows.remove(&key),
        };
        possible.push(rows);
        waiting.push(written);
        // Sometimes alone, sometimes many in one transaction.
        if random.chance(4) && !acknowledge(&mut waiting, &mut acknowledged, disk, seed).await {
            break;
        }
    }
    acknowledge(&mut waiting, &mut acknowledged, disk, seed).await;
    if random.chance(2) {
        store.close();
    } else if !disk.is_off() {
        disk.cut_after(0);
    }
    drop(store);
    // Writes are committed in the order of the calls, so the store has a prefix of them.
    possible.drain(..acknowledged);
    acknowledged
}

/// Waits for the writes; returns whether all were acknowledged.
async fn acknowledge<F, T, E>(
    waiting: &mut Vec<F>,
    acknowledged: &mut usize,
    disk: &Disk,
    seed: u64,
) -> bool
where
    F: Future<Output = Result<T, E>>,
    E: std::fmt::Display,
{
    for written in waiting.drain(..) {
        match written.await {
            Ok(_) => *acknowledged += 1,
            Err(error) => {
                assert!(disk.is_off(), "seed {seed}: {error}");
                return false;
            }
        }
    }
    true
}

fn open(dir: &Path) -> Result<SqliteState, skills_iii::state::StateError> {
    // A short log, so that it is pruned.
    let options = StoreOptions {
        log_len: 20,
        ..StoreOptions::default()
    };
    SqliteState::open(dir, options)
}

/// Compares the store with what it may have, unless the power is cut before that is known.
fn check_if_on(
    dir: &Path,
    disk: &Disk,
    store: &SqliteState,
    possible: &mut Vec<Rows>,
    seed: u64,
) -> bool {
    let sound = Connection::open(dir.join(FILE_NAME)).and_then(|connection| {
        connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
    });
    let rows = rows(store);
    if disk.is_off() {
        return false;
    }
    assert_eq!(sound.unwrap(), "ok", "seed {seed}");
    rows.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    check(store, possible, Some(&seed));
    true
}

fn check(store: &SqliteState, possible: &mut Vec<Rows>, seed: Option<&u64>) {
    let rows = rows(store).unwrap();
    assert!(
        possible.contains(&rows),
        "before seed {seed:?}: the store has {:?}, and none of {} prefixes of the writes matches",
        rows.keys(),
        possible.len()
    );
    *possible = vec![rows];
}

fn rows(store: &SqliteState) -> Result<Rows, skills_iii::state::StateError> {
    let mut rows = Rows::new();
    store.for_each_row(SCOPE, &mut |(key, text)| {
        rows.insert(key.to_owned(), text.unwrap().to_owned());
    })?;
    Ok(rows)
}
