//! What a command says: data on stdout, everything else on stderr. With `--json` an error is
//! data too.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::Stop;
use super::render::markdown;

/// The version of the JSON that is printed.
const SCHEMA_VERSION: u32 = 1;

/// Whether this process has said its JSON document: there is one, of data or of an error.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// How one command speaks.
#[derive(Clone, Debug)]
pub struct Output {
    json: bool,
    quiet: bool,
    /// Colours of stdout.
    pub paint: Paint,
    /// Whether a person reads stdout.
    terminal: bool,
    /// Columns of that terminal, if it says so.
    pub columns: Option<usize>,
}

impl Output {
    pub fn new(json: bool, quiet: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let size = console::Term::stdout().size_checked();
        let size = size.filter(|_| terminal);
        Self {
            json,
            quiet,
            paint: Paint::new(terminal),
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
    ) -> Result<(), Stop> {
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
        let text = text.map_err(|error| Stop::broken(format!("cannot say it as JSON: {error}")))?;
        print(&(text + "\n"))?;
        ANSWERED.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A document for whoever reads: as it is in a pipe or if `raw`; for a terminal
    /// without what could move its cursor, and rendered where that shows.
    pub fn document(&self, text: &str, is_markdown: bool, raw: bool) -> String {
        if raw || !self.terminal {
            text.to_owned()
        } else if is_markdown && self.paint.is_on() {
            markdown(text, self.paint)
        } else {
            line(&tame(text))
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
            to_stderr(&format!("{}\n", tame(text)));
        }
    }

    /// Whether something that moves may be shown on stderr.
    pub fn may_animate(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }

    fn aside(&self, what: &str, text: &str) {
        if !self.quiet {
            to_stderr(&format!("{what}: {}\n", tame(text)));
        }
    }
}

/// Writes data. A reader that has seen enough is no failure: there is nothing left to do.
pub fn print(text: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Stop::broken(format!("cannot write to stdout: {error}"))),
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

/// The text without what could move a terminal's cursor or worse.
pub fn tame(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {}
            c if c.is_control() => {
                let _ = write!(out, "{}", c.escape_default());
            }
            c => out.push(c),
        }
    }
    out
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

/// Emphasis, where it can be seen.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For a stream that is a terminal or not; `NO_COLOR` and dumb terminals count as not.
    fn new(terminal: bool) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            on: terminal && !no_color && !dumb,
        }
    }

    #[cfg(test)]
    pub const fn always() -> Self {
        Self { on: true }
    }

    /// Whether it shows at all.
    pub const fn is_on(self) -> bool {
        self.on
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", "22", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", "22", text)
    }

    pub fn underline(self, text: &str) -> String {
        self.wrap("4", "24", text)
    }

    fn wrap(self, on: &str, off: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{on}m{text}\x1b[{off}m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_moved_by_what_it_is_shown() {
        assert_eq!(
            tame("a\x1b[2Jb\r\n\tc\u{7}\u{9b}"),
            "a\\u{1b}[2Jb\n\tc\\u{7}\\u{9b}"
        );
    }

    #[test]
    fn paint_shows_on_terminals_only() {
        assert_eq!(Paint::new(false).bold("x"), "x");
        assert_eq!(Paint::always().bold("x"), "\x1b[1mx\x1b[22m");
        assert_eq!(Paint::always().dim(""), "");
    }
}
