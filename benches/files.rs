//! Lists, the index, searches and reads of 10,000 files of 2 KiB, and of 10,000 folders with a `SKILL.md`, as a
//! multiple of walking the same folders and reading each file's metadata in the same run; the memory
//! that a folder needs.
//!
//! `FILES` sets the number of files and folders, `BUNDLED` the number of other files of a folder.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements"
)]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_engine::Memory;
use skills_core::{Registry, RegistrySettings, ResourceUri, Search, Source};
use skills_files::Sources;
use tokio::runtime::Runtime;

/// Measurements of each; they alternate, so that load on the machine affects all.
const ROUNDS: usize = 41;
const PER_FOLDER: usize = 100;

fn main() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let files = number("FILES").unwrap_or(10_000);
    let bundled = number("BUNDLED").unwrap_or(0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("docs"), files);
    let folders = tempfile::tempdir().unwrap();
    write_folders(&folders.path().join("docs"), files, bundled);
    // Files that were modified a moment ago are not cached.
    std::thread::sleep(Duration::from_secs(3));
    let title = format!("{files} files of 2 KiB");
    measure(&runtime, dir.path(), files, files, &title);
    let title = format!("{files} folders with a SKILL.md of 2 KiB and {bundled} other files");
    measure(
        &runtime,
        folders.path(),
        files,
        files * (1 + bundled),
        &title,
    );
}

fn measure(runtime: &Runtime, dir: &Path, skills: usize, files: usize, title: &str) {
    let sources = Sources::new(dir, &["docs/**/*.md".into()], &[], &[]);
    let source = Arc::new(sources) as Arc<dyn Source>;
    let engine = Memory::new().connect();
    let registry = Registry::new(
        engine,
        vec![Arc::clone(&source)],
        RegistrySettings::default(),
        String::new,
    );
    registry.connected(true);
    let list = || runtime.block_on(registry.skills()).unwrap().entries.len();
    let manifests = || {
        runtime
            .block_on(registry.published())
            .unwrap()
            .listed()
            .count()
    };
    let index = || {
        runtime
            .block_on(registry.read(&ResourceUri::Index))
            .unwrap()
    };
    let id = "folder-7/skill-7".parse().unwrap();
    let skill = ResourceUri::Skill(id);
    let read = || runtime.block_on(registry.read(&skill)).unwrap();

    let search = |text: &str| {
        let search = Search {
            text,
            ..Search::default()
        };
        runtime.block_on(registry.search(&search)).unwrap().total
    };

    skills_allocator::return_free_memory();
    let before = skills_allocator::resident_bytes();
    let cold = timed(|| assert_eq!(list(), skills));
    let cold_manifests = timed(|| assert_eq!(manifests(), skills));
    let read_all = median(
        (0..5)
            .map(|_| timed(|| assert_eq!(read_files(dir), files)))
            .collect(),
    );
    let source_read = timed(|| {
        let ids: Vec<_> = runtime.block_on(registry.skills()).unwrap().entries;
        let ids: Vec<_> = ids.into_iter().map(|skill| skill.id).collect();
        black_box(runtime.block_on(source.bodies(&ids)).unwrap());
    });
    let first_search = timed(|| assert_eq!(search("what skill is about"), skills));
    let [
        mut bare,
        mut lists,
        mut indexes,
        mut reads,
        mut warm,
        mut searches,
    ] = [const { Vec::new() }; 6];
    for _ in 0..ROUNDS {
        bare.push(timed(|| assert_eq!(walk(dir), files)));
        lists.push(timed(|| assert_eq!(list(), skills)));
        indexes.push(timed(|| drop(black_box(index()))));
        reads.push(timed(|| drop(black_box(read()))));
        warm.push(timed(|| assert_eq!(manifests(), skills)));
        searches.push(timed(|| assert_eq!(search("what skill is about"), skills)));
    }
    let bare = median(bare);
    println!("{title}, median of {ROUNDS} rounds");
    println!("bare walk and metadata  {bare:>10.2?}   1.00");
    for (what, took) in [
        ("warm list", median(lists)),
        ("warm index", median(indexes)),
        ("warm digests", median(warm)),
        ("one read", median(reads)),
        ("warm search", median(searches)),
        ("bare read of all", read_all),
        ("cold list (read all)", cold),
        ("bodies by the source", source_read),
        ("first search", first_search),
        ("cold digests", cold_manifests),
    ] {
        let ratio = took.as_secs_f64() / bare.as_secs_f64();
        println!("{what:<22}  {took:>10.2?}   {ratio:.2}");
    }
    // What lists used and freed is not what is kept.
    skills_allocator::return_free_memory();
    if let (Some(before), Some(after)) = (before, skills_allocator::resident_bytes()) {
        let bytes = after.saturating_sub(before) / skills;
        println!("memory kept for each skill, title and description included: {bytes} bytes");
    }
}

/// Texts of English words, frequent ones more often, the same in every run.
struct Words {
    words: Vec<&'static str>,
    random: u64,
}

impl Words {
    fn new() -> Self {
        let vocabulary = include_str!("../crates/skills-search/data/vocab.txt").lines();
        let is_word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
        Self {
            words: vocabulary.filter(is_word).collect(),
            random: 0x1234_5678_9ABC_DEF1,
        }
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let part = f64::from(u16::try_from(self.random & 0xFFFF).unwrap()) / 65_536.0;
            let end = f64::from(u32::try_from(self.words.len()).unwrap());
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "less than the number of words"
            )]
            let word = self.words[end.powf(part) as usize - 1];
            let _ = write!(text, "{word} ");
        }
        text
    }
}

fn write_folders(docs: &Path, folders: usize, bundled: usize) {
    let mut words = Words::new();
    for n in 0..folders {
        let filler = words.text(2048);
        let name = format!("skill-{}", n % PER_FOLDER);
        let folder = docs.join(format!("folder-{}/{name}", n / PER_FOLDER));
        fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: What skill {n} is about.\n---\n# Skill {n}\n\n{filler}"
        );
        fs::write(folder.join("SKILL.md"), &text[..2048]).unwrap();
        for n in 0..bundled {
            fs::write(folder.join(format!("file-{n}.py")), &filler[..1024]).unwrap();
        }
    }
}

fn write(docs: &Path, files: usize) {
    let mut words = Words::new();
    for n in 0..files {
        let folder = docs.join(format!("folder-{}", n / PER_FOLDER));
        fs::create_dir_all(&folder).unwrap();
        let filler = words.text(2048);
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

/// Reads every file as text.
fn read_files(dir: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files += read_files(&entry.path());
        } else {
            black_box(fs::read_to_string(entry.path()).unwrap());
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
