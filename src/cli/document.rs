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
use std::sync::mpsc;

use agent3md::{Agent, Finding, Report, answer};
use clap::Args;

use skills_files::agents::file;
use skills_files::watch_file;
use skills_mcp::document::{Served, Server};

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
    let (text, agent) = match load(&path) {
        Ok(loaded) => loaded,
        Err(problem) => {
            say(&problem);
            return ExitCode::FAILURE;
        }
    };
    if args.strict {
        let report = agent3md::validate(&text);
        let errors = report.errors().count();
        if errors > 0 {
            say_findings(&path, &report);
            let shown = path.display();
            say(&format!("refusing to serve {shown}: {errors} error(s)"));
            return ExitCode::FAILURE;
        }
    }
    say_loaded(&path, &agent);
    serve(path, text, agent, args.strict)
}

fn serve(path: PathBuf, text: String, agent: Agent, strict: bool) -> ExitCode {
    let document = Arc::new(Served::new(agent));
    let server = Arc::new(Server::new(Arc::clone(&document), io::stdout()));
    let reloading = Reloading {
        server: Arc::clone(&server),
        path,
        strict,
        known: 0,
    };
    let (saying, said) = mpsc::channel::<()>();
    // Nobody waits for the end of this thread: it may be held back by a client that does not read,
    // and there is nothing it could lose.
    std::thread::spawn(move || {
        document.agent.prepare();
        drop(document);
        reloading.run(text, saying);
    });
    let ended = server.run(io::stdin().lock());
    // What is wrong with the document is said even to a client that leaves at once.
    let _ = said.recv();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone, which is how many of them end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("stopped: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Reads a document; answers its text and the agent in it.
fn load(path: &Path) -> Result<(String, Agent), String> {
    let text = file::read(path).map_err(|error| error.to_string())?.text;
    let agent = parse(path, &text)?;
    Ok((text, agent))
}

fn parse(path: &Path, text: &str) -> Result<Agent, String> {
    let why = |error| format!("failed to parse {}: {error}", path.display());
    Agent::parse(text).map_err(why)
}

/// Tells whether it is the same text again.
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
    /// Checks the first text, then follows the file. Checking takes as long as loading did, so the
    /// client is not kept waiting for it. `saying` is let go once the findings are said.
    fn run(mut self, text: String, saying: mpsc::Sender<()>) {
        self.known = digest(&text);
        say_findings(&self.path, &agent3md::validate(&text));
        drop((text, saying));
        let path = self.path.clone();
        watch_file(&path, || self.look());
    }

    /// Looks at the file; false when nobody is left to serve.
    fn look(&mut self) -> bool {
        let text = match file::read(&self.path) {
            Ok(read) => read.text,
            Err(error) => return keep(&error.to_string()),
        };
        let digest = digest(&text);
        if std::mem::replace(&mut self.known, digest) == digest {
            return true;
        }
        let agent = match parse(&self.path, &text) {
            Ok(agent) => agent,
            Err(problem) => return keep(&problem),
        };
        let report = agent3md::validate(&text);
        if self.strict && !report.is_ok() {
            say_findings(&self.path, &report);
            return keep(&format!("{} now has errors", self.path.display()));
        }
        say_loaded(&self.path, &agent);
        say_findings(&self.path, &report);
        agent.prepare();
        self.server.replace(Arc::new(Served::new(agent))).is_ok()
    }
}

fn say_loaded(path: &Path, agent: &Agent) {
    write_line(&answer::loaded_line(agent, &path.to_string_lossy()));
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
