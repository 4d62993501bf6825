//! Reads without a session, answered without the SDK's detour.
//!
//! For a request of 2026-07-28 the SDK starts a server, four tasks and a transport, and ends them
//! again. A plain read needs none of that: it is one call of the handler. Only what is right in every
//! header and succeeds is answered here; everything else takes the SDK's way, which says what is
//! wrong. A read may be tried twice.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;

use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions, GetMeta, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RequestContext, RunningService, Service, serve_directly};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler};

use crate::mcp::message::Request;

/// A handler that is called directly.
pub struct Direct<H: ServerHandler> {
    /// Where its peer comes from, of which a read has no use.
    service: RunningService<RoleServer, H>,
}

impl<H: ServerHandler> Direct<H> {
    /// Calls `handler`.
    pub fn new(handler: H) -> Self {
        Self {
            service: serve_directly(handler, Nobody, None),
        }
    }

    /// Whether a request is a read that is right in every header.
    pub fn takes(headers: &HeaderMap, request: &Request) -> bool {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
        let named = match &request.request {
            ClientRequest::ReadResourceRequest(read) => is("mcp-name", &read.params.uri),
            ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::ListToolsRequest(_) => !headers.contains_key("mcp-name"),
            _ => false,
        };
        let accepts = headers
            .get(header::ACCEPT)
            .and_then(|kinds| kinds.to_str().ok());
        let newest = ProtocolVersion::V_2026_07_28;
        let meta = request.request.get_meta();
        named
            && is("mcp-method", request.request.method())
            && is("mcp-protocol-version", newest.as_str())
            && meta.protocol_version().as_ref() == Some(&newest)
            && meta.missing_required_keys(&newest).is_empty()
            && accepts.is_some_and(|kinds| {
                kinds.contains("application/json") && kinds.contains("text/event-stream")
            })
    }

    /// The answer to such a read; none where it failed.
    pub async fn answer(&self, request: Request) -> Option<Response> {
        let id: RequestId = serde_json::from_str(&request.id).ok()?;
        let mut asked = request.request;
        let mut context = RequestContext::new(id.clone(), self.service.peer().clone());
        std::mem::swap(&mut context.meta, asked.get_meta_mut());
        std::mem::swap(&mut context.extensions, asked.extensions_mut());
        // A client that is gone no longer waits.
        let _gone = context.ct.clone().drop_guard();
        let work = Service::handle_request(self.service.service(), asked, context);
        let result = AssertUnwindSafe(work).catch_unwind().await.ok()?.ok()?;
        let message = ServerJsonRpcMessage::response(result, id);
        let body = serde_json::to_vec(&message).ok()?;
        Some(([(header::CONTENT_TYPE, "application/json")], body).into_response())
    }
}

/// The other end of a peer that nothing is said to.
struct Nobody;

impl Transport<RoleServer> for Nobody {
    type Error = Infallible;

    fn send(
        &mut self,
        _: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        std::future::pending().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
