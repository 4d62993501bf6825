//! Reads answered without the SDK's detour.
//!
//! For a request of 2026-07-28 the SDK starts a server, four tasks and a transport, and ends them
//! again. In a session it reads the message a second time and passes it and its answer through four
//! tasks. A plain read needs none of that: it is one call of the handler. Only what is right in every
//! header and succeeds is answered here; everything else takes the SDK's way, which says what is
//! wrong. A read may be tried twice.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;

use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions, GetMeta, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RequestContext, RunningService, Service, serve_directly};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler};

use super::SESSION;
use crate::message::Request;
use crate::run_request::AtOnce;

const VERSION: &str = "mcp-protocol-version";

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

    /// How to answer a request, if it is a read that is right in every header.
    pub fn takes(headers: &HeaderMap, request: &Request) -> Option<Way> {
        let accepts = headers
            .get(header::ACCEPT)
            .and_then(|kinds| kinds.to_str().ok());
        let accepted = accepts.is_some_and(|kinds| {
            kinds.contains("application/json") && kinds.contains("text/event-stream")
        });
        if !accepted {
            return None;
        }
        let stands_alone = stands_alone(headers, request).then_some(Way::Alone);
        stands_alone.or_else(|| is_in_session(headers, request).then_some(Way::InSession))
    }

    /// The answer to a read that stands alone; none where it failed.
    pub async fn answer(&self, request: Request) -> Option<Response> {
        let answer = self.ask(request).await?;
        let body = serde_json::to_vec(&answer).ok()?;
        Some(([(header::CONTENT_TYPE, "application/json")], body).into_response())
    }

    /// The answer to a read in a session; none where it failed or would have to wait. While nothing
    /// is waited for, nothing can be cancelled, resumed or lost with the connection: all that the
    /// SDK keeps books of in a session.
    pub fn answer_at_once(&self, mut request: Request) -> Option<Response> {
        request.request.extensions_mut().insert(AtOnce);
        let answer = self.ask(request).now_or_never()??;
        // Framed like the SDK's answers in a session, but for an id: there is nothing to resume.
        let mut body = b"data: ".to_vec();
        serde_json::to_writer(&mut body, &answer).ok()?;
        body.extend_from_slice(b"\n\n");
        let head = [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-cache"),
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        Some((head, body).into_response())
    }

    async fn ask(&self, request: Request) -> Option<ServerJsonRpcMessage> {
        let id: RequestId = serde_json::from_str(&request.id).ok()?;
        let mut asked = request.request;
        let mut context = RequestContext::new(id.clone(), self.service.peer().clone());
        std::mem::swap(&mut context.meta, asked.get_meta_mut());
        std::mem::swap(&mut context.extensions, asked.extensions_mut());
        // A client that is gone no longer waits.
        let _gone = context.ct.clone().drop_guard();
        let work = Service::handle_request(self.service.service(), asked, context);
        let result = AssertUnwindSafe(work).catch_unwind().await.ok()?.ok()?;
        Some(ServerJsonRpcMessage::response(result, id))
    }
}

/// How a read is answered.
#[derive(Clone, Copy)]
pub enum Way {
    /// By itself, as of 2026-07-28.
    Alone,
    /// As part of a session, as before that.
    InSession,
}

fn stands_alone(headers: &HeaderMap, request: &Request) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    let named = match &request.request {
        ClientRequest::ReadResourceRequest(read) => is("mcp-name", &read.params.uri),
        ClientRequest::ListResourcesRequest(_)
        | ClientRequest::ListResourceTemplatesRequest(_)
        | ClientRequest::ListPromptsRequest(_)
        | ClientRequest::ListToolsRequest(_) => !headers.contains_key("mcp-name"),
        _ => false,
    };
    let newest = ProtocolVersion::V_2026_07_28;
    let meta = request.request.get_meta();
    named
        && is("mcp-method", request.request.method())
        && is(VERSION, newest.as_str())
        && meta.protocol_version().as_ref() == Some(&newest)
        && meta.missing_required_keys(&newest).is_empty()
}

/// Only reads: what is listed may come with messages of the level that the session asked for.
fn is_in_session(headers: &HeaderMap, request: &Request) -> bool {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
    matches!(request.request, ClientRequest::ReadResourceRequest(_))
        && headers.contains_key(SESSION)
        && headers.get(VERSION).is_none_or(|given| {
            known.any(|version| version.has_initialize() && given == version.as_str())
        })
        && request.request.get_meta().protocol_version().is_none()
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
