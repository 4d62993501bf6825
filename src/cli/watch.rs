//! `skills watch`: every change as it happens.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::to_raw_value;
use skills_iii::Event;
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::CliError;
use super::connection::{Connection, open_watching};
use super::options::Options;
use crate::app;
use skills_api::TRIGGER_TYPES;

/// How long an engine may take to note down that we listen, and how often it is asked.
const AGAIN: Duration = Duration::from_millis(20);
const ATTEMPTS: usize = 100;

/// Follow changes until Ctrl-C: one line for each.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// End after so many changes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills watch                         register skill resend/email
  skills watch --json                  one JSON document per change
  skills watch --count 1 && make       wait for the next change";

/// A change as the registry announces it.
#[derive(Deserialize)]
struct Notice {
    op: String,
    #[serde(alias = "name")]
    id: String,
}

/// A change as it is said here.
#[derive(Serialize)]
struct Change {
    op: String,
    kind: &'static str,
    id: String,
}

pub fn run(args: &WatchArgs) -> Result<(), CliError> {
    open_watching(&args.options, async |connection| {
        let stop = app::stop_signal();
        tokio::pin!(stop);
        let mut events = connection.client().events();
        let mut changes = subscribe(connection).await?;
        connection.output.note("watching; Ctrl-C ends it");
        let mut left = args.count;
        while left != Some(0) {
            tokio::select! {
                () = &mut stop => break,
                event = events.recv() => tell(connection, event.ok()),
                change = changes.recv() => {
                    let Some(change) = change else { break };
                    connection.output.data("watch", &change, |_| {
                        format!("{:<10} {:<6} {}\n", change.op, change.kind, change.id)
                    })?;
                    left = left.map(|left| left - 1);
                }
            }
        }
        Ok(())
    })
}

/// What happens to the connection matters here: what changes meanwhile is not told.
fn tell(connection: &Connection, event: Option<Event>) {
    match event {
        Some(Event::Disconnected { reason }) => {
            let text = format!("the engine is gone ({reason}); waiting for it");
            connection.output.warn(&text);
        }
        Some(Event::Connected { .. }) => {
            connection
                .output
                .note("connected again; what changed meanwhile was missed");
        }
        Some(Event::ConnectionRefused { status }) => {
            let text = format!("the engine does not let us in (HTTP {status}); trying again");
            connection.output.warn(&text);
        }
        Some(Event::TriggerRejected {
            trigger_type,
            error,
            ..
        }) => {
            connection
                .output
                .warn(&format!("`{trigger_type}` is not followed: {error}"));
        }
        Some(Event::RegistrationRejected(_)) | None => {}
    }
}

/// Has the registry call us for every change, and waits until it will.
async fn subscribe(connection: &Connection) -> Result<mpsc::UnboundedReceiver<Change>, CliError> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    #[derive(Deserialize)]
    struct Types {
        triggers: Vec<Id>,
    }
    #[derive(Deserialize)]
    struct Registered {
        #[serde(alias = "triggers")]
        registered_triggers: Vec<Id>,
    }
    let types: Types = connection
        .call("engine::triggers::list", &json!({}))
        .await?;
    let (heard, changes) = mpsc::unbounded_channel();
    let mut ours = Vec::new();
    for (kind, word) in TRIGGER_TYPES.iter().zip(["skill", "prompt"]) {
        if !types.triggers.iter().any(|one| one.id == kind.id) {
            return Err(connection.missing(kind.id));
        }
        let function_id = format!("skills-cli::watch-{}", Uuid::new_v4());
        let heard = heard.clone();
        let handler: Handler = Arc::new(move |payload| {
            if let Ok(Notice { op, id }) = serde_json::from_str(payload.get()) {
                // Refused only when we are about to end.
                let _ = heard.send(Change { op, kind: word, id });
            }
            Box::pin(std::future::ready(Ok(None)))
        });
        let spec = FunctionSpec {
            id: function_id.clone(),
            description: Some("Somebody watches changes on a command line.".into()),
            metadata: to_raw_value(&json!({ "internal": true })).ok(),
            ..FunctionSpec::default()
        };
        connection.client().register_function(spec, handler);
        let id = Uuid::new_v4().to_string();
        connection.client().register_trigger(TriggerSpec {
            id: id.clone(),
            trigger_type: kind.id.into(),
            function_id,
            config: to_raw_value(&json!({}))
                .map_err(|error| CliError::broken(error.to_string()))?,
            metadata: None,
            ..TriggerSpec::default()
        });
        ours.push(id);
    }
    for _ in 0..ATTEMPTS {
        let listed: Registered = connection
            .call("engine::registered-triggers::list", &json!({}))
            .await?;
        let noted = |id: &String| listed.registered_triggers.iter().any(|one| one.id == *id);
        if ours.iter().all(noted) {
            // The worker hears of us before it hears this call.
            let _: serde::de::IgnoredAny = connection.call("skills::list", &json!({})).await?;
            return Ok(changes);
        }
        tokio::time::sleep(AGAIN).await;
    }
    Err(connection.missing(TRIGGER_TYPES[0].id))
}
