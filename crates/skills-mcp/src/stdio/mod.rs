//! MCP over standard input and output: one JSON message a line.
//!
//! Moves bytes and knows no methods beyond which of them only read. `desk` keeps the books of the
//! requests that are not answered yet, `wire` is the SDK's transport on top of it, `process` is this
//! process's own input and output.

use std::io;
use std::pin::pin;
use std::time::Duration;

use rmcp::{RoleServer, ServerHandler, service};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::desk::Desk;
use self::guarded::Guarded;
use self::wire::Wire;
use super::lines::LINE_MAX;

mod books;
mod desk;
mod guarded;
mod outbox;
mod process;
mod wire;

/// How much one client may have of us.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one line.
    pub line: usize,
    /// Requests that are read and not answered yet. With more, reading waits.
    pub unanswered: usize,
    /// Bytes of those requests.
    pub unanswered_bytes: usize,
    /// Requests that are worked on at once.
    pub running: usize,
    /// Bytes of answers that the client has not taken. With more, nothing new is begun.
    pub unwritten_bytes: usize,
    /// Subscriptions that are open at once.
    pub subscriptions: usize,
    /// How long a read waits for the writes before it.
    pub order: Duration,
    /// How long nothing may happen, after the end of the input, until what is left is given up.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: LINE_MAX,
            unanswered: 1024,
            unanswered_bytes: 64 << 20,
            running: 128,
            unwritten_bytes: 8 << 20,
            subscriptions: 64,
            order: Duration::from_secs(2),
            grace: Duration::from_secs(1),
        }
    }
}

/// Serves the client at the other end of standard input and output, until it is gone or `stop`.
pub async fn serve(handler: impl ServerHandler, stop: CancellationToken) -> io::Result<()> {
    let (input, output, written) = process::streams();
    let served = serve_on(handler, input, output, Limits::default(), stop).await;
    // Whoever never reads must not keep us.
    let _ = within(Limits::default().grace, written).await;
    served
}

/// How many steps the grace has. One at a time: a process that did not run for a while, on a busy
/// machine, has lost a step, and not the time for its last answers.
const STEPS: u32 = 10;

/// What `work` comes to, if it does while we run for so long.
async fn within<T>(grace: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    for _ in 0..STEPS {
        if let Ok(done) = tokio::time::timeout(grace / STEPS, &mut work).await {
            return Some(done);
        }
    }
    None
}

/// Serves the client at the other end of `input` and `output`, until it is gone or `stop`. A client
/// that no longer listens is no error.
pub async fn serve_on<H, R, W>(
    handler: H,
    input: R,
    output: W,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let desk = Desk::new(limits);
    let (outbox, queue) = outbox::channel();
    let ended = CancellationToken::new();
    let writing = outbox::write(queue, output, desk.clone(), ended.clone());
    let mut writing = tokio::spawn(writing);
    let work = CancellationToken::new();
    let handler = std::sync::Arc::new(handler);
    let wire = Wire::new(input, outbox, desk.clone(), stop)
        .reads_with({
            let handler = handler.clone();
            move |tool| guarded::only_reads(&*handler, tool)
        })
        .ends(work.clone(), ended.clone());
    let running = service::serve_directly_with_ct::<RoleServer, _, _, _, _>(
        Guarded::new(handler),
        wire,
        None,
        work,
    );
    tokio::select! {
        _ = running.waiting() => {}
        // The SDK would wait seconds for a handler that does not heed its cancellation.
        () = async {
            ended.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        } => {}
    }
    ended.cancel();
    if within(limits.grace, &mut writing).await.is_none() {
        writing.abort();
    }
    desk.reading_failed().map_or(Ok(()), Err)
}

/// For answers that were ready when the end came.
const LAST_WORDS: Duration = Duration::from_millis(100);
