//! `tools/list`: the built-in tools and the functions on the engine.
//!
//! The built-in tools read skills. Without a skill they are left out: a model pays for every tool
//! that it is shown.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, PaginatedRequestParams};
use skills_core::{Change, Error, Registry};

use super::builtin_tools::BUILTIN_TOOLS;
use super::pagination::paginate;
use super::{Shared, error_code};

/// Whether clients were last told of no skill tools, because there was no skill.
#[derive(Debug, Default)]
pub struct SkillToolsHidden {
    is_hidden: AtomicBool,
    /// Whether a skill was removed since somebody last looked whether it was the last one.
    was_removed: AtomicBool,
}

impl SkillToolsHidden {
    /// Whether a change is known to change the list of tools: a skill was registered, and there was
    /// none. Whether a removed one was the last takes a look at all.
    pub fn changes_tools(&self, change: &Change) -> bool {
        match change {
            Change::SkillRegistered(_) => self.is_hidden.swap(false, Ordering::SeqCst),
            Change::SkillUnregistered(_) => {
                self.was_removed.store(true, Ordering::SeqCst);
                false
            }
            _ => false,
        }
    }

    /// Whether the last skill was removed since the last call.
    async fn was_last_removed(&self, registry: &Registry) -> bool {
        // An outage is no empty registry.
        self.was_removed.swap(false, Ordering::SeqCst)
            && !self.is_hidden.load(Ordering::SeqCst)
            && matches!(self.has_skills(registry).await, Ok(false))
    }

    /// Whether the skill tools are listed now.
    async fn has_skills(&self, registry: &Registry) -> Result<bool, Error> {
        if registry.has_skills().await? {
            return Ok(true);
        }
        self.is_hidden.store(true, Ordering::SeqCst);
        // One that was registered in between has found nothing to announce.
        registry.has_skills().await
    }
}

/// Tells clients that the tools are gone if the last skill was removed.
pub async fn tell_if_hidden(shared: &Shared) {
    let hidden = &shared.skill_tools_hidden;
    if hidden.was_last_removed(&shared.registry).await {
        shared.changes.tools_changed();
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
