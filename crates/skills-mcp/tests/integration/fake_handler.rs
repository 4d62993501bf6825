//! A handler with a value to read and write, and tools that are slow, hang or panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::{Mutex, Notify};

#[derive(Clone, Default)]
pub struct FakeHandler {
    pub state: Arc<State>,
}

#[derive(Default)]
pub struct State {
    value: Mutex<String>,
    /// Notified when a read starts.
    pub reading: Notify,
    /// How many reads have started.
    pub reads: AtomicUsize,
    /// Notified when `wait` starts.
    pub waiting: Notify,
    /// Finishes one `wait`.
    pub go: Notify,
    /// Notified when `wait` is cancelled.
    pub cancelled: Notify,
    /// How many bytes a read has beyond the value.
    pub size: AtomicUsize,
}

impl FakeHandler {
    fn text(text: impl Into<String>) -> CallToolResponse {
        CallToolResult::success(vec![ContentBlock::text(text.into())]).into()
    }
}

impl ServerHandler for FakeHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed();
        ServerConfig::new(capabilities.build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema = Arc::new(serde_json::Map::new());
        let tool = Tool::new("read", "Reads the value.", schema);
        (name == "read").then(|| tool.with_annotations(ToolAnnotations::new().read_only(true)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.state.reads.fetch_add(1, Ordering::SeqCst);
        self.state.reading.notify_one();
        if request.uri == "never:" {
            std::future::pending::<()>().await;
        }
        let mut text = self.state.value.lock().await.clone();
        text.extend(std::iter::repeat_n(
            'x',
            self.state.size.load(Ordering::SeqCst),
        ));
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "read" => Ok(Self::text(self.state.value.lock().await.clone())),
            "write" => {
                // Slow enough for a read behind it to run first, if nothing delays the read.
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                *self.state.value.lock().await = format!("{:?}", request.arguments);
                Ok(Self::text("written"))
            }
            "wait" => {
                self.state.waiting.notify_one();
                tokio::select! {
                    () = self.state.go.notified() => Ok(Self::text("done")),
                    () = context.ct.cancelled() => {
                        self.state.cancelled.notify_one();
                        Ok(Self::text("cancelled"))
                    }
                }
            }
            "hang" => std::future::pending().await,
            "panic" => panic!("on purpose"),
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changed = context.sink().notify_resource_list_changed().await;
        drop(changed);
        context.cancelled().await;
        Ok(())
    }
}
