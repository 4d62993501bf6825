//! How fast MCP is: from start to the first answer, one answer after the other over stdio, and many
//! clients over HTTP. Prints a table; figures that belong together are from one run.
//!
//! `cargo bench --bench mcp`; pin it with `taskset -c 0,1` to compare machines.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a program that prints figures for people"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_iii::{Client, ClientOptions};

const SKILLS: &str = env!("CARGO_BIN_EXE_skills");
const STARTS: usize = 31;
const ANSWERS: usize = 5000;
const CLIENTS: usize = 32;
const READS: usize = 40_000;
const MANY: usize = 10_000;
/// The read body.
const BYTES: usize = 2048;

fn main() {
    let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(full.path());
    println!("| what | figure |\n|---|---|");
    starts(empty.path(), full.path());
    answers(full.path());
    many_clients(full.path());
}

fn row(what: &str, figure: &str) {
    println!("| {what} | {figure} |");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// `skills serve` on free ports.
struct Server {
    child: Child,
    workers: String,
    http: SocketAddr,
    _log: BufReader<ChildStderr>,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut child = skills(
            &[
                "serve",
                "--http",
                "127.0.0.1:0",
                "--url",
                "ws://127.0.0.1:0",
            ],
            data,
        )
        .args(["--log-format", "json"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(r#""ready""#) {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it never was ready");
        }
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| ready[name].as_str().unwrap().to_owned();
        Self {
            child,
            workers: text("workers"),
            http: text("http").trim_start_matches("http://").parse().unwrap(),
            _log: log,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn skills(args: &[&str], data: &Path) -> Command {
    let mut command = Command::new(SKILLS);
    command
        .args(args)
        .arg("--data-dir")
        .arg(data)
        .current_dir(data);
    command
}

/// Many skills, and one of 2 KiB.
fn fill(data: &Path) {
    let server = Server::start(data);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = Client::connect(&server.workers, ClientOptions::named("bench")).unwrap();
        client.wait_connected().await.unwrap();
        let next = Arc::new(AtomicUsize::new(0));
        let mut work = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (client, next) = (client.clone(), Arc::clone(&next));
            work.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= MANY {
                        return;
                    }
                    let body = format!("# Skill {number}\n\nWhat number {number} is for.\n\n");
                    let body = format!("{body:x<BYTES$}");
                    let id = format!("team-{}/skill-{number}", number % 100);
                    let payload = to_raw_value(&json!({ "id": id, "skill": body })).unwrap();
                    let long = Duration::from_mins(1);
                    client
                        .call("skills::register", payload, long)
                        .await
                        .unwrap();
                }
            });
        }
        work.join_all().await;
    });
}

/// `skills mcp`, on its own.
struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
}

