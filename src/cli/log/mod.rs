//! Log lines on stderr.
//!
//! A server logs through `writer`, which neither blocks nor fails when stderr is not read, and
//! `repeats`, which turns a repeated complaint into one line with a count.

mod repeats;
mod writer;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use skills_core::escape_control_in_lines;
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::output::escape_json;
use repeats::Repeats;

/// Options of the commands that log.
#[derive(Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// The format of log lines on stderr.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    log_format: Format,
}

impl LogArgs {
    /// Whether people read the lines.
    pub fn is_for_people(self) -> bool {
        self.log_format == Format::Human
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for people.
    Human,
    /// One JSON object per line.
    Json,
}

/// The filter without `RUST_LOG`: every crate of this program, and no library. What matters of a
/// library's errors reaches this program, which logs it in its own words.
const DEFAULT_FILTER: &str = "off,skills=info";

/// The filter of a short command without `RUST_LOG`. The command itself reports damaged rows and
/// writes that fail.
const VERB_FILTER: &str = "off,skills=warn,skills_core::catalogue=error,skills_iii::state::write_health=off,\
     skills_api::lint=off";

/// Starts logging for a server.
pub fn start(args: LogArgs) {
    writer::start(report_repeats);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter(DEFAULT_FILTER))
        .log_internal_errors(false);
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let started = match args.log_format {
        Format::Human => subscriber
            .with_ansi(colour)
            .with_target(false)
            .with_writer(|| Line(escape_text))
            .finish()
            .with(Repeats)
            .try_init(),
        Format::Json => subscriber
            .json()
            .flatten_event(true)
            .with_writer(|| Line(escape_json))
            .finish()
            .with(Repeats)
            .try_init(),
    };
    // A test may have started logging before.
    let _ = started;
    // The default hook writes to stderr, and blocks when it is not read.
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            tracing::error!("{panic}\n{backtrace}");
        } else {
            tracing::error!("{panic}");
        }
    }));
}

/// Starts logging for a short command: warnings, without times.
pub fn start_for_a_verb(quiet: bool) {
    let default = if quiet {
        "error,skills_iii::state::write_health=off"
    } else {
        VERB_FILTER
    };
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter(default))
        .log_internal_errors(false)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .try_init();
    // A test may have started logging before.
    let _ = started;
}

/// Writes a line to stderr: through the log of a server, directly in other commands.
pub fn print_line(text: &str) {
    print_safe_line(&escape_control_in_lines(text));
}

/// Writes a line that is safe for a terminal, colours included.
pub fn print_safe_line(text: &str) {
    let text = format!("{text}\n");
    if !writer::push(text.as_bytes()) {
        // If stderr is closed, the exit code still reports a failure.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Makes [`print_line`] independent of the reader of stderr, in a server without a log.
pub fn start_lines() {
    writer::start(|| {});
}

/// When dropped, waits a little until the log is written.
pub struct FlushAtExit;

impl Drop for FlushAtExit {
    fn drop(&mut self) {
        report_repeats();
        writer::flush();
    }
}

/// What `RUST_LOG` selects, else the default.
fn filter(default: &str) -> EnvFilter {
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default))
}

/// Logs what was left out as a repetition.
fn report_repeats() {
    for (level, message, count) in repeats::take() {
        if level == Level::INFO {
            tracing::info!(count, "more lines like: {message}");
        } else {
            tracing::warn!(count, "more lines like: {message}");
        }
    }
}

/// The writer of one log line, which the function makes safe to print.
struct Line(fn(&str) -> String);

impl Write for Line {
    // Called once with the whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\x1b');
        if line.iter().all(is_plain) {
            writer::push(line);
        } else {
            writer::push((self.0)(&String::from_utf8_lossy(line)).as_bytes());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Escapes control characters other than ESC: the formatter escapes those of a message, and the
/// others are its own colours.
fn escape_text(line: &str) -> String {
    let parts: Vec<_> = line.split('\x1b').map(escape_control_in_lines).collect();
    parts.join("\x1b")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_colours_and_no_other_control_characters() {
        let line = "\x1b[33m WARN\x1b[0m a\u{e}\u{9b}2J\u{202e}b\n";
        let escaped = "\x1b[33m WARN\x1b[0m a\\u{e}\\u{9b}2J\\u{202e}b\n";
        assert_eq!(escape_text(line), escaped);
    }
}
