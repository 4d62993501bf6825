//! `skills mcp agent.3md`: one document over MCP on stdin and stdout.
//!
//! Uses neither a runtime nor a log: stdout carries the protocol, and stderr the lines that
//! clients of such servers know.

mod output;
mod selftest;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc;

use agent3md::{Agent, Finding, ValidationReport, tool_text};
use clap::Args;
use skills_core::{SKILL_MD, escape_control};
use skills_files::agents::file;
use skills_files::watch_file;
use skills_mcp::document::{ServedAgent, Server};

use super::log::{self, print_line};
use output::Output;

/// Findings that are printed.
const PRINTED_FINDINGS_MAX: usize = 20;

#[derive(Args)]
pub struct DocumentArgs {
    /// Folders to serve with the registry: skill folders (`SKILL.md`), markdown files and `.3md`
    /// documents. Or one `.3md` document, without the registry: its skills become four tools.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Refuse a document in which the validator finds errors (exit code 1).
    #[arg(long, requires = "paths")]
    strict: bool,

    /// Start the server, call each tool once, print the results and exit.
    #[arg(long, requires = "paths")]
    selftest: bool,
}

impl DocumentArgs {
    /// The document to serve without the registry: one file. A `SKILL.md` is not meant as one.
    pub fn document(&self) -> Option<&Path> {
        let is_file = |path: &Path| {
            let is_skill_md = path.file_name().is_some_and(|name| name == SKILL_MD);
            path.is_file() && !is_skill_md
        };
        match &*self.paths {
            [path] if file::is_document(path) || is_file(path) => Some(path),
            [path] if self.document_option().is_some() && !path.is_dir() => Some(path),
            _ => None,
        }
    }

    /// The options that only the server of one document has.
    pub fn document_option(&self) -> Option<&'static str> {
        match (self.strict, self.selftest) {
            (true, _) => Some("--strict"),
            (_, true) => Some("--selftest"),
            _ => None,
        }
    }
}

/// Serves the document until stdin ends.
pub fn run(path: &Path, args: &DocumentArgs) -> ExitCode {
    let path = file::absolute(path);
    let outcome = load(&path).and_then(|(text, agent)| {
        if args.selftest {
            selftest::run(&path, &agent)
        } else {
            serve(path, text, agent, args.strict)
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            report(&problem);
            ExitCode::FAILURE
        }
    }
}

fn serve(path: PathBuf, text: String, agent: Agent, strict: bool) -> Result<(), String> {
    if strict {
        let validation = agent3md::validate(&text);
        let errors = validation.errors().count();
        if errors > 0 {
            report_findings(&path, &validation);
            let path = path.display();
            return Err(format!("refusing to serve {path}: {errors} error(s)"));
        }
    }
    log::start_lines();
    report_loaded(&path, &agent);
    let document = Arc::new(ServedAgent::new(agent));
    let server = Arc::new(Server::new(Arc::clone(&document), Output::new()));
    let mut reloader = Reloader {
        server: Arc::clone(&server),
        path,
        strict,
        digest: digest(&text),
    };
    let (validating, validated) = mpsc::channel::<()>();
    // Not joined: a client that does not read its output may block this thread, and ending it
    // loses nothing. Validating here takes as long as loading did, and the client need not wait.
    std::thread::spawn(move || {
        document.agent.prepare();
        drop(document);
        report_findings(&reloader.path, &agent3md::validate(&text));
        drop((text, validating));
        let path = reloader.path.clone();
        watch_file(&path, || reloader.reload());
    });
    let ended = server.run(io::stdin().lock());
    // Findings are printed even if the client disconnects at once.
    let _ = validated.recv();
    match ended {
        // Many clients end by closing the pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stopped: {error}")),
        _ => Ok(()),
    }
}

/// Reads and parses a document.
fn load(path: &Path) -> Result<(String, Agent), String> {
    let text = file::read(path).map_err(|error| error.to_string())?;
    let agent = parse(path, &text)?;
    Ok((text, agent))
}

fn parse(path: &Path, text: &str) -> Result<Agent, String> {
    Agent::parse(text).map_err(|error| format!("failed to parse {}: {error}", path.display()))
}

/// Detects whether a text changed.
fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Serves the document again when its file changes. After a broken edit the last good document
/// stays.
struct Reloader<W> {
    server: Arc<Server<W>>,
    path: PathBuf,
    strict: bool,
    /// Of the text that was read last.
    digest: u64,
}

impl<W: Write> Reloader<W> {
    /// Reads the file again; false if the client is gone.
    fn reload(&mut self) -> bool {
        match self.changed() {
            Ok(None) => true,
            Ok(Some(agent)) => self
                .server
                .replace(Arc::new(ServedAgent::new(agent)))
                .is_ok(),
            Err(problem) => {
                report(&format!("{problem}; still serving the last good document"));
                true
            }
        }
    }

    /// The document, if its text changed.
    fn changed(&mut self) -> Result<Option<Agent>, String> {
        let text = file::read(&self.path).map_err(|error| error.to_string())?;
        let digest = digest(&text);
        if std::mem::replace(&mut self.digest, digest) == digest {
            return Ok(None);
        }
        let agent = parse(&self.path, &text)?;
        let validation = agent3md::validate(&text);
        let refused = self.strict && !validation.is_ok();
        if !refused {
            report_loaded(&self.path, &agent);
        }
        report_findings(&self.path, &validation);
        if refused {
            return Err(format!("{} now has errors", self.path.display()));
        }
        agent.prepare();
        Ok(Some(agent))
    }
}

fn report_loaded(path: &Path, agent: &Agent) {
    write_line(&tool_text::loaded_line(agent, &path.to_string_lossy()));
}

fn report_findings(path: &Path, validation: &ValidationReport) {
    for finding in validation.findings.iter().take(PRINTED_FINDINGS_MAX) {
        report(&format_finding(path, finding));
    }
    let rest = validation
        .findings
        .len()
        .saturating_sub(PRINTED_FINDINGS_MAX);
    if rest > 0 {
        let path = path.display();
        report(&format!(
            "{rest} more findings; `skills agent validate {path}` lists them all"
        ));
    }
}

/// A finding in the format of compilers.
pub fn format_finding(path: &Path, finding: &Finding) -> String {
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

fn report(text: &str) {
    write_line(&format!("[agent-3md mcp] {text}"));
}

fn write_line(line: &str) {
    print_line(&escape_control(line));
}
