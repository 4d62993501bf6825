//! What holds for every answer: a client that gave up stops the work, and a panic is an
//! answer too.

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::catch_panic::catch_panic;

/// Among the extensions of a request: what would have to wait must not begin, and fails with
/// anything. It is asked again without this.
#[derive(Clone)]
pub struct AtOnce;

/// Does the work of one request until it is done or cancelled.
pub async fn run<T, A: From<T>>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<A, ErrorData> {
    tokio::select! {
        // Nobody gets to read this: who cancelled is not answered.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        answer = catch_panic(work) => answer.map(A::from),
    }
}
