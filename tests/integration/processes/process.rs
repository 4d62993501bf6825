//! A `skills` process and what it says.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// A running program; killed when dropped.
pub struct SkillsProcess {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl SkillsProcess {
    pub fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skills"))
            .args(args)
            .args(["--log-format", "json"])
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, lines }
    }

    pub fn worker(url: &str) -> Self {
        Self::start(&["--url", url])
    }

    /// `serve` on free ports, ready; answers it and where workers connect.
    pub async fn serve(data_dir: &Path, more: &[&str]) -> (Self, String) {
        let dir = data_dir.to_str().unwrap();
        let mut args = vec!["serve", "--data-dir", dir, "--http", "127.0.0.1:0"];
        if !more.contains(&"--url") {
            args.extend(["--url", "ws://127.0.0.1:0"]);
        }
        args.extend(more);
        let mut skills = Self::start(&args);
        let ready = skills.wait_for_log("ready").await;
        (skills, ready["workers"].as_str().unwrap().to_owned())
    }

    /// Waits for a log line with these words.
    pub async fn wait_for_log(&mut self, words: &str) -> Value {
        self.wait_for_any_log(&[words]).await
    }

    /// Waits for the first log line with any of these words.
    pub async fn wait_for_any_log(&mut self, words: &[&str]) -> Value {
        let mut all = Vec::new();
        let found = timeout(TIMEOUT, async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if words.iter().any(|words| line.contains(words)) {
                    return Some(serde_json::from_str(&line).unwrap_or_default());
                }
                all.push(line);
            }
            None
        });
        let found = found.await.ok().flatten();
        found.unwrap_or_else(|| panic!("it never said {words:?}, but:\n{}", all.join("\n")))
    }

    /// SIGKILL: no chance to tidy up.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks it to stop; answers how it ended, and all that it said since it was ready.
    #[cfg(unix)]
    pub async fn terminate(self) -> (ExitStatus, String) {
        let pid = self.child.id().unwrap().to_string();
        let sent = Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .await
            .unwrap();
        assert!(sent.success());
        self.ended().await
    }

    /// Waits for its end; answers how, and all that it said since.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let mut all = String::new();
        while let Some(line) = timeout(TIMEOUT, self.lines.next_line())
            .await
            .unwrap()
            .unwrap()
        {
            all.push_str(&line);
            all.push('\n');
        }
        (
            timeout(TIMEOUT, self.child.wait()).await.unwrap().unwrap(),
            all,
        )
    }
}
