//! The limits of this crate. `docs/limits.md` lists them.

use std::time::Duration;

/// How long a handshake may take. Then the connection is closed.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the registrations of a worker wait for its introduction. Then they take effect.
pub const INTRODUCTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a worker may send nothing, not even a pong. Then it is disconnected.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(90);

/// How long a worker may read nothing of what it is sent. Then it is disconnected.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest frame that the hub receives. A larger one closes its connection with code 1009; a
/// larger message is sent in fragments.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// The largest message that the hub receives. A larger one closes its connection with code 1009.
pub const MAX_MESSAGE_BYTES: usize = 128 << 20;

/// Messages that may wait for one connection. Further calls get `worker_overloaded`, further
/// events are dropped.
pub const MAX_QUEUED_MESSAGES: usize = 65_536;

/// Bytes that may wait for one connection. Further calls get `worker_overloaded`, further events
/// are dropped, and further results become the error `caller_overloaded`.
pub const MAX_QUEUED_BYTES: usize = 64 << 20;

/// Bytes that may wait for all connections of a hub together, besides [`MIN_QUEUED_BYTES`] of
/// each. The same happens beyond it.
pub const MAX_QUEUED_BYTES_OF_ALL: usize = 64 << 20;

/// Bytes that may wait for a connection whatever the others hold: a reply with the largest body.
pub const MIN_QUEUED_BYTES: usize = 1 << 20;

/// Bytes of replies that may wait for a worker before the hub stops reading from it. It reads
/// again when half of them were sent.
pub const MAX_UNREAD_REPLY_BYTES: usize = 4 << 20;

/// Calls that one worker may have open. The hub stops reading from a worker with half as many;
/// further calls get `worker_overloaded`.
pub const MAX_OPEN_CALLS: usize = 8_192;

/// Calls to one worker that may be open. Further calls get `worker_overloaded`.
pub const MAX_PENDING_CALLS: usize = 65_536;

/// Calls that a worker runs at the same time. Further calls get `worker_overloaded`.
pub const MAX_RUNNING_HANDLERS: usize = 8_192;

/// Calls of a worker's functions that wait to be run for the first time. Further ones wait in the
/// queue of the engine, which serves callers in turn.
pub const MAX_STARTING_HANDLERS: usize = 16;

/// Bytes of replies that a worker keeps to send them late or again. Beyond it, they are sent one by
/// one.
pub const MAX_LATE_REPLY_BYTES: usize = 16 << 20;

/// Bytes of input of the calls that a worker runs at the same time. Further calls get
/// `worker_overloaded`; a single larger call is run.
pub const MAX_RUNNING_HANDLER_BYTES: usize = 64 << 20;

/// Triggers that one worker may have registered. A further one is refused.
pub const MAX_TRIGGERS_PER_WORKER: usize = 1_024;

/// Functions that one worker may offer. A further one is refused.
pub const MAX_FUNCTIONS_PER_WORKER: usize = 16_384;

/// Trigger types that one worker may offer. A further one is ignored, with a warning in the log.
pub const MAX_TRIGGER_TYPES_PER_WORKER: usize = 256;

/// Bytes of everything that one worker has registered: schemas, metadata, settings. A further
/// registration is refused.
pub const MAX_REGISTERED_BYTES: usize = 16 << 20;

/// Conditions of one worker that may run at the same time. The events of further ones are
/// dropped, with a warning in the log.
pub const MAX_RUNNING_CONDITIONS: usize = 64;

/// Bytes of the events that wait for a condition. Further ones are dropped, with a warning in
/// the log.
pub const MAX_CONDITION_BYTES: usize = 64 << 20;

/// How long a condition may run. Then its event is dropped.
pub const CONDITION_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest id of a function, a trigger or a trigger type, and the longest name of a worker.
/// A longer one is refused.
pub const MAX_ID_BYTES: usize = 1_024;

/// The largest introduction of a worker. A larger one is refused.
pub const MAX_INTRODUCTION_BYTES: usize = 64 << 10;

/// Bytes of registrations that are kept for a worker before its introduction. Then they take
/// effect without one.
pub const MAX_KEPT_BYTES: usize = 8 << 20;

/// Bytes of one message of an engine. A worker disconnects from an engine that sends more, and
/// connects again.
pub const MAX_ENGINE_MESSAGE_BYTES: usize = 256 << 20;

/// Functions that one `engine::functions::info` describes. More is an error.
pub const MAX_INFO_IDS: usize = 32;

/// Bytes of a scope or a key of state. More is an error.
pub const MAX_NAME_BYTES: usize = 16 << 10;

/// Bytes of a value of state. More is an error.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// Keys in a path of `state::update`. More is an error.
pub const MAX_PATH_KEYS: usize = 32;

/// Bytes that wait to be written to state. Further writes fail. A single larger write still fits
/// an empty queue.
pub const MAX_QUEUED_WRITE_BYTES: usize = 32 << 20;

/// Scopes that `state::list` reads at the same time. Further lists wait, and equal ones share one
/// result.
pub const MAX_RUNNING_LISTS: usize = 4;

/// How long a write or an open waits for the lock of another process. Then it fails.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Past writes that other processes can read as events. A process that falls further behind
/// reads the rows again.
pub const MAX_LOG_WRITES: u32 = 10_000;

/// Bytes of past writes that other processes can read as events. A process that falls further
/// behind reads the rows again.
pub const MAX_LOG_BYTES: u32 = 16 << 20;

/// Events of state that wait for a subscriber. Then it reads the rows again.
pub const MAX_EVENTS: usize = 16_384;

/// Bytes of events of state that wait for a subscriber. Then it reads the rows again.
pub const MAX_EVENT_BYTES: usize = 32 << 20;

/// Connections to the port for workers, if the process may open enough files. A new one takes the
/// place of one whose handshake is not complete; if there is none, it is refused.
pub const MAX_WORKER_CONNECTIONS: usize = 1024;
