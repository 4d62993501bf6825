//! `skills mcp agent.3md`: the real program over pipes, with documents of 5, 1,000 and 10,000 skills.
//!
//! Client and server run on one processor each where `taskset` is available. Compare figures of one
//! run, not of different machines.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::naive_bytecount,
    reason = "panics when it cannot run, and prints its measurements"
)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use skills_test_support::process::skills_path;

const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn main() {
    let pinned = pin_client();
    println!("client and server pinned: {pinned}\n");
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agent.3md");
    let large = |skills: usize| {
        let path = folder.path().join(format!("{skills}.3md"));
        std::fs::write(&path, document(skills)).unwrap();
        path
    };
    let documents = [
        Sample::new("example (5)", example, "check", "run the tests", pinned),
        Sample::new("1,000", large(1_000), "skill500", "do number500", pinned),
        Sample::new(
            "10,000",
            large(10_000),
            "skill5000",
            "do number5000",
            pinned,
        ),
    ];
    row(
        "",
        documents.each_ref().map(|document| document.name.into()),
    );
    let each = |measure: &dyn Fn(&Sample) -> String| documents.each_ref().map(measure);
    row("start to tools/list, p50", each(&|d| millis(d.start(40))));
    row("RSS after start", each(&|d| d.serve().rss("VmRSS:")));
    row(
        "ping in turn, p50",
        each(&|d| micros(d.in_turn(PING, 5_000))),
    );
    let get = |d: &Sample| call("get_skill", "name", d.skill);
    row(
        "get_skill in turn, p50",
        each(&|d| micros(d.in_turn(&get(d), 5_000))),
    );
    row(
        "get_skill pipelined",
        each(&|d| rate(d.pipelined(&get(d), 200_000).0)),
    );
    let resolve = |d: &Sample| call("resolve_skill", "name", d.skill);
    row(
        "resolve_skill in turn, p50",
        each(&|d| micros(d.in_turn(&resolve(d), 5_000))),
    );
    row(
        "resolve_skill pipelined",
        each(&|d| rate(d.pipelined(&resolve(d), 200_000).0)),
    );
    let route = |d: &Sample| call("route_skill", "text", d.request);
    row(
        "route_skill, match, p50",
        each(&|d| micros(d.in_turn(&route(d), 2_000))),
    );
    row(
        "route_skill, match, pipelined",
        each(&|d| rate(d.pipelined(&route(d), 50_000).0)),
    );
    let dance = call("route_skill", "text", "dance with me");
    row(
        "route_skill, no match, p50",
        each(&|d| micros(d.in_turn(&dance, 2_000))),
    );
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_skills"}}"#;
    row(
        "list_skills in turn, p50",
        each(&|d| micros(d.in_turn(list, 100))),
    );
    let crowds = documents.each_ref().map(|d| d.pipelined(list, 1_000));
    row(
        "list_skills pipelined",
        crowds.each_ref().map(|(rate, _)| self::rate(*rate)),
    );
    row(
        "peak RSS, 1,000 pipelined list_skills",
        crowds.map(|(_, peak)| peak),
    );
}

fn row(what: &str, values: [String; 3]) {
    let [a, b, c] = values;
    println!("{what:<38} {a:>14} {b:>14} {c:>14}");
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

fn rate(per_second: f64) -> String {
    format!("{per_second:.0}/s")
}

fn call(tool: &str, argument: &str, value: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"{argument}":"{value}"}}}}}}"#
    )
}

/// A document with this many skills; each has two phrases of its own, a shared one, and a link.
fn document(skills: usize) -> String {
    let mut text =
        String::from("---\n3md: 1.0\nagent: many\n---\n@plane z=0 kind=identity\nMany.\n");
    for z in 1..=skills {
        let next = z % skills + 1;
        let link = if next == 1 {
            String::new()
        } else {
            format!("Then [[z={next}]].")
        };
        let link = if z % 5 == 0 { "" } else { &link };
        let topic = z % 100;
        let _ = write!(
            text,
            "@plane z={z} label=skill{z} triggers=\"do number{z}, topic{topic} please, handle case{z}\" cost=low tool=\"run {{x}}\" inputs=x\n# Skill {z}\n\nHow to do it, step by step. {link}\n\n"
        );
    }
    text
}

/// Moves this program to the second processor; the server then runs on the first.
fn pin_client() -> bool {
    let me = std::process::id().to_string();
    let moved = Command::new("taskset").args(["-cp", "1", &me]).output();
    moved.is_ok_and(|output| output.status.success())
}

struct Sample {
    name: &'static str,
    path: PathBuf,
    skill: &'static str,
    request: &'static str,
    pinned: bool,
}

impl Sample {
    fn new(
        name: &'static str,
        path: PathBuf,
        skill: &'static str,
        request: &'static str,
        pinned: bool,
    ) -> Self {
        Self {
            name,
            path,
            skill,
            request,
            pinned,
        }
    }

    fn spawn(&self) -> Server {
        let program = skills_path();
        let mut command = if self.pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", &program]);
            command
        } else {
            Command::new(program)
        };
        let mut child = command
            .arg("mcp")
            .arg(&self.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Server {
            input: child.stdin.take(),
            output: BufReader::with_capacity(1 << 20, child.stdout.take().unwrap()),
            child,
            line: String::new(),
        }
    }

    /// A server that has responded once.
    fn serve(&self) -> Server {
        let mut server = self.spawn();
        server.ask(LIST_TOOLS);
        server
    }

    fn start(&self, times: usize) -> Duration {
        median(times, || {
            let began = Instant::now();
            let server = self.serve();
            let took = began.elapsed();
            drop(server);
            took
        })
    }

    fn in_turn(&self, line: &str, times: usize) -> Duration {
        let mut server = self.serve();
        for _ in 0..times / 10 {
            server.ask(line);
        }
        median(times, || {
            let began = Instant::now();
            server.ask(line);
            began.elapsed()
        })
    }

    /// Sends all requests, then reads all responses; returns requests per second and the server's peak
    /// memory.
    fn pipelined(&self, line: &str, times: usize) -> (f64, String) {
        let mut server = self.serve();
        let mut input = server.input.take().unwrap();
        let all = format!("{line}\n").repeat(times);
        let began = Instant::now();
        let writer = thread::spawn(move || {
            input.write_all(all.as_bytes()).unwrap();
            input
        });
        let mut left = times;
        let mut chunk = vec![0; 1 << 20];
        while left > 0 {
            let read = server.output.read(&mut chunk).unwrap();
            assert!(read > 0, "the server ended early");
            left -= chunk[..read].iter().filter(|&&byte| byte == b'\n').count();
        }
        let took = began.elapsed();
        let peak = server.rss("VmHWM:");
        drop(writer.join().unwrap());
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let rate = times as f64 / took.as_secs_f64();
        (rate, peak)
    }
}

fn median(times: usize, mut measure: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..times).map(|_| measure()).collect();
    all.sort_unstable();
    all[times / 2]
}

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    fn ask(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        assert!(self.line.contains("\"result\""), "{}", self.line);
    }

    /// A figure of the system about the server's memory, where there is one.
    fn rss(&self, figure: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(figure));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        kib.map_or("unknown".into(), |kib| format!("{:.1} MiB", kib / 1024.0))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends with its input; if it does not, we still go on.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
