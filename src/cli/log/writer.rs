//! Writes lines to stderr without blocking or failing the code that logs.
//!
//! Lines go into a buffer of limited size, and one thread writes the buffer. A line that does not
//! fit, or that stderr does not accept, is dropped and counted; when writing works again, one line
//! reports the count.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::repeats;
use crate::limits::{LOG_FLUSH_TIMEOUT, LOG_REPEATS_PERIOD, MAX_LOG_BUFFER_BYTES};

static WRITER: OnceLock<LogWriter> = OnceLock::new();

#[derive(Debug, Default)]
struct LogWriter {
    pending: Mutex<Pending>,
    /// Notified when lines are added, and when they are written.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    lines: Vec<u8>,
    count: u64,
    /// Whether lines were taken and are not written yet.
    is_writing: bool,
    /// Lines dropped since the start.
    dropped: u64,
}

/// Starts the thread that writes. It calls `report_repeats` some time after a complaint.
pub fn start(report_repeats: fn()) {
    let mut is_new = false;
    let writer = WRITER.get_or_init(|| {
        is_new = true;
        LogWriter::default()
    });
    if is_new {
        // Not joined: it may wait for a reader of stderr for ever.
        std::thread::spawn(move || writer.run(io::stderr(), report_repeats));
    }
}

/// Adds a line, or drops it if the buffer is full. Returns false if nothing was started.
pub fn push(line: &[u8]) -> bool {
    WRITER.get().map(|writer| writer.push(line)).is_some()
}

/// Waits until every line is written, for a limited time.
pub fn flush() {
    if let Some(writer) = WRITER.get() {
        writer.flush();
    }
}

impl LogWriter {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        // Each change is complete before anything can panic.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut pending = self.lock();
        if pending.lines.len() + line.len() > MAX_LOG_BUFFER_BYTES {
            pending.dropped += 1;
            return;
        }
        pending.lines.extend_from_slice(line);
        pending.count += 1;
        drop(pending);
        self.changed.notify_all();
    }

    fn flush(&self) {
        let is_unwritten = |pending: &mut Pending| pending.is_writing || pending.count > 0;
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), LOG_FLUSH_TIMEOUT, is_unwritten);
        drop(waited);
    }

    fn run(&self, mut output: impl Write, report_repeats: fn()) {
        let mut lines = Vec::new();
        let mut reported = 0;
        let mut repeats_due = None;
        loop {
            let count = self.take(&mut lines, repeats_due);
            if count > 0 {
                let written = output.write_all(&lines);
                let mut pending = self.lock();
                pending.is_writing = false;
                if written.is_err() {
                    pending.dropped += count;
                }
                let dropped = pending.dropped;
                drop(pending);
                self.changed.notify_all();
                // If there is no room for this line either, the next one has the count.
                if written.is_ok() && dropped > reported {
                    tracing::warn!(
                        dropped = dropped - reported,
                        "log lines were dropped: stderr was not read or could not be written"
                    );
                    reported = dropped;
                }
            }
            match repeats_due {
                Some(due) if due <= Instant::now() => {
                    repeats_due = None;
                    report_repeats();
                }
                None if !repeats::is_empty() => {
                    repeats_due = Some(Instant::now() + LOG_REPEATS_PERIOD);
                }
                _ => {}
            }
        }
    }

    /// Waits for lines, until `due` at most, and takes them; returns how many there are.
    fn take(&self, lines: &mut Vec<u8>, due: Option<Instant>) -> u64 {
        let mut pending = self.lock();
        while pending.count == 0 {
            let Some(due) = due else {
                let woken = self.changed.wait(pending);
                pending = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return 0;
            }
            let woken = self.changed.wait_timeout(pending, left);
            pending = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        lines.clear();
        std::mem::swap(lines, &mut pending.lines);
        pending.is_writing = true;
        std::mem::take(&mut pending.count)
    }
}
