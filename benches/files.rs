//! Lists, the index and reads of 10,000 files of 2 KiB, as a multiple of walking the same folders and
//! reading each file's metadata in the same run.
//!
//! `FILES` sets the number of files.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_engine::Memory;
use skills_core::{Registry, RegistrySettings, ResourceUri, Source};
use skills_files::Sources;

/// Measurements of each; they alternate, so that load on the machine affects all.
const ROUNDS: usize = 41;
const PER_FOLDER: usize = 100;

fn main() {
    let files = std::env::var("FILES").ok().and_then(|n| n.parse().ok());
    let files = files.unwrap_or(10_000);
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), files);
    // Files that were modified a moment ago are not cached.
    std::thread::sleep(Duration::from_secs(3));

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let sources = Sources::new(dir.path(), &["docs/**/*.md".into()], &[], &[]);
    let source = Arc::new(sources) as Arc<dyn Source>;
    let engine = Memory::new().connect();
    let registry = Registry::new(
        engine,
        vec![source],
        RegistrySettings::default(),
        String::new,
    );
    registry.connected(true);
    let list = || runtime.block_on(registry.skills()).unwrap().entries.len();
    let index = || {
        runtime
            .block_on(registry.read(&ResourceUri::Index))
            .unwrap()
    };
    let id = "folder-7/skill-7".parse().unwrap();
    let skill = ResourceUri::Skill(id);
    let read = || runtime.block_on(registry.read(&skill)).unwrap();

    let cold = timed(|| assert_eq!(list(), files));
    let [mut bare, mut lists, mut indexes, mut reads] = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        bare.push(timed(|| assert_eq!(walk(dir.path()), files)));
        lists.push(timed(|| assert_eq!(list(), files)));
        indexes.push(timed(|| drop(black_box(index()))));
        reads.push(timed(|| drop(black_box(read()))));
    }
    let bare = median(bare);
    println!("{files} files of 2 KiB, median of {ROUNDS} rounds");
    println!("bare walk and metadata  {bare:>10.2?}   1.00");
    for (what, took) in [
        ("warm list", median(lists)),
        ("warm index", median(indexes)),
        ("one read", median(reads)),
        ("cold list (read all)", cold),
    ] {
        let ratio = took.as_secs_f64() / bare.as_secs_f64();
        println!("{what:<22}  {took:>10.2?}   {ratio:.2}");
    }
}

fn write(dir: &Path, files: usize) {
    let filler = "Some words that fill the file. ".repeat(70);
    for n in 0..files {
        let folder = dir.join(format!("docs/folder-{}", n / PER_FOLDER));
        fs::create_dir_all(&folder).unwrap();
        let text = format!("# Skill {n}\n\nWhat skill {n} is about.\n\n{filler}");
        fs::write(
            folder.join(format!("skill-{}.md", n % PER_FOLDER)),
            &text[..2048],
        )
        .unwrap();
    }
}

/// The lower bound: a walk that keeps nothing.
fn walk(dir: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files += walk(&entry.path());
        } else {
            black_box(entry.metadata().unwrap());
            files += 1;
        }
    }
    files
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
