//! `skills mcp agent.3md`: one document over MCP on stdin and stdout.
//!
//! No runtime and no log here: stdout is the protocol, stderr the lines that clients of such
//! servers know.

mod selftest;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agent3md::{Agent, Document, Finding, Report, answer};
use clap::Args;

use crate::agents::{file, watch};
use crate::mcp::document::{Served, Server};

/// Findings that are said; a client that never reads stderr must not stop us with a full pipe.
const SAID_MAX: usize = 20;

#[derive(Args)]
pub struct DocumentArgs {
    /// Serve this `.3md` document: its skills become four tools.
    #[arg(value_name = "AGENT.3MD")]
    pub file: Option<PathBuf>,

    /// Refuse a document in which the validator finds errors (exit code 1).
    #[arg(long, requires = "file")]
    strict: bool,

    /// Start the server, call each tool once, say how it went and exit.
    #[arg(long, requires = "file")]
    selftest: bool,
}

/// Serves the document until stdin ends.
pub fn run(path: &Path, args: &DocumentArgs) -> ExitCode {
    let path = file::absolute(path);
    if args.selftest {
        return selftest::run(&path);
    }
    let loaded = match Loaded::load(&path) {
        Ok(loaded) => loaded,
        Err(problem) => {
            say(&problem);
            return ExitCode::FAILURE;
        }
    };
    let errors = loaded.report.errors().count();
    if args.strict && errors > 0 {
        say_findings(&path, &loaded.report);
        let shown = path.display();
        say(&format!("refusing to serve {shown}: {errors} error(s)"));
        return ExitCode::FAILURE;
    }
    loaded.say(&path);
    serve(path, loaded, args.strict)
}

fn serve(path: PathBuf, loaded: Loaded, strict: bool) -> ExitCode {
    let Loaded { agent, digest, .. } = loaded;
    let server = Server::new(Arc::new(Served::new(agent)), io::stdout());
    let server = Arc::new(server);
    let reloading = Reloading {
        server: Arc::clone(&server),
        path,
        strict,
        known: digest,
    };
    // Nobody waits for this thread: it may be held back by a client that does not read, and there
    // is nothing it could lose.
    std::thread::spawn(move || reloading.run());
    match server.run(io::stdin().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone, which is how many of them end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("stopped: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// A document that was read and understood.
struct Loaded {
    agent: Agent,
    report: Report,
    /// Tells whether it is the same text again.
    digest: u64,
}

impl Loaded {
    fn load(path: &Path) -> Result<Self, String> {
        let text = file::read(path).map_err(|error| error.to_string())?.text;
        Self::parse(&text).map_err(|why| format!("failed to parse {}: {why}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        Ok(Self {
            agent: Agent::load(&document).map_err(|error| error.to_string())?,
            report: agent3md::validate_document(&document),
            digest: digest(text),
        })
    }

    fn say(&self, path: &Path) {
        let line = answer::loaded_line(&self.agent, &path.to_string_lossy());
        write_line(&line);
        say_findings(path, &self.report);
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Serves the document anew whenever its file changes; a broken edit leaves the last good one.
struct Reloading<W> {
    server: Arc<Server<W>>,
    path: PathBuf,
    strict: bool,
    known: u64,
}

impl<W: Write> Reloading<W> {
    fn run(mut self) {
        let path = self.path.clone();
        watch::watch(&path, || self.look());
    }

    /// Looks at the file; false when nobody is left to serve.
    fn look(&mut self) -> bool {
        let shown = self.path.display();
        let text = match file::read(&self.path) {
            Ok(read) => read.text,
            Err(error) => return keep(&error.to_string()),
        };
        let digest = digest(&text);
        if std::mem::replace(&mut self.known, digest) == digest {
            return true;
        }
        let loaded = match Loaded::parse(&text) {
            Ok(loaded) => loaded,
            Err(why) => return keep(&format!("failed to parse {shown}: {why}")),
        };
        if self.strict && !loaded.report.is_ok() {
            say_findings(&self.path, &loaded.report);
            return keep(&format!("{shown} now has errors"));
        }
        loaded.say(&self.path);
        let served = Arc::new(Served::new(loaded.agent));
        self.server.replace(served).is_ok()
    }
}

fn keep(problem: &str) -> bool {
    say(&format!("{problem}; still serving the last good document"));
    true
}

fn say_findings(path: &Path, report: &Report) {
    for finding in report.findings.iter().take(SAID_MAX) {
        say(&said(path, finding));
    }
    let unsaid = report.findings.len().saturating_sub(SAID_MAX);
    if unsaid > 0 {
        let shown = path.display();
        say(&format!(
            "{unsaid} more findings; `skills agent validate {shown}` says them all"
        ));
    }
}

/// A finding as compilers print theirs.
pub fn said(path: &Path, finding: &Finding) -> String {
    let Finding {
        rule, message, at, ..
    } = finding;
    let level = match rule.level() {
        agent3md::Level::Error => "error",
        agent3md::Level::Warning => "warning",
    };
    let (path, rule) = (path.display(), rule.name());
    format!("{path}:{at}: {level} [{rule}] {message}")
}

fn say(what: &str) {
    write_line(&format!("[agent-3md mcp] {what}"));
}

fn write_line(line: &str) {
    // Names in a document may hold anything; a terminal must not obey it, and it is one line.
    let shown: String = line
        .chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect();
    // Nobody to tell it to: serving goes on.
    let _ = writeln!(io::stderr(), "{shown}");
}
