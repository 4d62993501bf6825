//! What is on its way to the client, and the task that writes it.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;

/// Messages that wait to be written. Whoever has more waits for room.
const QUEUE: usize = 64;

/// One line, without its end.
#[derive(Debug)]
pub struct Outgoing {
    /// The message.
    pub line: String,
    /// The requests it answers, and their bytes.
    pub answers: Room,
    /// Whether it is one of those notices that need not be said twice in a row.
    pub notice: bool,
}

/// Requests and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    /// How many.
    pub count: usize,
    /// How large.
    pub bytes: usize,
}

/// A queue of lines.
pub fn channel() -> (Sender<Outgoing>, Receiver<Outgoing>) {
    mpsc::channel(QUEUE)
}

/// Writes until nobody can send any more, or until `ended` and the queue is empty.
pub async fn write<W: AsyncWrite + Unpin>(
    mut queue: Receiver<Outgoing>,
    mut output: W,
    desk: Desk,
    ended: CancellationToken,
) {
    let mut taken = Vec::with_capacity(QUEUE);
    loop {
        tokio::select! {
            biased;
            count = queue.recv_many(&mut taken, QUEUE) => if count == 0 { break },
            () = ended.cancelled() => break,
        }
        if let Err(error) = write_all(&mut taken, &mut output, &desk).await {
            // A client that went away is how a conversation ends.
            tracing::debug!(%error, "the client no longer reads");
            desk.client_is_gone();
            return;
        }
    }
    let _ = output.shutdown().await;
}

async fn write_all<W: AsyncWrite + Unpin>(
    taken: &mut Vec<Outgoing>,
    output: &mut W,
    desk: &Desk,
) -> io::Result<()> {
    desk.taken(taken);
    let mut bytes = Vec::with_capacity(taken.iter().map(|out| out.line.len() + 1).sum());
    for out in taken.iter() {
        bytes.extend_from_slice(out.line.as_bytes());
        bytes.push(b'\n');
    }
    output.write_all(&bytes).await?;
    output.flush().await?;
    desk.written(taken);
    taken.clear();
    Ok(())
}
