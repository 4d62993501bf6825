//! The tools that every server has: the operations of `skills-api` that are tools.

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use serde_json::value::to_raw_value;
use skills_api::Operation;
use skills_core::{Error, Registry};

use super::{schema, tool_name};

/// A tool, and the operation that it calls.
pub struct BuiltinTool {
    /// The tool as `tools/list` shows it.
    pub tool: Tool,
    operation: &'static Operation,
}

/// Every built-in tool.
pub static BUILTIN_TOOLS: LazyLock<Vec<BuiltinTool>> =
    LazyLock::new(|| skills_api::tools().map(BuiltinTool::new).collect());

/// The tool with this name.
pub fn find(name: &str) -> Option<&'static BuiltinTool> {
    BUILTIN_TOOLS
        .iter()
        .find(|builtin| builtin.tool.name == name)
}

impl BuiltinTool {
    fn new(operation: &'static Operation) -> Self {
        let annotations = ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        let name = tool_name::tool_name(operation.id).expect("the ids of operations are short");
        let input = schema::input(Some(&operation.tool_input_schema()));
        let mut tool = Tool::new(name, operation.description, input).with_annotations(annotations);
        tool.title = operation.tool_title.map(str::to_owned);
        tool.output_schema = schema::output(Some(&operation.tool_output_schema()));
        Self { tool, operation }
    }

    /// The id of the operation.
    pub const fn id(&self) -> &'static str {
        self.operation.id
    }

    /// Calls the tool.
    pub async fn call(
        &self,
        registry: &Arc<Registry>,
        arguments: JsonObject,
    ) -> Result<CallToolResult, Error> {
        self.refuse_unknown(&arguments)?;
        let payload = to_raw_value(&arguments).expect("a map of values is JSON");
        let output = (self.operation.run_tool)(Arc::clone(registry), payload).await?;
        Ok(match serde_json::from_str(output.get()) {
            Ok(Value::String(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(value) => CallToolResult::structured(value),
            Err(_) => CallToolResult::success(vec![ContentBlock::text(output.get())]),
        })
    }

    /// A misspelled optional argument must not be ignored.
    fn refuse_unknown(&self, arguments: &JsonObject) -> Result<(), Error> {
        let properties = self.tool.input_schema.get("properties");
        let properties = properties.and_then(Value::as_object);
        let known: Vec<_> = properties
            .into_iter()
            .flat_map(|known| known.keys())
            .collect();
        match arguments.keys().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(unknown) => {
                let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                let problem = format!("unknown field `{unknown}`, expected {}", known.join(" or "));
                Err(Error::invalid("arguments:", problem))
            }
        }
    }
}
