//! The Model Context Protocol on the SDK `rmcp`: the registry, or one agent.3md document.
//!
//! [`RegistryServer`] implements the protocol's methods on the registry and on the functions of an
//! engine, each through its port. [`stdio`] and [`http`] are the transports; they know bytes, limits
//! and access, and no method. [`document`] is a server for one document, without a registry.
//!
//! Absent on purpose: rules and storage (`skills-core`), the operations behind the built-in tools
//! (`skills-api`), and the iii protocol, which is behind the port [`Engine`]. Start at
//! `impl ServerHandler for RegistryServer` below: each method names the file that does its work.
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
mod clients;
mod completion;
mod directory;
pub mod document;
mod engine_tools;
mod error_code;
mod extension;
mod hang_up;
pub mod http;
mod invalid_request;
mod jsonrpc;
pub mod limits;
mod lines;
mod observer;
mod ordering;
mod pagination;
mod prompts;
mod resources;
mod run_request;
mod schema;
mod skills;
pub mod stdio;
mod tool_name;
mod tools;

use std::sync::{Arc, OnceLock};
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
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use builtin_tools::BuiltinTool;
use change_log::ChangeLog;
use client_session::ClientSession;
pub use clients::ClientCard;
use clients::Clients;
use engine_tools::EngineTools;
pub use hang_up::on_input_hang_up;
use observer::Observer;
pub use observer::{RequestObserver, ServedRequest};
use tools::SkillToolsHidden;

/// Sent to the model when a client connects.
const INSTRUCTIONS: &str = "A registry of skills: markdown that explains when and how to use the \
    tools of this system. Start with the resource `iii://skills`, the index of all of them, and \
    read a skill at its `iii://` address before you do what it is about. Follow `iii://` links \
    only as far as the task needs. Without access to resources, call the tool `skill__fetch` with \
    {\"uri\": \"iii://skills\"}; several links go into `uris`. Prompts are ready-made instructions \
    for a person to pick.";

/// How long after a change of the registry the tools are compared with it.
const SETTLE_TIME: Duration = Duration::from_millis(100);

/// Which functions are tools, and how they are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpSettings {
    /// Functions whose ids begin with one of these are not tools.
    pub hide: Vec<String>,
    /// Whether only functions with `metadata.mcp.expose: true` are tools.
    pub require_expose: bool,
    /// Whether no function is a tool.
    pub no_functions: bool,
    /// How long a call of a tool may take.
    pub tool_timeout: Duration,
    /// How often a client with a progress token is notified while a tool runs.
    pub progress_interval: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            hide: Vec::new(),
            require_expose: false,
            no_functions: false,
            tool_timeout: limits::TOOL_TIMEOUT,
            progress_interval: Duration::from_secs(1),
        }
    }
}

/// The registry as an MCP server. A clone serves another client, or the same client on another
/// connection.
pub struct RegistryServer {
    shared: Arc<Shared>,
    session: ClientSession,
}

/// What the servers of all clients share.
struct Shared {
    registry: Arc<Registry>,
    /// Notified after every change of the registry.
    registry_changed: Arc<Notify>,
    engine_tools: EngineTools,
    changes: Arc<ChangeLog>,
    clients: Arc<Clients>,
    skill_tools_hidden: Arc<SkillToolsHidden>,
    progress_interval: Duration,
    observer: Observer,
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
    /// Serves `registry` and the functions on `engine`. Notification streams end with `stop`.
    pub fn new(
        registry: Arc<Registry>,
        engine: Arc<dyn Engine>,
        settings: McpSettings,
        stop: CancellationToken,
    ) -> Self {
        let changes = Arc::new(ChangeLog::new());
        let skill_tools_hidden = Arc::new(SkillToolsHidden::default());
        let (log, hidden) = (Arc::clone(&changes), Arc::clone(&skill_tools_hidden));
        let registry_changed = Arc::new(Notify::new());
        let notify = Arc::clone(&registry_changed);
        registry.listen(Arc::new(move |change| {
            log.registry_changed(change);
            if hidden.changes_tools(change) {
                log.tools_changed();
            }
            notify.notify_one();
        }));
        let progress_interval = settings.progress_interval;
        let shared = Shared {
            engine_tools: EngineTools::new(engine, Arc::clone(&registry), settings),
            registry,
            registry_changed,
            changes,
            clients: Arc::default(),
            skill_tools_hidden,
            progress_interval,
            observer: Observer::default(),
            stop,
        };
        Self {
            shared: Arc::new(shared),
            session: ClientSession::default(),
        }
    }

