//! `tools/list`: the built-in tools and the functions on the engine.

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};

use super::builtin_tools::BUILTIN_TOOLS;
use super::engine_tools::EngineTools;
use super::error_code;
use super::pagination::paginate;

/// Every tool, sorted by name.
pub async fn list(
    engine_tools: &EngineTools,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let mut tools = engine_tools
        .tools()
        .await
        .map_err(|e| error_code::error(&e))?;
    tools.extend(BUILTIN_TOOLS.iter().map(|builtin| builtin.tool.clone()));
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let (found, next) = paginate(request, tools, |tool| tool.name.to_string())?;
    let mut result = ListToolsResult::with_all_items(found);
    result.next_cursor = next;
    Ok(result)
}
