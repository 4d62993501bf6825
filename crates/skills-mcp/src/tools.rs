//! `tools/list`: the built-in tools and the functions on the engine.
//!
//! The built-in tools read skills. Without a skill they are left out: a model pays for every tool
//! that it is shown.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};
use skills_core::{Error, Registry};

use super::builtin_tools::BUILTIN_TOOLS;
use super::pagination::paginate;
use super::{Shared, error_code};

/// Whether clients were last told of no skill tools, because there was no skill.
#[derive(Debug, Default)]
pub struct SkillToolsHidden(AtomicBool);

impl SkillToolsHidden {
    /// A skill was registered. Returns whether that changes the list of tools.
    pub fn skill_registered(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }

    /// Whether the skill tools are listed now.
    async fn has_skills(&self, registry: &Registry) -> Result<bool, Error> {
        if registry.has_skills().await? {
            return Ok(true);
        }
        self.0.store(true, Ordering::SeqCst);
        // One that was registered in between has found nothing to announce.
        registry.has_skills().await
    }
}

/// Every tool, sorted by name.
pub async fn list(
    Shared {
        engine_tools,
        registry,
        skill_tools_hidden,
        ..
    }: &Shared,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let mut tools = engine_tools
        .tools()
        .await
        .map_err(|e| error_code::error(&e))?;
    let has_skills = skill_tools_hidden.has_skills(registry).await;
    if has_skills.map_err(|e| error_code::error(&e))? {
        tools.extend(BUILTIN_TOOLS.iter().map(|builtin| builtin.tool.clone()));
    }
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let (found, next) = paginate(request, tools, |tool| tool.name.to_string())?;
    let mut result = ListToolsResult::with_all_items(found);
    result.next_cursor = next;
    Ok(result)
}
