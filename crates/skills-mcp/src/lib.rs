//! The registry over the Model Context Protocol: one handler for every transport.
//!
//! A [`RegistryServer`] knows the registry and the engine behind it, each through its port, and
//! no transport. What belongs to one client only is its [`conversation`].
#![expect(
    deprecated,
    reason = "clients before 2026-07-28 subscribe and set log levels the old way"
)]

mod builtin_tools;
mod call_tool;
mod catch_panic;
mod change_log;
mod client_message;
mod client_session;
mod completion;
pub mod document;
mod engine_tools;
mod error_code;
pub mod http;
mod invalid_request;
mod jsonrpc;
mod lines;
mod ordering;
mod pagination;
mod prompts;
mod resources;
mod run_request;
mod schema;
pub mod stdio;
mod tool_name;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use skills_core::{Engine, Registry, Skipped};
use tokio_util::sync::CancellationToken;

use change_log::ChangeLog;
use client_session::ClientSession;
use engine_tools::EngineTools;

/// What a model is told first.
const INSTRUCTIONS: &str = "A registry of skills: markdown that tells when and how to use the \
    tools of this system. Start with the resource `iii://skills`, the index of all of them, and \
    read a skill at its `iii://` address before you do what it is about. Follow `iii://` links \
    only as far as the task needs. Without access to resources, call the tool `skill__fetch` with \
    {\"uri\": \"iii://skills\"}; several links go into `uris`. Prompts are ready-made instructions \
    for a person to pick.";

/// What can be set about the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpSettings {
    /// Functions whose ids begin like this are no tools.
    pub hide: Vec<String>,
    /// Only functions that say `metadata.mcp.expose: true` are tools.
    pub require_expose: bool,
    /// How long a tool may take.
    pub tool_timeout: Duration,
    /// How often a client that wants to know hears that a tool is still at work.
    pub tick: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            hide: Vec::new(),
            require_expose: false,
            tool_timeout: Duration::from_mins(10),
            tick: Duration::from_secs(1),
        }
    }
}

/// The registry as a protocol server. A clone is a conversation of its own: with
/// another client, or the same one on another connection.
pub struct RegistryServer {
    shared: Arc<Shared>,
    session: ClientSession,
}

/// What all conversations have in common.
struct Shared {
    registry: Arc<Registry>,
    functions: EngineTools,
    changes: Arc<ChangeLog>,
    tick: Duration,
    stop: CancellationToken,
}

impl Clone for RegistryServer {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            session: ClientSession::default(),
        }
    }
}

impl RegistryServer {
    /// Serves `registry` and the functions on `engine`. Streams of notices end with `stop`.
    pub fn new(
        registry: Arc<Registry>,
        engine: Arc<dyn Engine>,
        settings: McpSettings,
        stop: CancellationToken,
    ) -> Self {
        let changes = Arc::new(ChangeLog::new());
        let log = Arc::clone(&changes);
        registry.listen(Arc::new(move |change| log.registry(change)));
        let tick = settings.tick;
        let shared = Shared {
            registry,
            functions: EngineTools::new(engine, settings),
            changes,
            tick,
            stop,
        };
        Self {
            shared: Arc::new(shared),
            session: ClientSession::default(),
        }
    }

    /// Functions on the engine may have come or gone: tells clients if the tools did.
    pub async fn functions_changed(&self) {
        if self.shared.functions.changed().await {
            self.shared.changes.tools();
        }
    }
}

impl ServerHandler for RegistryServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let ours = Implementation::new("skills", env!("CARGO_PKG_VERSION")).with_title("Skills");
        ServerConfig::new(capabilities)
            .with_server_info(ours)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // What was agreed counts, not what was asked for: later answers take its shape.
        let mut agreed = request;
        agreed.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        self.session.begin(&self.shared);
        Ok(answer)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.session.follow(&self.shared, &context.peer);
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let registry = &self.shared.registry;
        if self.session.wants(&context, LoggingLevel::Warning) {
            // An outage is the answer's to tell.
            let skipped = registry.skipped().await.unwrap_or_default();
            for Skipped { place, reason } in skipped {
                let message = format!("not served: {place}: {reason}");
                let said = self.session.say(&context, LoggingLevel::Warning, message);
                said.await;
            }
        }
        run_request::run(&context, resources::list(registry, request)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::templates(request)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let registry = &self.shared.registry;
        run_request::run(&context, resources::read(registry, request)).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        run_request::run(&context, prompts::list(&self.shared.registry, request)).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        run_request::run(&context, prompts::get(&self.shared.registry, request)).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        run_request::run(&context, tools::list(&self.shared.functions, request)).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        run_request::run(&context, call_tool::call(self, request, &context)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // Those on the engine cannot be had without asking it.
        builtin_tools::find(name).map(|builtin| builtin.tool.clone())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        run_request::run(&context, completion::complete(&self.shared, request)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.set_level(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.subscribe(request.uri)?;
        self.session.follow(&self.shared, &context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.session.before_listening(&self.shared);
        Some(client_session::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.session.listen(&self.shared, &context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(invalid_request::refuse(request, context.protocol_version()))
    }
}
