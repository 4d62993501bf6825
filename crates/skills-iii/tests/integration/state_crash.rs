//! No acknowledged write is lost when a process that writes under load is killed.

use std::collections::HashMap;
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use skills_iii::state::{SqliteState, StoreOptions};

const KILLS: u64 = 70;
const WRITERS: usize = 16;
/// Long enough for hundreds of writes to a busy disk.
const TIMEOUT: Duration = Duration::from_mins(2);
const DIR: &str = "STATE_CRASH_DIR";
const ROUND: &str = "STATE_CRASH_ROUND";

/// The expected state of a key after the acknowledgements that were read.
#[derive(Debug)]
enum Promise {
    /// It has this value, which is never overwritten.
    Is(String),
    /// It is a number of at least this value.
    AtLeast(u64),
    /// It was deleted.
    Gone,
}

#[test]
fn every_acknowledged_write_survives_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = HashMap::new();
    let mut early = 0;
    for round in 0..KILLS {
        let wanted = RandomState::new().hash_one(round) % 600;
        let promises = write_until_killed(dir.path(), round, wanted);
        early += u64::from(promises.is_empty());
        let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        verify(&store, &promises);
        all.extend(promises);
    }
    let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
    verify(&store, &all);
    assert!(
        early < KILLS / 2,
        "most rounds must have acknowledged something"
    );
    assert!(all.len() > 1000, "only {} keys under test", all.len());
    let damage: String = rusqlite::Connection::open(dir.path().join("state.db"))
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(damage, "ok");
}

#[test]
fn a_kill_while_the_file_is_created_leaves_a_file_that_opens() {
    // Each file appears at a different step of the first open.
    let signs = ["state.db", "state.db-journal", "state.db-wal"];
    for (round, sign) in (0..30).zip(signs.iter().cycle()) {
        let dir = tempfile::tempdir().unwrap();
        let mut child = start(dir.path(), round);
        let start = Instant::now();
        // The journal exists only for a moment and may be missed.
        while !dir.path().join(sign).exists() && !dir.path().join("state.db-shm").exists() {
            assert!(start.elapsed() < TIMEOUT, "no {sign} in time");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        store.list("s").unwrap();
    }
}

fn start(dir: &Path, round: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "state_crash::the_process_that_is_killed",
            "--nocapture",
        ])
        .env(DIR, dir)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn write_until_killed(dir: &Path, round: u64, wanted: u64) -> HashMap<String, Promise> {
    let mut child = start(dir, round);
    let lines = lines_of(child.stdout.take().unwrap());
    let start = Instant::now();
    let mut promises = HashMap::new();
    let mut acknowledged = 0;
    // Zero: the child is killed while it starts.
    while acknowledged < wanted {
        assert!(start.elapsed() < TIMEOUT, "the child is too slow");
        let line = lines
            .recv_timeout(TIMEOUT)
            .expect("the child acknowledges in time");
        acknowledged += u64::from(note(&line, &mut promises));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Acknowledgements that were still in the pipe count too.
    while let Ok(line) = lines.recv_timeout(TIMEOUT) {
        note(&line, &mut promises);
    }
    promises
}

/// The complete lines of the output.
fn lines_of(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
            if sender.send(std::mem::take(&mut line)).is_err() {
                break;
            }
        }
    });
    lines
}

/// Parses one line; returns whether it was an acknowledgement.
fn note(line: &str, promises: &mut HashMap<String, Promise>) -> bool {
    let words: Vec<_> = line.split_whitespace().collect();
    let promise = match words[..] {
        ["is", _, value] => Promise::Is(value.to_owned()),
        ["count", _, n] => Promise::AtLeast(n.parse().unwrap()),
        ["gone", _] => Promise::Gone,
        // The test harness of the child also prints lines.
        _ => return false,
    };
    promises.insert(words[1].to_owned(), promise);
    true
}

fn verify(store: &SqliteState, promises: &HashMap<String, Promise>) {
    for (key, promise) in promises {
        let value = store
            .get("s", key)
            .unwrap()
            .map(|value| value.get().to_owned());
        let kept = match promise {
            Promise::Is(expected) => value.as_ref() == Some(expected),
            Promise::AtLeast(n) => value
                .as_ref()
                .is_some_and(|v| v.parse::<u64>().unwrap() >= *n),
            Promise::Gone => value.is_none(),
        };
        assert!(kept, "{key}: promised {promise:?}, found {value:?}");
    }
}

#[test]
#[ignore = "the child of `every_acknowledged_write_survives_kill_9`; does nothing by itself"]
fn the_process_that_is_killed() {
    let (Ok(dir), Ok(round)) = (env::var(DIR), env::var(ROUND)) else {
        return;
    };
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(async {
            let store =
                Arc::new(SqliteState::open(Path::new(&dir), StoreOptions::default()).unwrap());
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    tokio::spawn(write_forever(Arc::clone(&store), round.clone(), writer))
                })
                .collect();
            for writer in writers {
                writer.await.unwrap();
            }
        });
}

async fn write_forever(store: Arc<SqliteState>, round: String, writer: usize) {
    let scope = || "s".to_owned();
    let counter = format!("counter-{round}-{writer}");
    for n in 1_u64.. {
        let key = format!("{round}-{writer}-{n}");
        let value = format!("\"{key}{}\"", "x".repeat(200));
        store.set(scope(), key.clone(), json(&value)).await.unwrap();
        print_line(&format!("is {key} {value}"));

        store
            .set(scope(), counter.clone(), json(&n.to_string()))
            .await
            .unwrap();
        print_line(&format!("count {counter} {n}"));

        let passing = format!("passing-{key}");
        store
            .set(scope(), passing.clone(), json(&value))
            .await
            .unwrap();
        store.delete(scope(), passing.clone()).await.unwrap();
        print_line(&format!("gone {passing}"));
    }
}

fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// Writes to the pipe without a buffer, whose content a kill would lose.
fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
