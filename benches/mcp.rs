//! MCP: the time from start to the first response, sequential requests over stdio, and many clients
//! over HTTP. Prints a table.
//!
//! `cargo bench --bench mcp`; pin it with `taskset -c 0,1` to compare machines.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "prints its measurements"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use serde_json::value::to_raw_value;
use skills_test_support::TIMEOUT;
use skills_test_support::engine::Peer;
use skills_test_support::process::{Addresses, SkillsProcess, skills_command};
use tokio::runtime::Runtime;

const STARTS: usize = 31;
const ANSWERS: usize = 5000;
const CLIENTS: usize = 32;
const READS: usize = 40_000;
const MANY: usize = 10_000;
/// The size of the body that is read.
const BYTES: usize = 2048;
/// Folders with a `SKILL.md`, other files in each, and how often they are listed.
const FOLDERS: usize = 1000;
const FOLDER_FILES: usize = 5;
const LISTS: usize = 51;

fn main() {
    let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(full.path());
    println!("| what | figure |\n|---|---|");
    starts(empty.path(), full.path());
    answers(full.path());
    folder_lists();
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

fn skills(args: &[&str], data: &Path) -> Command {
    let mut command = skills_command();
    command
        .args(args)
        .arg("--data-dir")
        .arg(data)
        .current_dir(data);
    command
}

/// Registers the skills.
fn fill(data: &Path) {
    Runtime::new().unwrap().block_on(async {
        let (serve, Addresses { url, .. }) = SkillsProcess::serve(data, &[]).await;
        let client = Peer::connect(&url, "bench").await.0;
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
                    let call = client.call("skills::register", payload, TIMEOUT);
                    call.await.unwrap();
                }
            });
        }
        work.join_all().await;
        serve.kill().await;
    });
}

/// `skills mcp` over pipes.
struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
}

impl Pipe {
    /// The configuration, if there is one, is in the data directory.
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

