//! Commands in a directory of their own, and a transcript of their output to compare with a snapshot.

use std::path::PathBuf;

use skills_test_support::process::skills_path;
use skills_test_support::{NO_ENGINE, TIMEOUT};
use snapbox::cmd::Command;
use snapbox::{Assert, Data};
use tempfile::TempDir;

/// The output of one command.
pub struct CommandOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A directory with a registry, and a record of the commands run in it.
pub struct Transcript {
    dir: TempDir,
    /// Texts that differ between runs, and their placeholders.
    placeholders: Vec<(String, String)>,
    record: String,
}

impl Transcript {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let shown = |path: &std::path::Path| (path.display().to_string(), "[dir]".to_owned());
        Self {
            placeholders: vec![shown(&real), shown(dir.path())],
            dir,
            record: String::new(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, and the directories above it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Replaces `real` with `instead` in the record.
    pub fn redact(&mut self, real: &str, instead: &str) {
        self.placeholders
            .push((real.to_owned(), instead.to_owned()));
    }

    /// A command without the settings of the machine's environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program)
            .current_dir(self.dir.path())
            .timeout(TIMEOUT);
        for unwanted in [
            "RUST_LOG",
            "NO_COLOR",
            "SKILLS_TOKEN",
            "III_WORKER_NAME",
            "COLUMNS",
        ] {
            command = command.env_remove(unwanted);
        }
        command
            .env("SKILLS_URL", NO_ENGINE)
            .env("SKILLS_DATA_DIR", self.path("data"))
            .env("HOME", self.path("home"))
            .env("USERPROFILE", self.path("home"))
    }

    /// Runs a `skills` command line with this `stdin`.
    pub fn run_with(&self, line: &str, stdin: impl Into<Vec<u8>>) -> CommandOutput {
        let words = line
            .strip_prefix("skills")
            .expect("a line starts with skills");
        let command = self.command(skills_path()).args(split(words));
        self.finish(command.stdin(Data::binary(stdin.into())))
    }

    pub fn run(&self, line: &str) -> CommandOutput {
        self.run_with(line, "")
    }

    /// Runs a command and returns its output.
    pub fn finish(&self, command: Command) -> CommandOutput {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| self.normalise(&String::from_utf8(bytes).unwrap());
        CommandOutput {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs a line and records it.
    pub fn step(&mut self, line: &str) -> &mut Self {
        self.step_with(line, "")
    }

    /// Runs a line with `stdin` and records it.
    pub fn step_with(&mut self, line: &str, stdin: impl Into<Vec<u8>>) -> &mut Self {
        let output = self.run_with(line, stdin);
        self.note(line, &output);
        self
    }

    /// Runs lines at once and records them in this order.
    pub fn steps_at_once(&mut self, lines: &[String]) -> &mut Self {
        let shared = &*self;
        let outputs: Vec<_> = std::thread::scope(|scope| {
            let runs = lines.iter().map(|line| scope.spawn(|| shared.run(line)));
            let runs: Vec<_> = runs.collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for (line, output) in lines.iter().zip(&outputs) {
            self.note(line, output);
        }
        self
    }

    /// Records a line and its output.
    pub fn note(&mut self, line: &str, output: &CommandOutput) {
        let line = self.normalise(line);
        let CommandOutput {
            code,
            stdout,
            stderr,
        } = output;
        let entry = format!("$ {line}\n{stdout}--- stderr\n{stderr}--- exit {code}\n\n");
        self.record.push_str(&entry);
    }

    /// Compares the record with its snapshot.
    #[track_caller]
    pub fn matches(&self, name: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = path
            .join("tests/integration/cli/snapshots")
            .join(format!("{name}.txt"));
        let expected = Data::read_from(&path, None).raw();
        Assert::new()
            .action_env("SNAPSHOTS")
            .eq(Data::text(&self.record).raw(), expected);
    }

    /// Removes what differs between runs: paths, ages, times, and the note that no engine was found.
    pub fn normalise(&self, text: &str) -> String {
        let mut text = text.replace("\r\n", "\n");
        for (real, instead) in &self.placeholders {
            text = text.replace(real.as_str(), instead);
        }
        for minutes in 1..60 {
            text = text.replace(&format!("{minutes:>2} min"), "   now");
        }
        text = text.replace(env!("CARGO_PKG_VERSION"), "[version]");
        let note = format!("note: no engine is listening at {NO_ENGINE}; ");
        let lines = text
            .split_inclusive('\n')
            .filter(|line| !line.starts_with(&note));
        lines.map(without_times).collect()
    }
}

/// Replaces the times in a line of JSON.
fn without_times(line: &str) -> String {
    let mut line = line.to_owned();
    for mark in [
        "\"registered_at\":\"",
        "\"registered_at\": \"",
        "\"expires_at\":\"",
        "\"at\":\"",
    ] {
        let mut parts = line.split(mark);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.find('"').map_or("", |end| &part[end..]);
            out.extend([mark, "[time]", rest]);
        }
        line = out;
    }
    line
}

/// Splits a line into words; single quotes keep spaces.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