    /// The clients that are connected, in the order in which they came.
    pub fn clients(&self) -> Vec<ClientCard> {
        self.shared.clients.cards()
    }

    /// Tells `observer` of every request of all clients from now on.
    pub fn observe(&self, observer: RequestObserver) {
        self.shared.observer.set(observer);
    }

    /// Waits until skills and prompts call other functions than before, which are tools or are not
    /// for that reason. Then call [`Self::functions_changed`]. Tells clients meanwhile that the last
    /// skill is gone, and with it the tools for skills.
    pub async fn called_functions_changed(&self) {
        loop {
            self.shared.registry_changed.notified().await;
            // One look for all skills that a worker registers at its start.
            tokio::time::sleep(SETTLE_TIME).await;
            tools::tell_if_hidden(&self.shared).await;
            if self.shared.engine_tools.called_functions_changed().await {
                return;
            }
        }
    }

    /// Call this when functions on the engine may have changed. Notifies clients if tools did.
    pub async fn functions_changed(&self) {
        if self.shared.engine_tools.changed().await {
            self.shared.changes.tools_changed();
        }
    }
}

impl ServerHandler for RegistryServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_extensions_with(extension::capability())
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
        let result = self.negotiate_initialize(&request)?;
        // Later results must have the shape of the negotiated version, not of the requested one.
        let mut negotiated = request.clone();
        negotiated.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(negotiated);
        self.session.start(&self.shared, &request.client_info);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.session.forward_changes(&self.shared, &context.peer);
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let registry = &self.shared.registry;
        if self.session.logs(&context, LoggingLevel::Warning) {
            // If the registry is unavailable, the list below returns the error.
            for Skipped { place, reason } in registry.skipped().await.unwrap_or_default() {
                let message = format!("not served: {place}: {reason}");
                let log = self.session.log(&context, LoggingLevel::Warning, message);
                log.await;
            }
        }
        let work = resources::list(registry, request);
        self.run("resources/list", &context, work).await
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
        let work = resources::read(registry, request);
        self.run("resources/read", &context, work).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let work = prompts::list(&self.shared.registry, request);
        self.run("prompts/list", &context, work).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let work = prompts::get(&self.shared.registry, request);
        self.run("prompts/get", &context, work).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let work = tools::list(&self.shared, request);
        self.run("tools/list", &context, work).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let operation = builtin_tools::find(&request.name).map(BuiltinTool::id);
        let failure = OnceLock::new();
        let work = call_tool::call(self, request, &context, &failure);
        let operation = operation.unwrap_or("tools/call");
        self.run_tool(operation, &context, &failure, work).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // The tools on the engine cannot be looked up synchronously.
        builtin_tools::find(name).map(|builtin| builtin.tool.clone())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let work = completion::complete(&self.shared, request);
        self.run("completion/complete", &context, work).await
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
        self.session.forward_changes(&self.shared, &context.peer);
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
        self.session.listen_accepted(&self.shared);
        Some(client_session::accepted_filter(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.session.listen(&self.shared, &context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let version = context.protocol_version();
        match extension::method(&request.method) {
            Some(method) => {
                let registry = &self.shared.registry;
                let work = extension::run(registry, method, request, version);
                self.run(method.name(), &context, work).await
            }
            None => Err(invalid_request::refuse(request, version)),
        }
    }
}
