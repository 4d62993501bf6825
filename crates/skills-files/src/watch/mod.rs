//! A bell that rings when something may have changed in some folders.
//!
//! It only rings: what changed is for the one who hears it to find out. The system is
//! asked to tell of changes; folders it cannot tell about (not there yet, too many, a
//! limit is reached, no such service) are left to looking every now and then. Knows
//! nothing of what the folders hold.

mod os_events;
mod single_file;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use os_events::{Armed, Heard, System};

pub use single_file::watch_file;

/// How long and how often.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// A burst is over when nothing happened for so long,
    quiet: Duration,
    /// or when it has lasted so long.
    patience: Duration,
    /// How often to look where the system does not tell.
    poll: Duration,
    /// How often to look where it does: some network file systems accept to be watched
    /// and then say nothing of what other machines do.
    heartbeat: Duration,
    /// More folders than this are not watched.
    folders: usize,
}

impl Pace {
    const USUAL: Self = Self {
        quiet: Duration::from_millis(100),
        patience: Duration::from_secs(1),
        poll: Duration::from_secs(2),
        heartbeat: Duration::from_secs(30),
        folders: 4_096,
    };
}

/// Looking may take a twentieth of the time, where nothing but time says when to look.
const SHARE: u32 = 20;
/// After a burst, looking waits for a few times as long as it took last time.
const BREATHER: u32 = 4;

/// Rings when something may have changed.
#[derive(Debug)]
pub struct Watcher {
    pace: Pace,
    heard: Arc<Heard>,
    /// Lent to a thread while it is set up.
    system: Option<System>,
    /// Since when the owner has been looking.
    looking: Instant,
    /// What was last said about folders that are not watched.
    said: Option<String>,
}

impl Default for Watcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Watcher {
    /// A bell that nobody rings yet.
    pub fn new() -> Self {
        let heard = Arc::new(Heard::default());
        let system = System::new(&heard);
        Self::with(Pace::USUAL, heard, Some(system))
    }

    fn with(pace: Pace, heard: Arc<Heard>, system: Option<System>) -> Self {
        Self {
            pace,
            heard,
            system,
            looking: Instant::now(),
            said: None,
        }
    }

    /// Waits until something may have changed in `folders` (not in those below them)
    /// since the last time, and until the burst is over. Returns at once when folders
    /// are new to it: they may have changed before they were watched.
    ///
    /// ```text
    /// loop {
    ///     let folders = look();
    ///     watcher.changed(&folders).await;
    /// }
    /// ```
    pub async fn changed(&mut self, folders: &[PathBuf]) {
        let cost = self.looking.elapsed();
        let Armed { new, unwatched } = self.arm(folders).await;
        let polling = unwatched.is_some();
        self.say(unwatched);
        if !new {
            let pause = if polling {
                self.pace.poll.max(cost * SHARE)
            } else {
                self.pace.heartbeat
            };
            if timeout(pause, self.heard.rung()).await.is_ok() {
                self.burst(cost).await;
            }
        }
        self.looking = Instant::now();
    }

    async fn burst(&self, cost: Duration) {
        let quiet = self.pace.quiet.max(cost * BREATHER);
        let over = async { while timeout(quiet, self.heard.rung()).await.is_ok() {} };
        // It goes on; the rest of it rings again.
        let _ = timeout(self.pace.patience.max(quiet), over).await;
    }

    /// Asks the system about folders. On a thread, for there may be many.
    async fn arm(&mut self, folders: &[PathBuf]) -> Armed {
        let Some(mut system) = self.system.take() else {
            return Armed::not("changes cannot be watched here");
        };
        let (folders, most) = (folders.to_vec(), self.pace.folders);
        let arming = tokio::task::spawn_blocking(move || {
            let armed = system.arm(&folders, most);
            (system, armed)
        });
        match arming.await {
            Ok((system, armed)) => {
                self.system = Some(system);
                armed
            }
            Err(error) => Armed::not(error),
        }
    }

    /// Says once why time has to tell.
    fn say(&mut self, unwatched: Option<String>) {
        if let Some(why) = &unwatched
            && self.said != unwatched
        {
            tracing::info!(why, "looking for changes every now and then");
        }
        self.said = unwatched;
    }
}

#[cfg(test)]
mod tests;
