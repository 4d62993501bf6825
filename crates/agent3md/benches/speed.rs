//! The time of parsing, loading and routing. `cargo bench -p agent3md` prints a table.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench has a clock and prints"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use agent3md::tool_text::{get_skill, list_skills, resolve_skill, route_skill};
use agent3md::{Agent, Document, links, validate};

const WORDS: [&str; 24] = [
    "search", "find", "edit", "review", "test", "build", "deploy", "release", "log", "trace",
    "plan", "write", "read", "list", "merge", "branch", "commit", "push", "clean", "format",
    "lint", "bench", "profile", "ship",
];

/// An agent of `skills` skills, three triggers each, with a body of a few lines and one link.
fn source(skills: usize) -> String {
    let mut text = "---\n3md: 1.0\nagent: bench\n---\n@plane z=0 kind=identity\nI am.\n".to_owned();
    for z in 1..=skills {
        let word = |step: usize| WORDS[(z * step + z / 7) % WORDS.len()];
        let (a, b, c, d) = (word(1), word(5), word(7), word(11));
        let _ = write!(
            text,
            "\n@plane z={z} label=\"{a}-{z}\" kind=skill triggers=\"{a} {b}, {c} {d} now, topic {z}\" \
             inputs=\"pattern:string, path:string?\" tool=\"rg {{pattern}} {{path}}\" cost=low\n\n\
             # {a} {b}\n\nUse this when the request is about {c}. Then go on with [[z={}|the next]].\n",
            z % skills + 1
        );
    }
    text
}

/// The median and the best time of a call. On a busy machine only the best is meaningful.
fn times<T>(rounds: usize, mut call: impl FnMut() -> T) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(call());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[times.len() / 2], times[0])
}

fn throughput<T>(name: &str, text: &str, call: impl FnMut() -> T) {
    let (median, best) = times(15, call);
    let rate = text.len() as f64 / 1e6 / best.as_secs_f64();
    let [median, best] = [median, best].map(|time| time.as_secs_f64() * 1e3);
    println!("{name:<34} {median:>9.2} ms, best {best:>9.2} ms {rate:>7.0} MB/s");
}

fn latency<T>(name: &str, rounds: usize, call: impl FnMut() -> T) {
    let (median, best) = times(rounds, call);
    let [median, best] = [median, best].map(|time| time.as_secs_f64() * 1e6);
    println!("{name:<34} {median:>9.2} us, best {best:>9.2} us");
}

fn main() {
    let agent_text = source(10_000);
    let mut planes = "---\n3md: 1\n---\n".to_owned();
    for z in 0..100_000 {
        let _ = write!(
            planes,
            "@plane z={z} label=s{z} triggers=\"a, b{z}\"\ntext [[z={z}]]\n"
        );
    }
    let openings = "[[z=1|".repeat(80_000);
    let line = format!("---\n3md: 1\n---\n{}", "word ".repeat(1 << 20));

    println!(
        "10,000 skills: {} bytes; 100,000 planes: {} bytes",
        agent_text.len(),
        planes.len()
    );
    throughput("parse, 10,000 skills", &agent_text, || {
        Document::parse(&agent_text)
    });
    throughput("  the same by threemd 1.0.0", &agent_text, || {
        threemd::parse(&agent_text)
    });
    throughput("parse, 100,000 planes", &planes, || {
        Document::parse(&planes)
    });
    throughput("  the same by threemd 1.0.0", &planes, || {
        threemd::parse(&planes)
    });
    throughput("parse, one line of 5 MiB", &line, || Document::parse(&line));
    throughput("links, 480 kB of `[[z=1|`", &openings, || {
        links(&openings).count()
    });
    throughput("parse and load, 10,000 skills", &agent_text, || {
        Agent::parse(&agent_text)
    });
    throughput("parse and load, 100,000 planes", &planes, || {
        Agent::parse(&planes)
    });
    throughput("validate, 10,000 skills", &agent_text, || {
        validate(&agent_text)
    });
    throughput("validate, 100,000 planes", &planes, || validate(&planes));

    let Ok(agent) = Agent::parse(&agent_text) else {
        return;
    };
    let hit = "please find the topic 4242 and review the log now";
    println!(
        "route finds {} of {} skills",
        agent.route(hit).len(),
        agent.skills().len()
    );
    latency("route, match, 10,000 skills", 2_001, || {
        route_skill(&agent, hit)
    });
    latency("route, no match, 10,000 skills", 2_001, || {
        route_skill(&agent, "nothing like it")
    });
    let every = WORDS.join(" ") + " now";
    println!(
        "a request with every word finds {}",
        agent.route(&every).len()
    );
    latency("route, every skill matches", 201, || {
        route_skill(&agent, &every)
    });
    latency("get by name", 10_001, || {
        get_skill(&agent, "edit-5000").map(str::len)
    });
    latency("get by z", 10_001, || {
        get_skill(&agent, 5000.0).map(str::len)
    });
    latency("list_skills, 10,000 skills", 51, || list_skills(&agent));
    latency("resolve a chain of 10,000", 51, || {
        resolve_skill(&agent, 1.0)
    });
}
