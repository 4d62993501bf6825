//! A call that a test steps by hand.

use std::pin::Pin;
use std::task::{Context, Poll};

use skills_core::Failure;

use crate::{Link, Outcome};

pub(crate) struct PendingCall<'a> {
    pub link: &'a Link,
    pub number: u64,
}

impl Future for PendingCall<'_> {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut inner = self.link.memory.inner();
        let Some(call) = inner.calls.get_mut(&self.number) else {
            return Poll::Ready(Err(cut_off()));
        };
        if call.lost {
            return Poll::Ready(Err(cut_off()));
        }
        if call.acknowledged {
            let outcome = call.outcome.take();
            inner.calls.remove(&self.number);
            return Poll::Ready(outcome.unwrap_or_else(|| Err(cut_off())));
        }
        call.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

pub(crate) fn cut_off() -> Failure {
    Failure::Unreachable {
        reason: "the connection is cut".into(),
    }
}
