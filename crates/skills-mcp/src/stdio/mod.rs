//! MCP over standard input and output: one JSON message per line.
//!
//! `transport` moves bytes between a client and the SDK, `pending` counts requests and responses
//! that are not written yet. Knows no methods; that reads see earlier writes is the work of
//! `Ordered`.

use std::sync::Arc;
use std::time::Duration;

use rmcp::{RoleServer, ServerHandler, service};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::transport::{Output, Signals, StdioTransport};
use super::hang_up::on_input_hang_up;
use super::limits::{
    LINE_MAX, MAX_STDIO_LISTENS, MAX_STDIO_OUTPUT_BYTES, MAX_STDIO_REQUEST_BYTES,
    MAX_STDIO_REQUESTS,
};
use super::ordering::Ordered;

mod pending;
mod transport;

/// What one client may use. Reading pauses while the client is over a limit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one line.
    pub line: usize,
    /// Requests whose response is not written yet.
    pub requests: usize,
    /// Bytes of requests without a response.
    pub request_bytes: usize,
    /// Bytes of messages that are not written yet.
    pub output_bytes: usize,
    /// Open subscriptions.
    pub subscriptions: usize,
    /// How long a read waits for the writes before it.
    pub order: Duration,
    /// How long nothing may happen, after the end of the input, before requests that have no
    /// response are given up.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: LINE_MAX,
            requests: MAX_STDIO_REQUESTS,
            request_bytes: MAX_STDIO_REQUEST_BYTES,
            output_bytes: MAX_STDIO_OUTPUT_BYTES,
            subscriptions: MAX_STDIO_LISTENS,
            order: Duration::from_secs(2),
            drain: Duration::from_secs(1),
        }
    }
}

/// How long the SDK may take to send the final responses of handlers that were cancelled.
const FINAL_RESPONSES_TIMEOUT: Duration = Duration::from_millis(100);

/// The drain time-out is waited for in so many steps. A process that does not run for a while, on a
/// busy machine, then loses one step and not the time for its last responses.
const DRAIN_STEPS: u32 = 10;

/// Serves the client at the other end of standard input and output, until the client closes the
/// connection or `stop` is cancelled.
///
/// A thread of the runtime may be left in a read of standard input that does not return. Shut the
/// runtime down in the background.
pub async fn serve(handler: impl ServerHandler, stop: CancellationToken) {
    let (input, output) = rmcp::transport::stdio_pipes();
    let hung_up = CancellationToken::new();
    let cancelled = hung_up.clone();
    on_input_hang_up(move || cancelled.cancel());
    run(handler, input, output, Limits::default(), stop, hung_up).await;
}

/// Serves the client at the other end of `input` and `output`, until the client closes the
/// connection or `stop` is cancelled.
pub async fn serve_on<H, R, W>(
    handler: H,
    input: R,
    output: W,
    limits: Limits,
    stop: CancellationToken,
) where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    run(
        handler,
        input,
        output,
        limits,
        stop,
        CancellationToken::new(),
    )
    .await;
}

/// `hung_up` is cancelled when the client can send nothing more than what waits to be read.
async fn run<H, R, W>(
    handler: H,
    input: R,
    output: W,
    limits: Limits,
    stop: CancellationToken,
    hung_up: CancellationToken,
) where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let output = Arc::new(Output::new(output));
    let ended = CancellationToken::new();
    let handler = Ordered::new(handler, limits.order);
    let order = handler.clone();
    let transport = StdioTransport::new(
        input,
        Arc::clone(&output),
        limits,
        move |request| order.arrive(request),
        Signals {
            stop,
            hung_up,
            ended: ended.clone(),
        },
    );
    let service = service::serve_directly_with_ct::<RoleServer, _, _, _, _>(
        handler,
        transport,
        None,
        ended.clone(),
    );
    tokio::select! {
        _ = service.waiting() => {}
        // The SDK would wait seconds for a handler that ignores its cancellation.
        () = async {
            ended.cancelled().await;
            sleep(FINAL_RESPONSES_TIMEOUT).await;
        } => {}
    }
    // A client that does not read must not keep this process alive.
    let _ = timeout(limits.drain, output.shutdown()).await;
}
