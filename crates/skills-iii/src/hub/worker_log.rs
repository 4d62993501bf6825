//! What the log tells of workers on sockets: who came and left, and with how many functions.
//!
//! A worker registers its functions one by one, so its line waits until they are likely there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::session::Session;
use super::{Core, Hub};

/// How long after its introduction a worker's functions are counted.
pub(super) const SETTLE: Duration = Duration::from_millis(100);

/// How many functions a worker had when the log last told of it, and at most.
#[derive(Debug)]
pub(super) struct LoggedFunctions {
    last: AtomicUsize,
    most: AtomicUsize,
}

/// The log has not told of the worker.
const NOT_LOGGED: usize = usize::MAX;

impl Default for LoggedFunctions {
    fn default() -> Self {
        Self {
            last: AtomicUsize::new(NOT_LOGGED),
            most: AtomicUsize::new(0),
        }
    }
}

impl LoggedFunctions {
    /// Notes the number that the log tells of; the one before.
    fn note(&self, functions: usize) -> usize {
        self.most.fetch_max(functions, Ordering::Relaxed);
        self.last.swap(functions, Ordering::Relaxed)
    }
}

impl Hub {
    /// How many workers are connected to a socket, without commands.
    pub fn worker_count(&self) -> usize {
        let directory = self.0.directory();
        let is_worker = |session: &&Arc<Session>| {
            let functions = session.functions.load(Ordering::Relaxed);
            session.address.is_some() && !self.0.is_command(&session.name(), functions)
        };
        directory.sessions.values().filter(is_worker).count()
    }
}

impl Core {
    /// Logs that a worker came, once.
    pub(super) fn log_connected(&self, session: &Session) {
        if session.is_in_process() {
            return;
        }
        let functions = session.functions.load(Ordering::Relaxed);
        if session.logged_functions.note(functions) != NOT_LOGGED {
            return;
        }
        let worker = session.name();
        if self.is_command(&worker, functions) {
            tracing::debug!(worker, "a command connected");
        } else {
            tracing::info!(worker, functions, "worker connected");
        }
    }

    /// Logs every worker that the log told of and that has more or fewer functions now.
    pub(super) fn log_changed_functions(&self) {
        let sessions: Vec<Arc<Session>> = self.directory().sessions.values().cloned().collect();
        for session in sessions {
            let functions = session.functions.load(Ordering::Relaxed);
            let before = session.logged_functions.last.load(Ordering::Relaxed);
            if before != NOT_LOGGED && before != functions {
                session.logged_functions.note(functions);
                let worker = session.name();
                tracing::info!(
                    worker,
                    functions,
                    before,
                    "the functions of a worker changed"
                );
            }
        }
    }

    /// Logs that a worker left. One that left before the log told of it has both lines.
    pub(super) fn log_disconnected(&self, session: &Session, reason: &str) {
        self.log_connected(session);
        let worker = session.name();
        // A client that stops unregisters its functions first.
        let functions = session.logged_functions.most.load(Ordering::Relaxed);
        if self.is_command(&worker, functions) {
            tracing::debug!(worker, reason, "a command disconnected");
        } else {
            tracing::info!(worker, functions, reason, "worker disconnected");
        }
    }

    /// Commands connect and leave all the time, and offer nothing.
    fn is_command(&self, name: &str, functions: usize) -> bool {
        let prefix = self.options.command_prefix;
        functions == 0 && prefix.is_some_and(|prefix| name.starts_with(prefix))
    }
}
