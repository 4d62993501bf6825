//! Runs the work of one request: cancellation stops it, a panic becomes an error response.

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::catch_panic::catch_panic;

/// Runs `work` until it is done or the client cancels the request.
pub async fn run<T, R: From<T>>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<R, ErrorData> {
    tokio::select! {
        // Never sent: a cancelled request gets no response.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        result = catch_panic(work) => result.map(R::from),
    }
}
