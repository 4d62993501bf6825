//! A `skills serve` process on a folder, and requests to its page.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use memory_engine::{Link, Memory};
use skills_access::{AccessPolicy, Connections};
use skills_core::{Registry, RegistrySettings};
use skills_test_support::TIMEOUT;
use skills_test_support::process::{Addresses, SkillsProcess, output_of, skills_command};
use skills_web::{Events, PageOptions};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A server, its folder and its addresses.
pub struct Site {
    pub dir: TempDir,
    pub addresses: Addresses,
    token: Option<&'static str>,
    serve: Option<SkillsProcess>,
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub bytes: Vec<u8>,
}

impl Site {
    /// Serves the files of a folder: path and text.
    pub async fn serve(files: &[(&str, &str)]) -> Self {
        Self::with_token(files, None).await
    }

    pub async fn with_token(files: &[(&str, &str)], token: Option<&'static str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = "skills: ['skills/**/*.md']\nprompts: ['prompts/*.md']\n";
        let is_given = files.iter().any(|(path, _)| *path == "config.yaml");
        let config = [("config.yaml", config)].into_iter().filter(|_| !is_given);
        for (path, text) in files.iter().copied().chain(config) {
            write(dir.path(), path, text);
        }
        let config = dir.path().join("config.yaml");
        let mut args = vec!["--config", config.to_str().unwrap()];
        args.extend(token.into_iter().flat_map(|token| ["--token", token]));
        let (serve, addresses) = SkillsProcess::serve(&dir.path().join("data"), &args).await;
        Self {
            dir,
            addresses,
            token,
            serve: Some(serve),
        }
    }

    /// The page of a registry on an engine in this process, and the connection to the engine.
    pub async fn on(memory: &Memory) -> (Self, Arc<Link>) {
        let link = memory.connect();
        let now = || "2026-11-18T12:00:00.000Z".into();
        let settings = RegistrySettings::default();
        let registry = Registry::new(Arc::clone(&link) as _, Vec::new(), settings, now);
        let stop = CancellationToken::new();
        let router = skills_web::router(PageOptions {
            registry: Arc::new(registry),
            access: AccessPolicy::default(),
            version: "0",
            events: Events::new(1, stop.clone()),
            worker_url: "ws://127.0.0.1:1".into(),
            mcp_clients: Box::new(Vec::new),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self::at(listener.local_addr().unwrap());
        let connections = Connections::new(100);
        tokio::spawn(skills_mcp::http::serve(listener, router, connections, stop));
        (site, link)
    }

    fn at(http: SocketAddr) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            addresses: Addresses {
                url: String::new(),
                http,
            },
            token: None,
            serve: None,
        }
    }

    /// Stops the server as an operator does.
    #[cfg(unix)]
    pub async fn terminate(self) -> (std::process::ExitStatus, String) {
        self.serve.unwrap().terminate().await
    }

    /// Registers a skill from the command line.
    pub fn register(&self, id: &str, body: &str) {
        self.command(&["register", id, "-"], body);
    }

    /// Runs `skills` on this server.
    pub fn command(&self, args: &[&str], input: &str) {
        let mut command = skills_command();
        command.args(args).args(["--url", &self.addresses.url]);
        command.args(self.token.into_iter().flat_map(|token| ["--token", token]));
        let output = output_of(command, input);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
    }

    pub fn http(&self) -> SocketAddr {
        self.addresses.http
    }

    /// The page at an address, which must be there.
    pub async fn page(&self, path: &str) -> String {
        let answer = self.get(path, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.request("GET", path, headers, "").await
    }

    /// Sends a form as a page of this server does.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("http://{}", self.http());
        self.post_with(path, &[("Origin", &origin)], fields).await
    }

    pub async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Answer {
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encode(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let headers = [&[kind], headers].concat();
        self.request("POST", path, &headers, &body).await
    }

    pub async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(text, "Host: {}\r\n", self.http()).unwrap();
        }
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut stream = TcpStream::connect(self.http()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        timeout(TIMEOUT, read).await.unwrap().unwrap();
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            bytes: bytes[end + 4..].to_vec(),
        }
    }
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The value of a header; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }
}

/// A page has all of these texts.
#[track_caller]
pub fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part:?} is missing in:\n{page}");
    }
}

pub fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The value of a field of a form.
pub fn encode(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}
