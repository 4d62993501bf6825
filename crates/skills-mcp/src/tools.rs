//! The list of tools: ours, and the functions on the engine.

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};

use super::codes;
use super::functions::Functions;
use super::own::OWN;
use super::page::page;

/// Every tool, by name.
pub async fn list(
    functions: &Functions,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let mut tools = functions.tools().await.map_err(|e| codes::error(&e))?;
    tools.extend(OWN.iter().map(super::own::Own::tool));
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let (found, next) = page(request, tools, |tool| tool.name.to_string())?;
    let mut result = ListToolsResult::with_all_items(found);
    result.next_cursor = next;
    Ok(result)
}
