//! What a command prints: data on stdout, everything else on stderr. With `--json` an error is
//! data too.
//!
//! What is written to a terminal is escaped here, for every command; a pipe gets what there is.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use skills_core::{escape_control, escape_control_in_lines};

use super::CliError;
use super::label::{Label, stderr_has_colours};
use super::log::{print_line, print_safe_line};
use super::markdown;

/// The version of the JSON documents.
pub const SCHEMA_VERSION: u32 = 1;

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

/// What a command prints as text.
pub enum Text {
    /// Text of documents and workers, which is escaped on a terminal.
    Plain(String),
    /// Text that a terminal gets as it is: escaped and then styled, or wanted unchanged.
    Ready(String),
    /// What is not text.
    Bytes(Vec<u8>),
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl Text {
    /// The text below a plain one.
    pub fn below(self, head: &str) -> Self {
        match self {
            Self::Plain(text) => Self::Plain(format!("{head}{text}")),
            Self::Ready(text) => Self::Ready(format!("{}{text}", escape_control_in_lines(head))),
            Self::Bytes(bytes) => Self::Bytes([head.as_bytes(), &bytes].concat()),
        }
    }

    /// The text with a line feed at its end.
    pub fn line(self) -> Self {
        match self {
            Self::Plain(text) => Self::Plain(line(&text)),
            Self::Ready(text) => Self::Ready(line(&text)),
            Self::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
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

    /// Whether stdout is a terminal that shows styles.
    pub fn is_styled(&self) -> bool {
        !self.json && self.terminal.is_some_and(|terminal| terminal.styled)
    }

    /// Whether people see the result on a terminal, as text.
    pub fn shows_on_terminal(&self) -> bool {
        !self.json && self.terminal.is_some()
    }

    /// Prints the result: as one JSON document, or as text.
    pub fn data<T: Into<Text>>(
        &self,
        command: &str,
        data: &impl Serialize,
        text: impl FnOnce(&Self) -> T,
    ) -> Result<(), CliError> {
        #[derive(Serialize)]
        struct Envelope<'a, T> {
            schema_version: u32,
            command: &'a str,
            data: &'a T,
        }
        if !self.json {
            return match text(self).into() {
                Text::Plain(text) => print(&text),
                Text::Ready(text) => write_or_exit(text.as_bytes()),
                Text::Bytes(bytes) => write_or_exit(&bytes),
            };
        }
        let envelope = Envelope {
            schema_version: SCHEMA_VERSION,
            command,
            data,
        };
        let document = serde_json::to_string(&envelope)
            .map_err(|error| CliError::broken(format!("cannot encode the result: {error}")))?;
        write_or_exit(json_line(&document).as_bytes())?;
        DOCUMENT_PRINTED.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A document as it is printed: unchanged in a pipe or if `raw`. For a terminal control
    /// characters are escaped and markdown is rendered.
    pub fn document(&self, text: &str, is_markdown: bool, raw: bool) -> Text {
        match self.terminal {
            _ if raw => Text::Ready(text.to_owned()),
            None => Text::Plain(text.to_owned()),
            Some(Terminal {
                styled: true,
                columns,
            }) if is_markdown => Text::Ready(markdown::render(text, columns)),
            Some(_) => Text::Plain(line(text)),
        }
    }

    /// Prints a note on stderr.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            print_labelled(Label::Note, text);
        }
    }

    /// Prints a warning on stderr: a problem that does not stop the command.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            print_labelled(Label::Warning, text);
        }
    }

    /// Prints a line for people on stderr, such as a summary; not with `--json`.
    pub fn remark(&self, text: &str) {
        if !self.quiet && !self.json {
            print_line(text);
        }
    }

    /// Whether a spinner or a progress bar may be shown on stderr.
    pub fn may_animate(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }
}

fn print_labelled(label: Label, text: &str) {
    print_safe_line(&label.before(text, stderr_has_colours()));
}

/// Writes text to stdout, escaped if it is a terminal. If its reader is gone, the process ends with
/// success.
pub fn print(text: &str) -> Result<(), CliError> {
    if io::stdout().is_terminal() {
        write_or_exit(escape_control_in_lines(text).as_bytes())
    } else {
        write_or_exit(text.as_bytes())
    }
}

/// Writes text that is safe for a terminal to stdout.
pub fn print_ready(text: &str) -> Result<(), CliError> {
    write_or_exit(text.as_bytes())
}

fn write_or_exit(text: &[u8]) -> Result<(), CliError> {
    match write_stdout(text) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(CliError::broken(format!("cannot write to stdout: {error}"))),
    }
}

/// Writes an error document to stdout, unless a document was printed before. Returns whether it
/// was written.
pub fn print_error_document(document: &str) -> bool {
    !DOCUMENT_PRINTED.load(Ordering::Relaxed)
        && write_stdout(json_line(document).as_bytes()).is_ok()
}

fn write_stdout(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

/// A JSON document on a line, escaped if stdout is a terminal.
fn json_line(document: &str) -> String {
    let document = line(document);
    if io::stdout().is_terminal() {
        escape_json(&document)
    } else {
        document
    }
}

/// Escapes what JSON leaves unescaped and a terminal may act on. The value stays the same.
pub fn escape_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    let mut buffer = [0; 4];
    for c in document.chars() {
        let text: &str = c.encode_utf8(&mut buffer);
        if c < '\u{7f}' || escape_control(text) == text {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = "a\u{9b}2J\u{7f}\u{202e}\u{200f}é\n";
        let escaped = escape_json(&serde_json::to_string(value).unwrap());
        assert_eq!(escaped, r#""a\u009b2J\u007f\u202e\u200fé\n""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), value);
    }
}
