//! What a command prints: data on stdout, everything else on stderr. With `--json` an error is
//! data too.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use skills_core::escape_control_in_lines;

use super::CliError;
use super::markdown;

/// The version of the JSON documents.
const SCHEMA_VERSION: u32 = 1;

/// Whether this process has printed its one JSON document, of data or of an error.
static DOCUMENT_PRINTED: AtomicBool = AtomicBool::new(false);

/// The output of one command.
#[derive(Clone, Debug)]
pub struct Output {
    json: bool,
    quiet: bool,
    /// None if stdout is a pipe or a file.
    terminal: Option<Terminal>,
}

#[derive(Clone, Copy, Debug)]
struct Terminal {
    /// Whether it shows styles: not if `NO_COLOR` or `TERM=dumb` is set.
    styled: bool,
    columns: Option<usize>,
}

impl Output {
    pub fn new(json: bool, quiet: bool) -> Self {
        let stdout = console::Term::stdout();
        let terminal = stdout.is_term().then(|| Terminal {
            styled: stdout.features().colors_supported(),
            columns: stdout.size_checked().map(|(_, columns)| columns.into()),
        });
        Self {
            json,
            quiet,
            terminal,
        }
    }

    /// Columns of the terminal, if stdout is one.
    pub fn columns(&self) -> Option<usize> {
        self.terminal?.columns
    }

    /// Prints the result: as one JSON document, or as text.
    pub fn data(
        &self,
        command: &str,
        data: &impl Serialize,
        text: impl FnOnce(&Self) -> String,
    ) -> Result<(), CliError> {
        #[derive(Serialize)]
        struct Envelope<'a, T> {
            schema_version: u32,
            command: &'a str,
            data: &'a T,
        }
        if !self.json {
            return print(&text(self));
        }
        let envelope = Envelope {
            schema_version: SCHEMA_VERSION,
            command,
            data,
        };
        let document = serde_json::to_string(&envelope)
            .map_err(|error| CliError::broken(format!("cannot encode the result: {error}")))?;
        print(&(document + "\n"))?;
        DOCUMENT_PRINTED.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A document as it is printed: unchanged in a pipe or if `raw`. For a terminal control
    /// characters are escaped and markdown is rendered.
    pub fn document(&self, text: &str, is_markdown: bool, raw: bool) -> String {
        match self.terminal {
            Some(terminal) if !raw => {
                if is_markdown && terminal.styled {
                    markdown::render(text)
                } else {
                    line(&escape_control_in_lines(text))
                }
            }
            _ => text.to_owned(),
        }
    }

    /// Prints a note on stderr.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            print_stderr(&format!("note: {text}"));
        }
    }

    /// Prints a warning on stderr: a problem that does not stop the command.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            print_stderr(&format!("warning: {text}"));
        }
    }

    /// Prints a line for people on stderr, such as a summary; not with `--json`.
    pub fn remark(&self, text: &str) {
        if !self.quiet && !self.json {
            print_stderr(text);
        }
    }

    /// Whether a spinner or a progress bar may be shown on stderr.
    pub fn may_animate(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }
}

/// Writes to stdout. If its reader is gone, the process ends with success.
pub fn print(text: &str) -> Result<(), CliError> {
    match write_stdout(text) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(CliError::broken(format!("cannot write to stdout: {error}"))),
    }
}

/// Writes an error document to stdout, unless a document was printed before. Returns whether it
/// was written.
pub fn print_error_document(document: &str) -> bool {
    !DOCUMENT_PRINTED.load(Ordering::Relaxed) && write_stdout(document).is_ok()
}

fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes a line to stderr, with control characters escaped.
pub fn print_stderr(text: &str) {
    // If stderr is closed, the exit code still reports a failure.
    let _ = writeln!(io::stderr(), "{}", escape_control_in_lines(text));
}

/// The text with a line feed at its end.
pub fn line(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Each text on a line of its own.
pub fn lines(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut all = String::new();
    for text in texts {
        all.push_str(text.as_ref());
        all.push('\n');
    }
    all
}
