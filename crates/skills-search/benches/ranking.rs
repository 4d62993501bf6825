//! The time and memory of the index. `cargo bench -p skills-search` prints a table.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a bench has a clock and prints"
)]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use skills_search::{Document, Index, Request};

/// Bytes of a body.
const BODY: usize = 2048;

/// Rounds of the first index.
const ROUNDS: u32 = 9;

/// Documents that are indexed at once, as by a registry.
const PIECE: usize = 256;

/// The ticks of a second, in which Linux counts the processor time of a process.
const TICKS: u64 = 100;

const REQUESTS: [&str; 4] = [
    "send an e-mail to all customers about the new release",
    "deploy the service and roll it back if the health check fails",
    "how do I translate this document into German and keep its layout",
    "wite unit tests for the paymnet module",
];

const TOPICS: [&str; 16] = [
    "send email",
    "deploy service",
    "review code",
    "translate document",
    "write tests",
    "query database",
    "plan trip",
    "weather forecast",
    "generate image",
    "summarize paper",
    "track parcel",
    "schedule meeting",
    "convert currency",
    "search flights",
    "monitor logs",
    "rotate secrets",
];

/// A generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, small ones far more often, as words are in a text.
    fn zipf(&mut self, end: usize) -> usize {
        let part = (self.next() % 1_000_000) as f64 / 1e6;
        (end as f64).powf(part) as usize - 1
    }
}

/// English words, in the order of the vocabulary of the vectors: frequent ones first.
fn words() -> Vec<String> {
    let vocabulary = include_str!("../data/vocab.txt").lines();
    let is_word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    vocabulary.filter(is_word).map(str::to_owned).collect()
}

struct Skill {
    id: String,
    title: String,
    description: String,
    body: String,
}

impl Skill {
    fn new(number: usize, words: &[String], random: &mut Random) -> Self {
        let topic = TOPICS[number % TOPICS.len()];
        let title = format!("{topic} {}", words[number % words.len()]);
        let mut sentence = |bytes: usize| {
            let mut text = String::new();
            while text.len() < bytes {
                let _ = write!(text, "{} ", words[random.zipf(words.len())]);
            }
            text
        };
        let description = format!("Use it to {topic}: {}", sentence(80));
        let mut body = format!("# {title}\n\n{description}\n");
        while body.len() < BODY {
            let _ = write!(body, "\n## {}\n\n{}\n", sentence(20), sentence(400));
        }
        Self {
            id: format!("bench/{}/s{number}", topic.replace(' ', "-")),
            title,
            description,
            body,
        }
    }

    fn document(&self) -> Document<'_> {
        Document {
            id: &self.id,
            title: &self.title,
            description: &self.description,
            body: &self.body,
            ..Document::default()
        }
    }
}

/// The time that a call takes on the processor, so that other processes do not count; without
/// Linux, the time that passes.
fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let (start, used) = (Instant::now(), processor_time());
    let result = black_box(call());
    let passed = start.elapsed();
    let used = processor_time()
        .zip(used)
        .map(|(after, before)| after.saturating_sub(before));
    (used.unwrap_or(passed), result)
}

/// The processor time of all threads, those that ended included, in steps of a hundredth second.
fn processor_time_of_all() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name before may contain anything.
    let mut numbers = text.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || numbers.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 1000 / TICKS))
}

fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Bytes of memory that this process has allocated, on Linux: without the pages of the binary,
/// which has the table of vectors.
fn memory() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0
}

fn main() {
    // The table is read once.
    Index::default().insert(&Document {
        description: "warm",
        ..Document::default()
    });
    let words = words();
    for count in [10_000, 100_000] {
        let mut random = Random(0x1234_5678_9ABC_DEF1);
        let skills = (0..count).map(|number| Skill::new(number, &words, &mut random));
        let skills: Vec<Skill> = skills.collect();
        measure(&skills);
    }
    measure_unknown_words();
}

