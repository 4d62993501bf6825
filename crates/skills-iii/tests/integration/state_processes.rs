//! Several processes on one directory: no write is lost, and each process gets the events of the others.

use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::value::RawValue;
use skills_iii::state::{Changes, SqliteState, StateChange, StoreOptions};
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_mins(1);
const DIR: &str = "STATE_PROCESSES_DIR";
const ROLE: &str = "STATE_PROCESSES_ROLE";
const ROWS: usize = 300;
const COUNTS: usize = 100;

#[tokio::test]
async fn concurrent_writers_lose_nothing_and_every_write_is_published_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(open(dir.path()));
    let mut changes = store.changes();
    let mut children = [
        child(dir.path(), "write one"),
        child(dir.path(), "write two"),
    ];
    write_rows(Arc::clone(&store), "here").await;
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }

    assert_eq!(count(&store, "rows"), 3 * ROWS);
    let counted = store.get("shared", "counter").unwrap().unwrap();
    assert_eq!(counted.get(), (3 * COUNTS).to_string());

    let mut rows = HashMap::new();
    let mut count = 0;
    for _ in 0..3 * (ROWS + COUNTS) {
        let (scope, key, old, new) = next(&mut changes).await;
        if scope == "rows" {
            assert_eq!((&old, &new), (&None, &Some(format!("\"{key}\""))));
            *rows.entry(key).or_insert(0) += 1;
        } else {
            let before = (count > 0).then(|| count.to_string());
            count += 1;
            assert_eq!(
                (old, new),
                (before, Some(count.to_string())),
                "in commit order"
            );
        }
    }
    assert_eq!(rows.len(), 3 * ROWS);
    assert!(rows.values().all(|times| *times == 1), "each once");
    store.close();
    assert!(
        timeout(TIMEOUT, changes.recv()).await.unwrap().is_none(),
        "no further event"
    );
}

#[tokio::test]
async fn processes_get_the_events_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut watcher = child(dir.path(), "watch");
    let lines = lines_of(watcher.stdout.take().unwrap());
    expect(&lines, "watching");
    let mut changes = store.changes();
    set(&store, "s", "a", "1").await;
    expect(&lines, r#"Some("s/a") None Some("1")"#);
    set(&store, "s", "a", "2").await;
    expect(&lines, r#"Some("s/a") Some("1") Some("2")"#);
    store.delete("s".into(), "a".into()).await.unwrap();
    expect(&lines, r#"Some("s/a") Some("2") None"#);
    set(&store, "s", "end", "0").await;
    expect(&lines, r#"Some("s/end") None Some("0")"#);
    for key in ["a", "a", "a", "end", "answer"] {
        assert_eq!(next(&mut changes).await.1, key);
    }
    assert_eq!(store.get("s", "answer").unwrap().unwrap().get(), "42");
    assert!(watcher.wait().unwrap().success());
}

#[test]
fn a_new_directory_may_be_opened_by_many_processes_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let fresh = dir.path().join("data");
    let children: Vec<_> = (0..6)
        .map(|n| child(&fresh, &format!("touch {n}")))
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(count(&open(&fresh), "touched"), 6);
}

fn count(store: &SqliteState, scope: &str) -> usize {
    let mut rows = 0;
    store.for_each_row(scope, &mut |_| rows += 1).unwrap();
    rows
}

fn child(dir: &Path, role: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "state_processes::another_process",
            "--nocapture",
        ])
        .env(DIR, dir)
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "the child of the tests above; does nothing by itself"]
async fn another_process() {
    let (Ok(dir), Ok(role)) = (env::var(DIR), env::var(ROLE)) else {
        return;
    };
    let store = Arc::new(open(Path::new(&dir)));
    match role.split(' ').collect::<Vec<_>>()[..] {
        ["write", name] => write_rows(store, name).await,
        ["touch", name] => set(&store, "touched", name, name).await,
        ["watch"] => {
            let mut changes = store.changes();
            print_line("watching");
            loop {
                let (scope, key, old, new) = next(&mut changes).await;
                print_line(&format!(
                    "{:?} {old:?} {new:?}",
                    Some(format!("{scope}/{key}"))
                ));
                if key == "end" {
                    break;
                }
            }
            set(&store, "s", "answer", "42").await;
        }
        _ => panic!("no such role: {role}"),
    }
}

/// Writes rows of this process, and a counter that all processes share.
async fn write_rows(store: Arc<SqliteState>, name: &str) {
    let rows = (0..ROWS).map(|n| {
        let key = format!("{name}-{n}");
        store.set("rows".into(), key.clone(), json(&format!("\"{key}\"")))
    });
    let rows: Vec<_> = rows.collect();
    for _ in 0..COUNTS {
        let add = |old: Option<&RawValue>| {
            let n: u32 = old.map_or(0, |old| old.get().parse().unwrap());
            Ok(json(&(n + 1).to_string()))
        };
        // One at a time, so that each transaction contends with the other processes.
        store
            .update("shared".into(), "counter".into(), 0, Box::new(add))
            .await
            .unwrap();
    }
    for row in rows {
        row.await.unwrap();
    }
}

type Event = (String, String, Option<String>, Option<String>);

async fn next(changes: &mut Changes) -> Event {
    let text = |value: Option<Box<RawValue>>| value.map(|value| value.get().to_owned());
    match timeout(TIMEOUT, changes.recv())
        .await
        .expect("an event in time")
    {
        Some(StateChange::Row {
            scope,
            key,
            old,
            new,
        }) => (scope, key, text(old), text(new)),
        other => panic!("expected a row, got {other:?}"),
    }
}

fn open(dir: &Path) -> SqliteState {
    SqliteState::open(dir, StoreOptions::default()).unwrap()
}

async fn set(store: &SqliteState, scope: &str, key: &str, value: &str) {
    store
        .set(scope.into(), key.into(), json(value))
        .await
        .unwrap();
}

fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("> {line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The lines that the child prints, without those of its test harness.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some((_, line)) = line.split_once("> ")
                && sender.send(line.to_owned()).is_err()
            {
                break;
            }
        }
    });
    lines
}

#[track_caller]
fn expect(lines: &Receiver<String>, line: &str) {
    assert_eq!(lines.recv_timeout(TIMEOUT).expect("a line in time"), line);
}
