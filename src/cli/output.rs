//! What a command says: data on stdout, everything else on stderr. With `--json` an error is
//! data too.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use skills_core::escape_control_in_lines;

use super::CliError;
use super::markdown;

/// The version of the JSON that is printed.
const SCHEMA_VERSION: u32 = 1;

/// Whether this process has said its JSON document: there is one, of data or of an error.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// How one command speaks.
#[derive(Clone, Debug)]
pub struct Output {
    json: bool,
    quiet: bool,
    /// Whether stdout shows escape sequences: a terminal, unless `NO_COLOR` or `TERM=dumb` is set.
    styled: bool,
    /// Whether a person reads stdout.
    terminal: bool,
    /// Columns of that terminal, if it says so.
    pub columns: Option<usize>,
}

impl Output {
    pub fn new(json: bool, quiet: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let stdout = console::Term::stdout();
        let size = stdout.size_checked().filter(|_| terminal);
        Self {
            json,
            quiet,
            styled: stdout.features().colors_supported(),
            terminal,
            columns: size.map(|(_, columns)| columns.into()),
        }
    }

    /// Says the result: as one JSON document, or in words.
    pub fn data(
        &self,
        command: &str,
        data: &impl Serialize,
        words: impl FnOnce(&Self) -> String,
    ) -> Result<(), CliError> {
        #[derive(Serialize)]
        struct Envelope<'a, T> {
            schema_version: u32,
            command: &'a str,
            data: &'a T,
        }
        if !self.json {
            return print(&words(self));
        }
        let envelope = Envelope {
            schema_version: SCHEMA_VERSION,
            command,
            data,
        };
        let text = serde_json::to_string(&envelope);
        let text =
            text.map_err(|error| CliError::broken(format!("cannot say it as JSON: {error}")))?;
        print(&(text + "\n"))?;
        ANSWERED.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A document for whoever reads: as it is in a pipe or if `raw`; for a terminal
    /// without what could move its cursor, and rendered where that shows.
    pub fn document(&self, text: &str, is_markdown: bool, raw: bool) -> String {
        if raw || !self.terminal {
            text.to_owned()
        } else if is_markdown && self.styled {
            markdown::render(text)
        } else {
            line(&escape_control_in_lines(text))
        }
    }

    /// Something worth knowing that is not the result.
    pub fn note(&self, text: &str) {
        self.aside("note", text);
    }

    /// Something that is wrong and does not stop us.
    pub fn warn(&self, text: &str) {
        self.aside("warning", text);
    }

    /// A line for whoever watches: a count, a summary.
    pub fn remark(&self, text: &str) {
        if !self.quiet && !self.json {
            to_stderr(&format!("{}\n", escape_control_in_lines(text)));
        }
    }

    /// Whether something that moves may be shown on stderr.
    pub fn may_animate(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }

    fn aside(&self, what: &str, text: &str) {
        if !self.quiet {
            to_stderr(&format!("{what}: {}\n", escape_control_in_lines(text)));
        }
    }
}

/// Writes data. A reader that has seen enough is no failure: there is nothing left to do.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(CliError::broken(format!("cannot write to stdout: {error}"))),
    }
}

/// Writes an error for a program; answers whether that was possible, and whether there was
/// still a document to write.
pub fn error_to_stdout(document: &str) -> bool {
    let mut out = io::stdout().lock();
    !ANSWERED.load(Ordering::Relaxed)
        && out
            .write_all(document.as_bytes())
            .and_then(|()| out.flush())
            .is_ok()
}

/// Writes for people.
pub fn to_stderr(text: &str) {
    // Nobody to tell it to: the exit code still says how it went.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Text with an end of line, whether it had one or not.
pub fn line(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// One line for each.
pub fn lines<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for text in texts {
        all.push_str(text);
        all.push('\n');
    }
    all
}
