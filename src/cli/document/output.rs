//! Standard output, and the end of a server whose client neither writes nor reads any more.

use std::io::{self, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use skills_mcp::on_input_hang_up;

/// How much is written at once: what a pipe holds, so that a slow reader is seen to read.
const WRITE_MAX: usize = 65_536;
/// How long one write may wait, after the client closed its end of the input.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The time-out is waited for in so many steps: a process that does not run for a while, on a busy
/// machine, loses one step only.
const DRAIN_STEPS: u32 = 10;

/// Standard output that counts the beginnings and ends of its writes.
pub struct Output {
    stdout: Stdout,
    count: Arc<AtomicU64>,
}

impl Output {
    /// Standard output. The process ends with success if the client closed its end of the input
    /// and then reads nothing.
    pub fn new() -> Self {
        let count = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&count);
        on_input_hang_up(move || exit_when_unread(&counted));
        Self {
            stdout: io::stdout(),
            count,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let written = self.stdout.write(&bytes[..bytes.len().min(WRITE_MAX)]);
        self.count.fetch_add(1, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let flushed = self.stdout.flush();
        self.count.fetch_add(1, Ordering::Relaxed);
        flushed
    }
}

/// Ends the process when one write has waited for too long.
fn exit_when_unread(count: &AtomicU64) {
    let (mut before, mut silent_steps) = (0, 0);
    while silent_steps < DRAIN_STEPS {
        sleep(DRAIN_TIMEOUT / DRAIN_STEPS);
        let now = count.load(Ordering::Relaxed);
        let is_writing = now % 2 == 1;
        silent_steps = if is_writing && now == before {
            silent_steps + 1
        } else {
            0
        };
        before = now;
    }
    std::process::exit(0);
}
