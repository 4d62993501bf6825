//! Work on many skills at once, with a progress bar and a summary.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use skills_core::Kind;

use super::CliError;
use super::connection::Connection;
use super::humanize::count;
use super::output::{Output, lines};

/// Items in progress at a time: enough for the store to commit them in groups.
const CONCURRENCY: usize = 32;

/// A terminal shows up to this many names, else a summary. A pipe gets all.
const NAMES_ON_TERMINAL: usize = 20;

/// The result of one item.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was written.
    Done,
    /// The same content was already there.
    Equal,
    /// It was not written, for this reason.
    Skipped(String),
    /// It was not written, because something else is registered than expected.
    Conflict(String),
    /// It cannot be read, for this reason.
    Damaged(String),
}

/// The results of all items, as `--json` prints them.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Items that were written.
    done: Vec<String>,
    /// Items whose content was already there.
    equal: Vec<String>,
    /// Items that were not written.
    pub skipped: Vec<Skip>,
    /// How many of them cannot be read.
    #[serde(skip)]
    damaged: usize,
    /// How many of them are conflicts.
    #[serde(skip)]
    conflicts: usize,
}

/// An item that was not written.
#[derive(Debug, Serialize)]
pub struct Skip {
    /// The file or id.
    what: String,
    reason: String,
}

impl Summary {
    pub fn add(&mut self, what: String, outcome: Outcome) {
        match outcome {
            Outcome::Done => self.done.push(what),
            Outcome::Equal => self.equal.push(what),
            Outcome::Skipped(reason) => self.skipped.push(Skip { what, reason }),
            Outcome::Conflict(reason) => {
                self.conflicts += 1;
                self.skipped.push(Skip { what, reason });
            }
            Outcome::Damaged(reason) => {
                self.damaged += 1;
                self.skipped.push(Skip { what, reason });
            }
        }
    }

    /// Prints the results. `command` is followed by the participles for written and skipped
    /// items. Skipped items are an error, although the others were written.
    pub fn print(
        &self,
        output: &Output,
        [command, written, left_out]: [&str; 3],
        hint: &str,
    ) -> Result<(), CliError> {
        let most = if output.shows_on_terminal() {
            NAMES_ON_TERMINAL
        } else {
            usize::MAX
        };
        let warned = self.skipped.len().min(most);
        for skip in &self.skipped[..warned] {
            output.warn(&format!("{}: {}", skip.what, skip.reason));
        }
        if warned < self.skipped.len() {
            let more = self.skipped.len() - warned;
            output.warn(&format!("{more} more {left_out}; `--json` names all"));
        }
        output.data(command, self, |output| {
            if output.shows_on_terminal() && self.done.len() > NAMES_ON_TERMINAL {
                return by_folder(&self.done);
            }
            lines(&self.done)
        })?;
        let (done, equal) = (self.done.len(), self.equal.len());
        let skipped = self.skipped.len();
        output.remark(&format!(
            "{done} {written}, {equal} unchanged, {skipped} {left_out}"
        ));
        if self.damaged > 0 {
            let message = format!("{} cannot be read", count(self.damaged, "skill"));
            let hint = "register them again or unregister them; the rest was written";
            return Err(CliError::broken(message).with_hint(hint));
        }
        if skipped > 0 {
            let message = format!("{} {left_out}", count(skipped, "file"));
            if self.conflicts == skipped {
                let hint = "something else has these ids now: compare it; the rest was written";
                return Err(CliError::new(Kind::Conflict, message).with_hint(hint));
            }
            return Err(CliError::invalid(message, hint));
        }
        Ok(())
    }

    /// Sorts by name, because items finish in any order.
    fn sort(&mut self) {
        self.done.sort_unstable();
        self.equal.sort_unstable();
        self.skipped.sort_by(|a, b| a.what.cmp(&b.what));
    }
}

/// How many items there are in each folder, in at most as many lines as there may be names.
fn by_folder(names: &[String]) -> String {
    let mut folders = BTreeMap::<&str, usize>::new();
    for name in names {
        let folder = name.split_once('/').map_or(".", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let shown = folders.iter().take(NAMES_ON_TERMINAL);
    let mut all =
        lines(shown.map(|(folder, number)| format!("{folder}/  {}", count(*number, "file"))));
    if let Some(more) = folders
        .len()
        .checked_sub(NAMES_ON_TERMINAL)
        .filter(|it| *it > 0)
    {
        all.extend(["and ", &more.to_string(), " more folders\n"]);
    }
    all
}

/// Runs `work` for every item, several at a time, and adds the results to `summary`. The first
/// error stops the batch; finished items stay written.
pub async fn run<I, F>(
    connection: &Connection,
    action: &str,
    items: Vec<(String, I)>,
    mut summary: Summary,
    work: impl Fn(I) -> F,
) -> Result<Summary, CliError>
where
    F: Future<Output = Result<Outcome, CliError>>,
{
    let bar = progress_bar(&connection.output, action, items.len());
    // The bar replaces the spinner of each call.
    connection.spins.set(false);
    let results = stream::iter(items).map(|(what, item)| {
        let result = work(item);
        async { (what, result.await) }
    });
    let mut results = results.buffer_unordered(CONCURRENCY);
    while let Some((what, result)) = results.next().await {
        match result {
            Ok(outcome) => summary.add(what, outcome),
            Err(mut error) => {
                bar.finish_and_clear();
                error.message = format!("{what}: {}", error.message);
                let advice = "finished items stay written; run the command again to continue";
                error.hint = Some(match error.hint {
                    Some(hint) => format!("{hint}; {advice}"),
                    None => advice.into(),
                });
                return Err(error);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    summary.sort();
    Ok(summary)
}

fn progress_bar(output: &Output, action: &str, len: usize) -> ProgressBar {
    if !output.may_animate() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} ({eta} left)");
    let bar = ProgressBar::new(len as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(action.to_owned());
    bar.tick();
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
