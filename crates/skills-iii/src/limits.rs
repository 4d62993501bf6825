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
/// Bytes of one message. A worker that sends more is disconnected.
pub const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// Bytes of one message of an engine. A worker disconnects from an engine that sends more, and
/// connects again.
pub const MAX_ENGINE_MESSAGE_BYTES: usize = 256 << 20;
/// Messages that wait for one worker. A worker with more is disconnected.
pub const MAX_QUEUED_MESSAGES: usize = 65_536;
/// Bytes that wait for one worker. A worker with more is disconnected.
pub const MAX_QUEUED_BYTES: usize = 256 << 20;
/// Bytes of registrations that are kept for a worker before its introduction. Then they take
/// effect.
pub const MAX_KEPT_BYTES: usize = 64 << 20;
/// Calls to one worker that have no result. Further calls fail.
pub const MAX_PENDING_CALLS: usize = 262_144;
/// How long the condition of a trigger may run. Then the trigger does not fire.
pub const CONDITION_TIMEOUT: Duration = Duration::from_secs(30);
/// Conditions of triggers that run at the same time. Further changes wait.
pub const MAX_RUNNING_CONDITIONS: usize = 1024;
/// Functions that one `engine::functions::info` describes. More is an error.
pub const MAX_INFO_IDS: usize = 32;
/// Bytes of a scope or a key of state. More is an error.
pub const MAX_NAME_BYTES: usize = 16 << 10;
/// Bytes of a value of state. More is an error.
pub const MAX_VALUE_BYTES: usize = 64 << 20;
/// Keys in a path of `state::update`. More is an error.
pub const MAX_PATH_KEYS: usize = 32;
/// Bytes that wait to be written to state. Further writes fail.
pub const MAX_QUEUED_WRITE_BYTES: usize = 256 << 20;
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
pub const MAX_EVENT_BYTES: usize = 64 << 20;
