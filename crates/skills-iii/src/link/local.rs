//! Messages inside one process: each end drains the other end's outbox.

use tokio::select;

use super::{Ended, Protocol};
use crate::queue::{Outbox, Queue};

/// Receives the messages in `inbox` until one end closes. `outbox` is where this end sends.
pub(crate) async fn run_local(
    mut inbox: Queue,
    outbox: Outbox,
    protocol: &mut impl Protocol,
) -> Ended {
    let (finishing, aborted, closed) = (inbox.finishing(), inbox.aborted(), outbox.closed());
    tokio::pin!(finishing, aborted, closed);
    let mut open = true;
    let ended = loop {
        select! {
            biased;
            message = inbox.recv() => match message {
                Some(message) => protocol.receive(message),
                None => break Ended::ClosedThere,
            },
            reason = &mut aborted => break Ended::Aborted(reason),
            () = &mut finishing, if open => {
                open = false;
                inbox.close();
            }
            () = &mut closed => break Ended::ClosedHere,
        }
    };
    outbox.finish();
    ended
}
