//! Makes a read see the writes that the client sent before it on the same connection.
//!
//! The SDK runs each request in a task of its own, and the tasks run in any order. A read here waits
//! until the writes that arrived before it are finished.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, GetExtensions, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::watch;

use crate::catch_panic::catch_panic;
use crate::extension;

/// A handler whose reads wait for earlier writes. A clone shares the handler and the order.
pub struct Ordered<H> {
    handler: Arc<H>,
    writes: watch::Sender<Writes>,
    timeout: Duration,
}

/// The writes of one connection, numbered in the order of arrival.
#[derive(Default)]
struct Writes {
    last: u64,
    unfinished: BTreeSet<u64>,
}

/// An extension of a read: the write that arrived last before it.
#[derive(Clone, Copy)]
struct ReadAfter(u64);

/// An extension of a write: the write is finished when this is dropped.
struct WriteGuard {
    writes: watch::Sender<Writes>,
    number: u64,
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.writes.send_modify(|writes| {
            writes.unfinished.remove(&self.number);
        });
    }
}

impl<H> Clone for Ordered<H> {
    fn clone(&self) -> Self {
        Self {
            handler: Arc::clone(&self.handler),
            writes: self.writes.clone(),
            timeout: self.timeout,
        }
    }
}

impl<H: ServerHandler> Ordered<H> {
    /// Orders the requests of one connection; a read waits for at most `timeout`.
    pub fn new(handler: H, timeout: Duration) -> Self {
        Self {
            handler: Arc::new(handler),
            writes: watch::Sender::default(),
            timeout,
        }
    }

    /// Records the arrival of a request. Call it in the order of arrival.
    pub fn arrive(&self, request: &mut ClientRequest) {
        match request {
            ClientRequest::CallToolRequest(call) if self.is_read_only(&call.params.name) => {}
            // The responses to what follows `initialize` depend on the version it agrees on.
            ClientRequest::InitializeRequest(_) | ClientRequest::CallToolRequest(_) => {
                let mut number = 0;
                self.writes.send_modify(|writes| {
                    writes.last += 1;
                    number = writes.last;
                    writes.unfinished.insert(number);
                });
                let writes = self.writes.clone();
                let guard = Arc::new(WriteGuard { writes, number });
                request.extensions_mut().insert(guard);
                return;
            }
            ClientRequest::CompleteRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ListToolsRequest(_)
            | ClientRequest::ReadResourceRequest(_) => {}
            ClientRequest::CustomRequest(custom) if extension::method(&custom.method).is_some() => {
            }
            _ => return,
        }
        let last = self.writes.borrow().last;
        request.extensions_mut().insert(ReadAfter(last));
    }

    fn is_read_only(&self, tool: &str) -> bool {
        let annotations = self.handler.get_tool(tool).and_then(|it| it.annotations);
        annotations.and_then(|it| it.read_only_hint) == Some(true)
    }
}

impl<H: ServerHandler> Service<RoleServer> for Ordered<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if let Some(ReadAfter(last)) = context.extensions.get().copied() {
            let mut writes = self.writes.subscribe();
            let is_visible =
                |writes: &Writes| writes.unfinished.first().is_none_or(|first| *first > last);
            tokio::select! {
                _ = tokio::time::timeout(self.timeout, writes.wait_for(is_visible)) => {}
                () = context.ct.cancelled() => {
                    // The SDK sends no response to a cancelled request.
                    return Err(ErrorData::internal_error("cancelled", None));
                }
            }
        }
        catch_panic(Service::handle_request(&*self.handler, request, context)).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&*self.handler, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&*self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&*self.handler)
    }
}
