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
/// Open sessions over HTTP. The oldest one that was never used is closed for a new one; if there
/// is none, the new one is refused with 503.
pub const MAX_SESSIONS: usize = 1024;
/// How long a session without an open stream may send no request. Then it is closed.
pub const SESSION_IDLE_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a request over HTTP may take until its response begins. Then it fails with 504.
pub const REQUEST_TIMEOUT: Duration = Duration::from_mins(2);
/// Requests on stdin without a response. Reading pauses.
pub const MAX_STDIO_REQUESTS: usize = 256;
/// Bytes of requests on stdin without a response. Reading pauses.
pub const MAX_STDIO_REQUEST_BYTES: usize = 64 << 20;
/// Bytes of messages to stdout that are not written. Reading pauses.
pub const MAX_STDIO_OUTPUT_BYTES: usize = 8 << 20;
/// Open `subscriptions/listen` requests on stdin. More is an error.
pub const MAX_STDIO_LISTENS: usize = 64;
/// Bytes of an `initialize` request, which is kept as long as its session. More is an error.
pub const MAX_INITIALIZE_BYTES: usize = 64 << 10;
/// Connections to the HTTP port, if the process may open enough files. A new one takes the place
/// of one that waits for its client; if all work, it is refused with 503.
pub const MAX_HTTP_CONNECTIONS: usize = 512;
/// How long an HTTP connection may take to send the head of a request, also the next one. Then it
/// is closed.
pub const HTTP_HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an HTTP client may read nothing of its response. Then the connection is closed.
pub const HTTP_WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the body of an HTTP request may take to arrive. Then it fails with 408.
pub const HTTP_BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of the head of an HTTP request. More is 431.
pub const MAX_HTTP_HEAD_BYTES: usize = 32 << 10;
/// Bytes of an HTTP request or response that no budget counts.
pub const MAX_HTTP_SMALL_BYTES: usize = 32 << 10;
/// Bytes of all larger HTTP requests in progress. More is 503.
pub const MAX_HTTP_BODIES_BYTES: usize = 32 << 20;
/// Bytes of all larger HTTP responses that are not sent yet. More closes the connection.
pub const MAX_HTTP_RESPONSES_BYTES: usize = 64 << 20;
/// Open streams over HTTP. More is 503.
pub const MAX_HTTP_STREAMS: usize = 256;
/// Open streams of one session over HTTP. More is 503.
pub const MAX_SESSION_STREAMS: usize = 8;
/// Characters of the name and of the version of a client that the log shows.
pub const MAX_CLIENT_NAME_CHARS: usize = 64;
/// Names of clients without a session that are remembered. The log tells of no others.
pub const MAX_KNOWN_CLIENTS: usize = 256;
