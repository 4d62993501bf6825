//! Leaves out lines of a flood, and counts them.
//!
//! A client that sends a bad message can send a million, and a worker can register as many skills.
//! Within a period, one place in the code logs a limited number of lines; of warnings and errors equal
//! ones only once. The thread of the log reports the rest.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber, callsite};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::limits::MAX_LOG_COMPLAINTS;

/// Characters of a message that the report of its repetitions has.
const MESSAGE_SHOWN_MAX: usize = 200;

/// By the place in the code.
static COMPLAINTS: LazyLock<Mutex<HashMap<callsite::Identifier, Complaints>>> =
    LazyLock::new(Mutex::default);

/// What one place in the code logged in this period.
struct Complaints {
    level: Level,
    /// The first message.
    message: String,
    /// The hashes of the lines that were logged.
    logged: Vec<u64>,
    left_out: u64,
}

fn lock() -> MutexGuard<'static, HashMap<callsite::Identifier, Complaints>> {
    // Each change is complete before anything can panic.
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether nothing was logged in this period.
pub fn is_empty() -> bool {
    lock().is_empty()
}

/// Ends the period: the messages that were left out, with their number.
pub fn take() -> Vec<(Level, String, u64)> {
    let complaints = std::mem::take(&mut *lock()).into_values();
    let left_out = complaints.filter(|complaints| complaints.left_out > 0);
    left_out
        .map(|complaints| (complaints.level, complaints.message, complaints.left_out))
        .collect()
}

/// Leaves out repeated lines. What somebody asked for with `RUST_LOG=debug` is not limited.
pub struct Repeats;

impl<S: Subscriber> Layer<S> for Repeats {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        *metadata.level() > Level::INFO || is_logged(metadata.callsite(), event)
    }
}

fn is_logged(place: callsite::Identifier, event: &Event<'_>) -> bool {
    let mut hash = HashFields::default();
    event.record(&mut hash);
    let hash = hash.0.finish();
    let mut complaints = lock();
    let complaints = complaints.entry(place).or_insert_with(|| {
        let mut message = Message::default();
        event.record(&mut message);
        Complaints {
            level: *event.metadata().level(),
            message: message.0,
            logged: Vec::new(),
            left_out: 0,
        }
    });
    let may_repeat = complaints.level == Level::INFO;
    let is_new = may_repeat || !complaints.logged.contains(&hash);
    if is_new && complaints.logged.len() < MAX_LOG_COMPLAINTS {
        complaints.logged.push(hash);
        return true;
    }
    complaints.left_out += 1;
    false
}

#[derive(Default)]
struct HashFields(DefaultHasher);

impl Visit for HashFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a hasher cannot fail.
        let _ = write!(self, "{}={value:?};", field.name());
    }
}

impl Write for HashFields {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let message = format!("{value:?}");
            self.0 = message.chars().take(MESSAGE_SHOWN_MAX).collect();
        }
    }
}
