//! The limits of this crate. `docs/limits.md` lists them.

use std::time::Duration;

/// Bytes of one message: a line on stdin, or a body over HTTP. More is an error.
pub const LINE_MAX: usize = 10 << 20;
/// Nesting of the JSON of a message. More is an error; the JSON parser's own limit of 128 would
/// give one that looks like any other error in the parameters.
pub const DEPTH_MAX: usize = 120;
/// Messages of one batch. More is an error.
pub const BATCH_MAX: usize = 1000;
/// Characters of the name of a tool. A function whose name would be longer is not a tool.
pub const MAX_NAME_LENGTH: usize = 128;
/// Resources that one client subscribes to. More is an error.
pub const MAX_SUBSCRIPTIONS: usize = 10_000;
/// Bytes of an address in a subscription. More is an error.
pub const MAX_URI_BYTES: usize = 4096;
/// Resources that one `subscriptions/listen` names. The rest is not accepted: the SDK compares
/// each requested address with each accepted one.
pub const MAX_LISTEN_URIS: usize = 1000;
/// How long a call of a tool may take. Then it fails.
pub const TOOL_TIMEOUT: Duration = Duration::from_mins(10);
/// Open sessions over HTTP. The one that is idle for longest is closed for a new one; if none
/// is idle, the new one is refused with 503.
pub const MAX_SESSIONS: usize = 1024;
/// How long a session without an open stream may send no request. Then it is closed.
pub const SESSION_IDLE_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a request over HTTP may take to arrive, and then until its response begins. Then it
/// fails with 408 or 504.
pub const REQUEST_TIMEOUT: Duration = Duration::from_mins(2);
/// Requests on stdin without a response. Reading pauses.
pub const MAX_STDIO_REQUESTS: usize = 256;
/// Bytes of requests on stdin without a response. Reading pauses.
pub const MAX_STDIO_REQUEST_BYTES: usize = 64 << 20;
/// Bytes of messages to stdout that are not written. Reading pauses.
pub const MAX_STDIO_OUTPUT_BYTES: usize = 8 << 20;
/// Open `subscriptions/listen` requests on stdin. More is an error.
pub const MAX_STDIO_LISTENS: usize = 64;
