//! Runs the work of one request: cancellation stops it, a panic becomes an error response, and the
//! observer is told of it.

use std::sync::OnceLock;
use std::time::Instant;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use skills_core::Kind;

use super::RegistryServer;
use super::catch_panic::catch_panic;
use super::observer::{ServedRequest, kind};

impl RegistryServer {
    /// Runs the work of one request.
    pub(super) async fn run<T, R: From<T>>(
        &self,
        method: &'static str,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<R, ErrorData> {
        self.run_tool(method, context, &OnceLock::new(), work).await
    }

    /// The same for work whose failure is a result.
    pub(super) async fn run_tool<T, R: From<T>>(
        &self,
        operation: &'static str,
        context: &RequestContext<RoleServer>,
        failure: &OnceLock<Kind>,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<R, ErrorData> {
        self.session.request(&self.shared, context);
        let start = Instant::now();
        let result = run(context, work).await;
        if !context.ct.is_cancelled() {
            let error = result.as_ref().err().map(kind);
            self.shared.observer.served(ServedRequest {
                operation,
                duration: start.elapsed(),
                failure: error.or(failure.get().copied()),
            });
        }
        result
    }
}

/// Runs `work` until it is done or the client cancels the request.
async fn run<T, R: From<T>>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<R, ErrorData> {
    tokio::select! {
        // Never sent: a cancelled request gets no response.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        result = catch_panic(work) => result.map(R::from),
    }
}