/// Prints the time of a long request whose words no document has, over documents full of random
/// words of the same first letter and length.
fn measure_unknown_words() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let mut words = |count: usize| {
        let mut text = String::new();
        for _ in 0..count {
            let number = random.next();
            let letters = (0..8).map(|at| char::from(b'a' + (number >> (5 * at) & 31) as u8 % 26));
            let _ = write!(text, "q{} ", letters.collect::<String>());
        }
        text
    };
    let bodies: Vec<String> = (0..2_000).map(|_| words(100)).collect();
    let mut index = Index::default();
    for (number, body) in bodies.iter().enumerate() {
        index.insert(&Document {
            id: &format!("s{number}"),
            body,
            ..Document::default()
        });
    }
    println!("{} skills of 100 random words", bodies.len());
    for count in [1, 100, 1_000, 26_000, 110_000] {
        let text = words(count);
        let (time, _) = timed(|| index.rank(&Request::new(&text)));
        let time = time.as_secs_f64() * 1e3;
        println!("  rank                 {time:>9.3} ms: {count} unknown words");
    }
}

fn measure(skills: &[Skill]) {
    println!("{} skills of {BODY} bytes", skills.len());
    let bodies: usize = skills.iter().map(|skill| skill.body.len()).sum();
    let documents: Vec<Document<'_>> = skills.iter().map(Skill::document).collect();
    let before = memory();
    let mut index = first_index(&documents);
    let used = memory() - before;
    println!(
        "  memory               {:>9.1} MB: {:.2} times the bodies",
        used / 1e6,
        used / bodies as f64
    );
    if skills.len() <= 10_000 {
        compare_with_reading(skills, &documents);
    } else {
        let start = Instant::now();
        drop(black_box(first_index(&documents)));
        println!(
            "  first index          {:>9.1} ms",
            milliseconds(start.elapsed())
        );
    }
    let rounds = u32::try_from(2_000_000 / skills.len()).unwrap();
    let mut all = 0.0;
    for text in REQUESTS {
        let request = Request::new(text);
        let (time, ()) = timed(|| (0..rounds).for_each(|_| drop(black_box(index.rank(&request)))));
        let time = time.as_secs_f64() * 1e3 / f64::from(rounds);
        all += time / REQUESTS.len() as f64;
        println!("  rank                 {time:>9.3} ms: {text}");
    }
    println!("  rank, mean           {all:>9.3} ms");
    let replaced = skills.len().min(2_000);
    let (time, ()) = timed(|| {
        for skill in skills.iter().take(replaced) {
            index.insert(&skill.document());
        }
    });
    println!(
        "  replace one          {:>9.3} ms",
        time.as_secs_f64() * 1e3 / replaced as f64
    );
}

fn first_index(documents: &[Document<'_>]) -> Index {
    let mut index = Index::default();
    for piece in documents.chunks(PIECE) {
        index.insert_all(piece);
    }
    index
}

/// The time of something in all rounds.
struct Times {
    /// That passed in the fastest round: other processes only add to it.
    passed: Duration,
    /// On the processor, by all threads in all rounds.
    used: Duration,
}

impl Times {
    fn new() -> Self {
        let (passed, used) = (Duration::MAX, Duration::ZERO);
        Self { passed, used }
    }

    fn round<T>(&mut self, call: impl FnOnce() -> T) {
        let (start, used) = (Instant::now(), processor_time_of_all());
        drop(black_box(call()));
        self.passed = self.passed.min(start.elapsed());
        let after = processor_time_of_all().zip(used);
        self.used += after.map_or(Duration::ZERO, |(after, before)| {
            after.saturating_sub(before)
        });
    }

    fn print(&self, what: &str, than: &Self) {
        let times = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        println!(
            "  {what:<20} {:>9.1} ms, {:.2} times; on the processor {:.1} ms, {:.2} times",
            milliseconds(self.passed),
            times(self.passed, than.passed),
            milliseconds(self.used / ROUNDS),
            times(self.used, than.used),
        );
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints the time of the first index beside that of opening and reading a file for each skill and
/// checking that it is text, on one thread, in rounds in turn.
fn compare_with_reading(skills: &[Skill], documents: &[Document<'_>]) {
    let folder = std::env::temp_dir().join(format!("skills-search-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = |number: usize| folder.join(format!("{number}.md"));
    for (number, skill) in skills.iter().enumerate() {
        fs::write(path(number), &skill.body).unwrap();
    }
    let read = || {
        (0..skills.len())
            .map(|n| fs::read_to_string(path(n)).unwrap().len())
            .sum::<usize>()
    };
    let (mut reading, mut first) = (Times::new(), Times::new());
    for _ in 0..ROUNDS {
        reading.round(read);
        first.round(|| first_index(documents));
    }
    fs::remove_dir_all(&folder).unwrap();
    reading.print("reading the files", &reading);
    first.print("first index", &reading);
}
