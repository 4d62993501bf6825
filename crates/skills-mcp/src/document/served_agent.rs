//! An agent, and the responses that stay the same as long as it is served.

use std::sync::OnceLock;

use agent3md::Agent;
use agent3md::tool_text::{self, SkillHead};

use crate::jsonrpc::to_json;

/// An agent that is served.
#[derive(Debug)]
pub struct ServedAgent {
    /// The agent.
    pub agent: Agent,
    list_text: OnceLock<String>,
    list_data: OnceLock<String>,
}

impl ServedAgent {
    /// Serves an agent.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            list_text: OnceLock::new(),
            list_data: OnceLock::new(),
        }
    }

    /// The text of `list_skills` as a JSON string. Made on first use, so that a large document does
    /// not delay the start.
    pub(super) fn list_text(&self) -> &str {
        let text = || to_json(&tool_text::list_skills(&self.agent));
        self.list_text.get_or_init(text)
    }

    /// The structured result of `list_skills` as JSON.
    pub(super) fn list_data(&self) -> &str {
        self.list_data.get_or_init(|| {
            let heads: Vec<SkillHead<'_>> = self.agent.skills().map(SkillHead::from).collect();
            format!(r#"{{"skills":{}}}"#, to_json(&heads))
        })
    }
}
