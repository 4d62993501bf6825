//! The web page with 10,000 skills: bytes and times of the first page, a folder, a skill, a search and a
//! route, next to `GET /healthz`. Prints a table.
//!
//! `cargo bench --bench web`; pin it with `taskset -c 0,1` to compare machines.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use skills_test_support::process::{Addresses, SkillsProcess};
use tokio::runtime::Runtime;

const SKILLS: usize = 10_000;
const REQUESTS: usize = 501;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    write_skills(&dir.path().join("skills"));
    let runtime = Runtime::new().unwrap();
    let folder = dir.path().join("skills");
    let data = dir.path().join("data");
    let serve = SkillsProcess::serve(&data, &[]);
    let (serve, Addresses { http, url }) = runtime.block_on(serve);
    import(&folder, &url);
    println!("| request | bytes | median |\n|---|---|---|");
    let mut client = Connection::open(http);
    let (page, _) = client.get("/");
    let page = String::from_utf8_lossy(&page).into_owned();
    for path in [
        "/healthz",
        "/",
        &asset(&page, "style-"),
        &asset(&page, "page-"),
        "/tree?folder=team-7/&view=full",
        "/skills/team-7/skill-7",
        "/search/results?q=invoice+number+77",
        "/route?text=correct+the+invoice+of+a+customer",
    ] {
        measure(&mut client, path);
    }
    runtime.block_on(serve.kill());
}

/// A hundred folders of a hundred skills of a few hundred bytes.
fn write_skills(folder: &Path) {
    let subjects = ["invoice", "parcel", "contract", "newsletter", "backup"];
    for number in 0..SKILLS {
        let subject = subjects[number % subjects.len()];
        let next = (number + 100) % SKILLS;
        let text = format!(
            "# Handle {subject} {number}\n\nHow the {subject} of customer {number} is made, checked and sent.\n\n\
             ## Steps\n\nRead [the next one](iii://team-{}/skill-{next}) when it is done.\n",
            next % 100
        );
        let team = folder.join(format!("team-{}", number % 100));
        std::fs::create_dir_all(&team).unwrap();
        std::fs::write(team.join(format!("skill-{number}.md")), text).unwrap();
    }
}

fn import(folder: &Path, url: &str) {
    let mut command = skills_test_support::process::skills_command();
    command.arg("import").arg(folder).args(["--url", url]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The address of an asset that a page names.
fn asset(page: &str, name: &str) -> String {
    let start = page.find(&format!("/assets/{name}")).unwrap();
    page[start..].split('"').next().unwrap().to_owned()
}

fn measure(client: &mut Connection, path: &str) {
    let mut times = Vec::with_capacity(REQUESTS);
    let mut bytes = 0;
    client.get_compressed(path);
    for _ in 0..REQUESTS {
        let start = Instant::now();
        bytes = client.get_compressed(path);
        times.push(start.elapsed());
    }
    println!("| `GET {path}` | {bytes} | {} |", ms(median(times)));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// One connection that is kept open, as a browser does.
struct Connection {
    stream: TcpStream,
    host: SocketAddr,
}

impl Connection {
    fn open(host: SocketAddr) -> Self {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, host }
    }

    fn get(&mut self, path: &str) -> (Vec<u8>, usize) {
        self.request(path, "identity")
    }

    /// The bytes of a response, head and body.
    fn get_compressed(&mut self, path: &str) -> usize {
        self.request(path, "gzip").1
    }

    fn request(&mut self, path: &str, encoding: &str) -> (Vec<u8>, usize) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: {encoding}\r\n\r\n",
            self.host
        );
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "the connection was closed");
            bytes.extend_from_slice(&buffer[..read]);
            let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&bytes[..end]).unwrap().to_lowercase();
            assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
            let (_, length) = head.split_once("content-length: ").unwrap();
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                return (bytes[end + 4..].to_vec(), bytes.len());
            }
        }
    }
}
