//! A `skills` process: its streams, its log and its end.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};
use std::thread;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::TIMEOUT;
use crate::test_client::TestClient;

/// The path of the binary that Cargo built for this test or bench, or of the one that `SKILLS_BIN`
/// names, such as an older one.
pub fn skills_path() -> String {
    let path = std::env::var("SKILLS_BIN").or_else(|_| std::env::var("CARGO_BIN_EXE_skills"));
    path.expect("Cargo sets the path of the binary")
}

/// `skills` without the settings of the machine's environment.
pub fn skills_command() -> StdCommand {
    let mut command = StdCommand::new(skills_path());
    for name in [
        "COLUMNS",
        "III_WORKER_NAME",
        "NO_COLOR",
        "RUST_LOG",
        "SKILLS_DATA_DIR",
        "SKILLS_TOKEN",
        "SKILLS_URL",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs a command on an input and waits for its end. It may end before it has read everything.
pub fn output_of(mut command: StdCommand, input: impl Into<Vec<u8>>) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.into());
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// A running process, killed when dropped. Its stderr is always read, so it never waits for that.
pub struct SkillsProcess {
    child: Child,
    /// Its input; drop it to close it.
    pub stdin: Option<ChildStdin>,
    /// The lines of its output; drop them to close it.
    pub stdout: Option<Lines<BufReader<ChildStdout>>>,
    stderr: mpsc::UnboundedReceiver<String>,
}

/// Where `skills serve` listens.
#[derive(Clone)]
pub struct Addresses {
    /// For workers.
    pub url: String,
    /// For HTTP clients.
    pub http: SocketAddr,
}

impl Addresses {
    /// The address for workers, for a plain socket.
    pub fn workers(&self) -> SocketAddr {
        self.url.trim_start_matches("ws://").parse().unwrap()
    }
}

impl SkillsProcess {
    /// Starts `skills` with these arguments.
    pub fn start(args: &[&str]) -> Self {
        let mut command = skills_command();
        command.args(args);
        Self::spawn(command)
    }

    /// Starts a command that [`skills_command`] made.
    pub fn spawn(command: StdCommand) -> Self {
        let mut child = Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: Some(BufReader::new(stdout).lines()),
            stderr: read_lines(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the process runs")
    }

    /// Starts a worker on the engine at `url`.
    pub fn worker(url: &str, more: &[&str]) -> Self {
        Self::start(&[&["--url", url, "--log-format", "json"], more].concat())
    }

    /// Starts `skills serve` on free ports unless `more` names others, and waits until it is ready.
    pub async fn serve(data_dir: &Path, more: &[&str]) -> (Self, Addresses) {
        let mut process = Self::start_serve(data_dir, more);
        let addresses = process.wait_until_ready().await;
        (process, addresses)
    }

    /// Waits until `skills serve` is ready.
    pub async fn wait_until_ready(&mut self) -> Addresses {
        let ready = self.wait_for_log("ready").await;
        let text = |name: &str| ready[name].as_str().unwrap();
        Addresses {
            url: text("workers").to_owned(),
            http: text("mcp")
                .trim_start_matches("http://")
                .trim_end_matches("/mcp")
                .parse()
                .unwrap(),
        }
    }

    /// Starts `skills serve` as [`Self::serve`] does, and does not wait.
    pub fn start_serve(data_dir: &Path, more: &[&str]) -> Self {
        let mut command = skills_command();
        command.args(serve_arguments(data_dir, more));
        Self::spawn(command)
    }

    /// An MCP client of this process.
    pub fn client(&mut self) -> TestClient {
        let stdout = self.stdout.take().unwrap().into_inner().into_inner();
        TestClient::over(Box::new(self.stdin.take().unwrap()), Box::new(stdout))
    }

    /// Writes a line to its input.
    pub async fn write_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// The next line of its output.
    pub async fn stdout_line(&mut self) -> String {
        let line = self.stdout.as_mut().unwrap().next_line();
        let line = timeout(TIMEOUT, line).await.unwrap().unwrap();
        line.expect("the process ended")
    }

    /// The next line of its stderr, or `None` at its end.
    pub async fn stderr_line(&mut self) -> Option<String> {
        timeout(TIMEOUT, self.stderr.recv()).await.unwrap()
    }

    /// Waits for a log line that contains `text`.
    pub async fn wait_for_log(&mut self, text: &str) -> Value {
        self.wait_for_any_log(&[text]).await
    }

    /// Waits for the first log line that contains any of these texts. The value is null for a line
    /// that is not JSON.
    pub async fn wait_for_any_log(&mut self, texts: &[&str]) -> Value {
        let mut others = Vec::new();
        while let Some(line) = timeout(TIMEOUT, self.stderr.recv()).await.ok().flatten() {
            if texts.iter().any(|text| line.contains(text)) {
                return serde_json::from_str(&line).unwrap_or_default();
            }
            others.push(line);
        }
        panic!("no log line has {texts:?}:\n{}", others.join("\n"))
    }

    /// Sends SIGKILL.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Sends a signal by name, such as `TERM`.
    #[cfg(unix)]
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let kill = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(pid)
            .status();
        assert!(kill.await.unwrap().success());
    }

    /// Limits the file handles it may have; those that are open stay open.
    #[cfg(target_os = "linux")]
    pub async fn limit_handles(&self, limit: u32) {
        let prlimit = Command::new("prlimit")
            .arg(format!("--pid={}", self.child.id().unwrap()))
            .arg(format!("--nofile={limit}:"))
            .status();
        assert!(prlimit.await.unwrap().success());
    }

    /// Sends SIGTERM and waits, as [`Self::wait`] does.
    #[cfg(unix)]
    pub async fn terminate(self) -> (ExitStatus, String) {
        self.signal("TERM").await;
        self.wait().await
    }

    /// Whether it has ended, and how.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end; returns its status and what it wrote to stderr since the last wait.
    pub async fn wait(mut self) -> (ExitStatus, String) {
        let mut stderr = String::new();
        while let Some(line) = self.stderr_line().await {
            stderr.push_str(&line);
            stderr.push('\n');
        }
        let status = timeout(TIMEOUT, self.child.wait()).await.unwrap().unwrap();
        (status, stderr)
    }
}

/// The arguments of `skills serve` on free ports unless `more` names others.
pub fn serve_arguments<'a>(data_dir: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let data_dir = data_dir.to_str().unwrap();
    let mut args = vec!["serve", "--data-dir", data_dir, "--log-format", "json"];
    for (option, free_port) in [("--url", "ws://127.0.0.1:0"), ("--http", "127.0.0.1:0")] {
        if !more.contains(&option) {
            args.extend([option, free_port]);
        }
    }
    args.extend(more);
    args
}

fn read_lines(output: impl AsyncRead + Send + Unpin + 'static) -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut output = BufReader::new(output).lines();
        while let Ok(Some(line)) = output.next_line().await {
            // Read on when no test waits for more, or the process would block.
            let _ = sender.send(line);
        }
    });
    lines
}
