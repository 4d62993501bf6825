//! Many skills at once: some side by side, with a bar for whoever watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::CliError;
use super::connection::Connection;
use super::humanize::count;
use super::output::{Output, lines};

/// How many are on their way at a time: enough to share a commit on the other side.
const AT_ONCE: usize = 32;

/// What happened to one of many.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was written.
    Done,
    /// It was there already, and equal.
    Equal,
    /// It was left alone, and why.
    Skipped(String),
}

/// What became of all of them.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// What was written.
    pub done: Vec<String>,
    /// What was equal already.
    pub equal: Vec<String>,
    /// What was left alone, and why.
    pub skipped: Vec<Skip>,
}

/// Something that was left alone.
#[derive(Debug, Serialize)]
pub struct Skip {
    /// The file or id.
    pub what: String,
    /// Why.
    pub reason: String,
}

impl Summary {
    pub fn note(&mut self, what: String, outcome: Outcome) {
        match outcome {
            Outcome::Done => self.done.push(what),
            Outcome::Equal => self.equal.push(what),
            Outcome::Skipped(reason) => self.skipped.push(Skip { what, reason }),
        }
    }

    /// Says how it went: the command, and its words for what it did and what it did not.
    /// Something left is a failure, though the rest is done.
    pub fn say(
        &self,
        output: &Output,
        [command, did, left]: [&str; 3],
        hint: &str,
    ) -> Result<(), CliError> {
        for skip in &self.skipped {
            output.warn(&format!("{}: {}", skip.what, skip.reason));
        }
        output.data(command, self, |_| {
            lines(self.done.iter().map(String::as_str))
        })?;
        let (done, equal) = (self.done.len(), self.equal.len());
        let skipped = self.skipped.len();
        output.remark(&format!(
            "{done} {did}, {equal} unchanged, {skipped} {left}"
        ));
        if skipped > 0 {
            let message = format!("{} {left}", count(skipped, "file"));
            return Err(CliError::invalid(message, hint));
        }
        Ok(())
    }

    /// In an order that does not depend on who was faster.
    fn sort(&mut self) {
        self.done.sort_unstable();
        self.equal.sort_unstable();
        self.skipped.sort_by(|a, b| a.what.cmp(&b.what));
    }
}

/// Does `work` for every item, some at a time, and adds up what became of them. An
/// error ends it; what is done by then stays done.
pub async fn each<I, F>(
    connection: &Connection,
    verb: &str,
    items: Vec<(String, I)>,
    mut summary: Summary,
    mut work: impl FnMut(I) -> F,
) -> Result<Summary, CliError>
where
    F: Future<Output = Result<Outcome, CliError>>,
{
    let bar = bar(&connection.output, verb, items.len());
    // One thing that moves is enough.
    connection.spins.set(false);
    let mut items = items.into_iter();
    let mut under_way = Vec::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some((what, item)) = items.next()
        {
            under_way.push((what, Box::pin(work(item))));
        }
        if under_way.is_empty() {
            break;
        }
        let (at, outcome) = first(&mut under_way).await;
        let (what, _) = under_way.swap_remove(at);
        match outcome {
            Ok(outcome) => summary.note(what, outcome),
            Err(mut stop) => {
                bar.finish_and_clear();
                stop.message = format!("{what}: {}", stop.message);
                let again = "what is done stays done: run it again to go on";
                stop.hint = Some(match stop.hint {
                    Some(hint) => format!("{hint}; {again}"),
                    None => again.into(),
                });
                return Err(stop);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    summary.sort();
    Ok(summary)
}

/// Waits for the first of several to end.
async fn first<T, F: Future<Output = T> + Unpin>(several: &mut [(String, F)]) -> (usize, T) {
    std::future::poll_fn(|context| {
        for (at, (_, one)) in several.iter_mut().enumerate() {
            if let std::task::Poll::Ready(done) = std::pin::Pin::new(one).poll(context) {
                return std::task::Poll::Ready((at, done));
            }
        }
        std::task::Poll::Pending
    })
    .await
}

fn bar(output: &Output, verb: &str, len: usize) -> ProgressBar {
    if !output.may_animate() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} ({eta} left)");
    let bar = ProgressBar::new(len as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(verb.to_owned());
    bar.tick();
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
