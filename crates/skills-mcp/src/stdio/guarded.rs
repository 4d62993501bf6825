//! A handler whose panics are answered, and whose `initialize` is remembered as it was agreed.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};

use crate::catch_panic::catch_panic;

/// Whether a tool of the handler's own says that it changes nothing.
pub fn only_reads(handler: &impl ServerHandler, tool: &str) -> bool {
    handler
        .get_tool(tool)
        .and_then(|tool| tool.annotations)
        .and_then(|annotations| annotations.read_only_hint)
        .unwrap_or(false)
}

/// See the module.
pub struct Guarded<H>(Arc<H>);

impl<H> Guarded<H> {
    /// Guards `handler`.
    pub fn new(handler: Arc<H>) -> Self {
        Self(handler)
    }
}

impl<H: ServerHandler> Service<RoleServer> for Guarded<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let peer = context.peer.clone();
        let answer = catch_panic(Service::handle_request(&*self.0, request, context)).await;
        if let Ok(ServerResult::InitializeResult(agreed)) = &answer {
            remember(&peer, &agreed.protocol_version);
        }
        answer
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&*self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&*self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&*self.0)
    }
}

/// The SDK remembers the version that was asked for; answers must be in the one that was agreed.
fn remember(peer: &Peer<RoleServer>, agreed: &ProtocolVersion) {
    if let Some(info) = peer.peer_info()
        && info.protocol_version != *agreed
    {
        let mut info = (*info).clone();
        info.protocol_version = agreed.clone();
        peer.set_peer_info(info);
    }
}