    fn request(&mut self, line: &str) -> &str {
        self.to.write_all(line.as_bytes()).unwrap();
        self.line.clear();
        self.from.read_line(&mut self.line).unwrap();
        assert!(self.line.contains(r#""result""#), "{}", self.line);
        &self.line
    }

    fn close(mut self) {
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
    // They alternate, so that load on the machine affects all of them.
    for _ in 0..STARTS {
        let start = Instant::now();
        let shown = skills_command().arg("--help").output().unwrap();
        help.push(start.elapsed());
        assert!(shown.status.success());
        for (data, times) in [(empty, &mut on_empty), (full, &mut on_full)] {
            let start = Instant::now();
            let mut pipe = Pipe::start(data);
            pipe.request(&format!("{INITIALIZE}\n"));
            pipe.request(&format!("{TOOLS}\n"));
            times.push(start.elapsed());
            pipe.close();
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
    pipe.request(&format!("{INITIALIZE}\n"));
    let (ping, read) = (format!("{PING}\n"), format!("{READ}\n"));
    assert!(pipe.request(&read).len() > BYTES);
    let (mut pings, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..ANSWERS {
        for (line, times) in [(&ping, &mut pings), (&read, &mut reads)] {
            let start = Instant::now();
            pipe.request(line);
            times.push(start.elapsed());
        }
    }
    pipe.close();
    let (ping, read) = (median(pings), median(reads));
    let us = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    row("`ping` over stdio, p50", &us(ping));
    let times = read.as_secs_f64() / ping.as_secs_f64();
    row(
        "`resources/read` of 2 KiB over stdio, p50",
        &format!("{}, {times:.2} times a ping (target: 2)", us(read)),
    );
}

/// Lists folders with files, as resources and as Agent Skills with digests.
fn folder_lists() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..FOLDERS {
        let name = format!("skill-{number:04}");
        let folder = dir.path().join("skills").join(&name);
        std::fs::create_dir_all(folder.join("scripts")).unwrap();
        let text = format!("---\nname: {name}\ndescription: What {name} is for.\n---\n# S\n");
        std::fs::write(folder.join("SKILL.md"), format!("{text:x<BYTES$}")).unwrap();
        for file in 0..FOLDER_FILES {
            let path = folder.join(format!("scripts/{file}.py"));
            std::fs::write(path, format!("{file:x<BYTES$}")).unwrap();
        }
    }
    let config = "skills: ['skills/**/*.md']\n";
    std::fs::write(dir.path().join("config.yaml"), config).unwrap();
    // Files that were modified a moment ago are read again.
    std::thread::sleep(Duration::from_secs(3));
    let mut pipe = Pipe::start(dir.path());
    pipe.request(&format!("{INITIALIZE}\n"));
    let request =
        |method: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}\n");
    let (resources, skills) = (request("resources/list"), request("skills/list"));
    assert_eq!(
        pipe.request(&skills).matches("SKILL.md").count(),
        2 * FOLDERS
    );
    let (mut resource_times, mut skill_times) = (Vec::new(), Vec::new());
    for _ in 0..LISTS {
        for (line, times) in [
            (&resources, &mut resource_times),
            (&skills, &mut skill_times),
        ] {
            let start = Instant::now();
            pipe.request(line);
            times.push(start.elapsed());
        }
    }
    pipe.close();
    let (resources, skills) = (median(resource_times), median(skill_times));
    let what = format!("{FOLDERS} folders with {FOLDER_FILES} files");
    row(&format!("`resources/list` of {what}, p50"), &ms(resources));
    let times = skills.as_secs_f64() / resources.as_secs_f64();
    row(
        &format!("`skills/list` of {what}, p50"),
        &format!(
            "{}, {times:.2} times `resources/list` (target: 1.5)",
            ms(skills)
        ),
    );
}

fn many_clients(data: &Path) {
    let runtime = Runtime::new().unwrap();
    let (serve, Addresses { http, .. }) = runtime.block_on(SkillsProcess::serve(data, &[]));
    for (name, stateless) in [("2026-07-28", true), ("2025-11-25, in sessions", false)] {
        let next = AtomicUsize::new(0);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = HttpClient::connect(http, stateless);
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
    runtime.block_on(serve.kill());
}

/// A client with one connection.
struct HttpClient {
    stream: TcpStream,
    request: Vec<u8>,
    response: Vec<u8>,
}

impl HttpClient {
    fn connect(address: SocketAddr, stateless: bool) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream,
            request: Vec::new(),
            response: vec![0; 64 << 10],
        };
        let post = |headers: &str, body: &str| {
            let length = body.len();
            let defaults =
                "Accept: application/json, text/event-stream\r\nContent-Type: application/json";
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{defaults}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            )
        };
        if stateless {
            let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"uri""#;
            let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: iii://team-7/skill-7\r\n";
            client.request = post(headers, &READ.replace(r#""uri""#, meta)).into_bytes();
        } else {
            client.request = post("", INITIALIZE).into_bytes();
            let head = client.exchange().to_lowercase();
            let session = head.split("mcp-session-id: ").nth(1).unwrap();
            let session = format!(
                "Mcp-Session-Id: {}\r\n",
                session.split("\r\n").next().unwrap()
            );
            let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            client.request = post(&session, initialized).into_bytes();
            client.exchange();
            client.request = post(&session, READ).into_bytes();
        }
        client
    }

    fn read(&mut self) {
        let response = self.exchange();
        assert!(response.len() > BYTES, "{response}");
    }

    /// Sends the request and reads the whole response.
    fn exchange(&mut self) -> &str {
        self.stream.write_all(&self.request).unwrap();
        let mut length = 0;
        loop {
            let count = self.stream.read(&mut self.response[length..]).unwrap();
            assert!(count > 0, "the server closed the connection");
            length += count;
            let text = std::str::from_utf8(&self.response[..length]).unwrap_or_default();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let declared = head.split("content-length: ").nth(1);
                let declared = declared.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
                if declared.map_or(body.ends_with("0\r\n\r\n"), |bytes| body.len() >= bytes) {
                    break;
                }
            }
        }
        std::str::from_utf8(&self.response[..length]).unwrap()
    }
}
