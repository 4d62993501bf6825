//! `skills watch`: every change as it happens, with its time and its reason.

mod reason;

use std::borrow::Cow;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use skills_api::TRIGGER_TYPES;
use skills_api::skills::LIST;
use skills_core::Change;
use skills_iii::client::Handler;
use skills_iii::{Client, Event};
use tokio::sync::{broadcast, mpsc};

use reason::{Known, ask_versions, is_same_entry};

use super::CliError;
use super::connection::{Access, Connection, call_failed, not_offered, open};
use super::options::Options;
use crate::app::{self, LocalRegistry, NotSubscribed};

/// How many changes may wait to be printed.
const PENDING_MAX: usize = 65_536;

/// How many changes are explained together.
const BATCH_MAX: usize = 1_024;

/// How many changes may wait together for the versions of each to be asked for.
const ASKED_MAX: usize = 32;

/// Follow changes until Ctrl-C: one line for each, with its time (UTC) and its reason.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// End after this number of changes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills watch                         14:03:22Z register   skill  resend/email: replaced
  skills watch --json                  one JSON document per change
  skills watch --count 1 && make       wait for the next change";

/// A change in the form that is printed.
#[derive(Serialize)]
struct Line<'a> {
    /// When it was received.
    at: String,
    op: &'static str,
    kind: &'static str,
    id: &'a str,
    /// What happened: `registered`, `file edited`.
    reason: Cow<'static, str>,
    #[serde(skip)]
    registered_at: Option<String>,
    /// Where the entry comes from, or came from, if that is known.
    origin: Option<String>,
    owner: Option<String>,
}

impl Line<'_> {
    fn to_text(&self) -> String {
        let Self {
            at,
            op,
            kind,
            id,
            reason,
            owner,
            ..
        } = self;
        // The document has the date.
        let time = at.split_once('T').map_or(at.as_str(), |(_, time)| time);
        let owner = owner.as_ref().map(|owner| format!(", owner {owner}"));
        let owner = owner.unwrap_or_default();
        format!("{time} {op:<10} {kind:<6} {id}: {reason}{owner}\n")
    }
}

pub fn run(args: &WatchArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let stop = app::stop_signal();
        let (sender, changes) = mpsc::channel(PENDING_MAX);
        match &connection.access {
            Access::Local(local) => {
                listen(local, sender);
                let follow = local.follow().await?;
                let known = Known::list(connection).await;
                let print = print_changes(connection, changes, known, args.count);
                watching(connection);
                tokio::select! {
                    () = stop => Ok(()),
                    () = follow => Ok(()),
                    printed = print => printed,
                }
            }
            Access::Remote { client, url } => {
                let events = report_events(connection, client);
                subscribe(connection, client, url, sender).await?;
                let known = Known::list(connection).await;
                let print = print_changes(connection, changes, known, args.count);
                watching(connection);
                tokio::select! {
                    () = stop => Ok(()),
                    () = events => Ok(()),
                    printed = print => printed,
                }
            }
        }
    })
}

fn watching(connection: &Connection) {
    connection.output.note("watching; Ctrl-C ends it");
}

async fn print_changes(
    connection: &Connection,
    mut changes: mpsc::Receiver<Change>,
    mut known: Known,
    count: Option<u64>,
) -> Result<(), CliError> {
    let mut left = count;
    let mut received = Vec::new();
    // All that wait are explained by one look at the lists.
    while changes.recv_many(&mut received, BATCH_MAX).await > 0 {
        let now = Known::list(connection).await;
        for (at, change) in received.iter().enumerate() {
            if left == Some(0) {
                return Ok(());
            }
            let mut line = known.explain(change, &now);
            // The lists have the last change of an entry, so only that one has a version here.
            let mut later = received[at + 1..].iter();
            if received.len() <= ASKED_MAX && !later.any(|later| is_same_entry(later, change)) {
                ask_versions(connection, &mut line).await;
            }
            connection.output.data("watch", &line, |_| line.to_text())?;
            left = left.map(|left| left - 1);
        }
        if left == Some(0) {
            return Ok(());
        }
        received.clear();
        known = now;
    }
    Ok(())
}

/// Queues the changes of a registry in this process.
fn listen(local: &LocalRegistry, changes: mpsc::Sender<Change>) {
    local.registry.listen(Arc::new(move |change| {
        // A listener must not block.
        if changes.try_send(change.clone()).is_err() {
            tracing::warn!("a change is not shown: too many wait to be printed");
        }
    }));
}

/// Reports what happens to the connection: changes during an interruption are not received.
/// Returns a future that runs for as long as the client lives.
fn report_events(connection: &Connection, client: &Client) -> impl Future<Output = ()> {
    let mut events = client.events();
    async move {
        let output = &connection.output;
        loop {
            match events.recv().await {
                Ok(Event::Disconnected { reason }) => {
                    output.warn(&format!("the engine disconnected ({reason}); reconnecting"));
                }
                Ok(Event::Connected { .. }) => {
                    output.note("reconnected; changes in between were not received");
                }
                Ok(Event::ConnectionRefused { status }) => output.warn(&format!(
                    "the engine refuses the connection (HTTP {status}); retrying"
                )),
                Ok(Event::TriggerRejected {
                    trigger_type,
                    error,
                    ..
                }) => output.warn(&format!("`{trigger_type}` is not followed: {error}")),
                Ok(Event::RegistrationRejected(_) | Event::Unreachable { .. })
                | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }
}

/// Subscribes to the changes of the registry on an engine, and waits until they are sent.
async fn subscribe(
    connection: &Connection,
    client: &Client,
    url: &str,
    changes: mpsc::Sender<Change>,
) -> Result<(), CliError> {
    let handler: Handler = Arc::new(move |payload| {
        let (change, changes) = (Change::from_payload(&payload), changes.clone());
        Box::pin(async move {
            if let Some(change) = change {
                // Fails only when the command is about to end.
                let _ = changes.send(change).await;
            }
            Ok(None)
        })
    });
    for kind in TRIGGER_TYPES {
        let handler = Arc::clone(&handler);
        let trigger = app::subscribe(client, "watch", kind.id, &json!({}), handler);
        let subscribed = app::wait_subscribed(client, kind.id, &[trigger]).await;
        subscribed.map_err(|error| match error {
            NotSubscribed::UnknownType | NotSubscribed::NotListed => not_offered(url, kind.id),
            NotSubscribed::Failed(error) => call_failed(kind.id, error),
        })?;
    }
    // The worker processes messages in order: it answers after it has the subscriptions.
    let _: serde::de::IgnoredAny = connection.call(&LIST, &json!({})).await?;
    Ok(())
}