impl Pipe {
    fn start(data: &Path) -> Self {
        let mut child = skills(&["mcp", "--url", "ws://127.0.0.1:1"], data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self {
            child,
            to,
            from: BufReader::new(from),
            line: String::new(),
        }
    }

    fn ask(&mut self, line: &str) -> &str {
        self.to.write_all(line.as_bytes()).unwrap();
        self.line.clear();
        self.from.read_line(&mut self.line).unwrap();
        assert!(self.line.contains(r#""result""#), "{}", self.line);
        &self.line
    }

    fn end(mut self) {
        drop(self.to);
        assert!(self.child.wait().unwrap().success());
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const READ: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"iii://team-7/skill-7"}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn starts(empty: &Path, full: &Path) {
    let (mut help, mut on_empty, mut on_full) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that what else the machine does meets all of them.
    for _ in 0..STARTS {
        let start = Instant::now();
        let shown = Command::new(SKILLS).arg("--help").output().unwrap();
        help.push(start.elapsed());
        assert!(shown.status.success());
        for (data, times) in [(empty, &mut on_empty), (full, &mut on_full)] {
            let start = Instant::now();
            let mut pipe = Pipe::start(data);
            pipe.ask(&format!("{INITIALIZE}\n"));
            pipe.ask(&format!("{TOOLS}\n"));
            times.push(start.elapsed());
            pipe.end();
        }
    }
    let (help, on_empty, on_full) = (median(help), median(on_empty), median(on_full));
    row("start of `--help`", &ms(help));
    let most = help * 2 + Duration::from_millis(5);
    row(
        "start to the first `tools/list`, empty",
        &format!("{} (target: at most {})", ms(on_empty), ms(most)),
    );
    row(
        &format!("start to the first `tools/list`, {MANY} skills"),
        &format!("{} (target: under 60 ms)", ms(on_full)),
    );
}

fn answers(data: &Path) {
    let mut pipe = Pipe::start(data);
    pipe.ask(&format!("{INITIALIZE}\n"));
    let (ping, read) = (format!("{PING}\n"), format!("{READ}\n"));
    assert!(pipe.ask(&read).len() > BYTES);
    let (mut pings, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..ANSWERS {
        for (line, times) in [(&ping, &mut pings), (&read, &mut reads)] {
            let start = Instant::now();
            pipe.ask(line);
            times.push(start.elapsed());
        }
    }
    pipe.end();
    let (ping, read) = (median(pings), median(reads));
    let us = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    row("`ping` over stdio, p50", &us(ping));
    let times = read.as_secs_f64() / ping.as_secs_f64();
    row(
        "`resources/read` of 2 KiB over stdio, p50",
        &format!("{}, {times:.2} times a ping (target: 2)", us(read)),
    );
}

fn many_clients(data: &Path) {
    let server = Server::start(data);
    for (name, modern) in [("2026-07-28", true), ("2025-11-25, in sessions", false)] {
        let next = AtomicUsize::new(0);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = Http::connect(server.http, modern);
                    while next.fetch_add(1, Ordering::Relaxed) < READS {
                        client.read();
                    }
                });
            }
        });
        let rate = READS as f64 / start.elapsed().as_secs_f64();
        row(
            &format!("{CLIENTS} HTTP clients, {name}"),
            &format!("{rate:.0} reads/s (target: 15000)"),
        );
    }
}

/// One client on one connection.
struct Http {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Http {
    fn connect(address: SocketAddr, modern: bool) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream,
            request: Vec::new(),
            answer: vec![0; 64 << 10],
        };
        let post = |headers: &str, body: &str| {
            let length = body.len();
            let usual =
                "Accept: application/json, text/event-stream\r\nContent-Type: application/json";
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{usual}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            )
        };
        if modern {
            let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"uri""#;
            let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: iii://team-7/skill-7\r\n";
            client.request = post(headers, &READ.replace(r#""uri""#, meta)).into_bytes();
        } else {
            client.request = post("", INITIALIZE).into_bytes();
            let head = client.ask().to_lowercase();
            let session = head.split("mcp-session-id: ").nth(1).unwrap();
            let session = format!(
                "Mcp-Session-Id: {}\r\n",
                session.split("\r\n").next().unwrap()
            );
            let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            client.request = post(&session, notice).into_bytes();
            client.ask();
            client.request = post(&session, READ).into_bytes();
        }
        client
    }

    fn read(&mut self) {
        let answer = self.ask();
        assert!(answer.len() > BYTES, "{answer}");
    }

    /// Sends the request; answers all of the answer.
    fn ask(&mut self) -> &str {
        self.stream.write_all(&self.request).unwrap();
        let mut length = 0;
        loop {
            let count = self.stream.read(&mut self.answer[length..]).unwrap();
            assert!(count > 0, "the server went away");
            length += count;
            let text = std::str::from_utf8(&self.answer[..length]).unwrap_or_default();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let declared = head.split("content-length: ").nth(1);
                let declared = declared.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
                if declared.map_or(body.ends_with("0\r\n\r\n"), |bytes| body.len() >= bytes) {
                    break;
                }
            }
        }
        std::str::from_utf8(&self.answer[..length]).unwrap()
    }
}
