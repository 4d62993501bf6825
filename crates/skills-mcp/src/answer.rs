//! What holds for every answer: a client that gave up stops the work, and a panic is an
//! answer too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// Among the extensions of a request: what would have to wait must not begin, and fails with
/// anything. It is asked again without this.
#[derive(Clone)]
pub struct AtOnce;

/// Does the work of one request until it is done or cancelled.
pub async fn guard<T, A: From<T>>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<A, ErrorData> {
    tokio::select! {
        // Nobody gets to read this: who cancelled is not answered.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        answer = unpanicked(work) => answer.map(A::from),
    }
}

/// The answer, or an error where making it panicked: the client must not wait forever.
async fn unpanicked<T>(work: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            let message = "a bug in this server; its log on stderr says where";
            Poll::Ready(Err(ErrorData::internal_error(message, None)))
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> Result<(), ErrorData> {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let work = async {
            tokio::task::yield_now().await;
            broken()
        };
        let error = unpanicked(work).await.unwrap_err();
        assert_eq!(error.code.0, -32603);
    }
}
