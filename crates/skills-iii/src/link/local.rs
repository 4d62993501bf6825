//! Messages inside one process: each end drains the other end's outbox.

use super::{Ended, Protocol};
use crate::queue::{Next, Outbox, Queue};

/// Finishes the outbox when the connection ends, also if its task is cancelled.
struct FinishOnDrop(Outbox);

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Receives the messages in `inbox` until one end closes. `outbox` is where this end sends.
pub(crate) async fn run_local(
    mut inbox: Queue,
    outbox: Outbox,
    protocol: &mut (impl Protocol + Sync),
) -> Ended {
    let _finish = FinishOnDrop(outbox);
    loop {
        match inbox.recv().await {
            Next::Message(message) => protocol.receive(message),
            Next::Finished => return Ended::ClosedThere,
            Next::Aborted(reason) => return Ended::Aborted(reason),
        }
        protocol.ready().await;
        // An end that always has messages must not keep the thread for itself.
        tokio::task::coop::consume_budget().await;
    }
}
