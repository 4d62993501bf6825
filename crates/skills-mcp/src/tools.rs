//! The list of tools: ours, and the functions on the engine.

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};

use super::builtin_tools::BUILTIN_TOOLS;
use super::engine_tools::EngineTools;
use super::error_code;
use super::pagination::paginate;

/// Every tool, by name.
pub async fn list(
    functions: &EngineTools,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let mut tools = functions.tools().await.map_err(|e| error_code::error(&e))?;
    tools.extend(BUILTIN_TOOLS.iter().map(|builtin| builtin.tool.clone()));
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let (found, next) = paginate(request, tools, |tool| tool.name.to_string())?;
    let mut result = ListToolsResult::with_all_items(found);
    result.next_cursor = next;
    Ok(result)
}
