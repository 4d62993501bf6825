//! A handler with a word that can be read and written, and tools that are slow or broken.

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
    word: Mutex<String>,
    /// Rings for every read that begins.
    pub reading: Notify,
    /// How many reads have started.
    pub reads: AtomicUsize,
    /// Rings when `wait` has begun.
    pub waiting: Notify,
    /// Lets one `wait` finish.
    pub go: Notify,
    /// Rings when `wait` was cancelled.
    pub cancelled: Notify,
    /// Bytes of what is read, beyond the word.
    pub size: AtomicUsize,
}

impl FakeHandler {
    fn text(word: impl Into<String>) -> CallToolResponse {
        CallToolResult::success(vec![ContentBlock::text(word.into())]).into()
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
        let tool = Tool::new("word", "Reads the word.", schema);
        (name == "word").then(|| tool.with_annotations(ToolAnnotations::new().read_only(true)))
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
        let mut text = self.state.word.lock().await.clone();
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
            "word" => Ok(Self::text(self.state.word.lock().await.clone())),
            "write" => {
                // Late enough for a read behind it to be first, if nothing holds it back.
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                *self.state.word.lock().await = format!("{:?}", request.arguments);
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
            "deaf" => std::future::pending().await,
            "broken" => panic!("this tool is broken, which is on purpose"),
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changed = context.sink().notify_resource_list_changed().await;
        drop(changed);
        context.cancelled().await;
        Ok(())
    }
}
