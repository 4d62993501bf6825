//! A document as it is served: the agent, and the answers that never change for it.

use std::sync::OnceLock;

use agent3md::Agent;
use agent3md::tool_text::{self, SkillHead};

use super::wire::write_json;

/// A document that is served.
#[derive(Debug)]
pub struct Served {
    /// The agent.
    pub agent: Agent,
    list_text: OnceLock<Vec<u8>>,
    list_data: OnceLock<Vec<u8>>,
}

impl Served {
    /// Serves an agent.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            list_text: OnceLock::new(),
            list_data: OnceLock::new(),
        }
    }

    /// The text of `list_skills` as a JSON string; made when first asked for, so that a large
    /// document does not start slower for it.
    pub(super) fn list_text(&self) -> &[u8] {
        self.list_text.get_or_init(|| {
            let mut text = Vec::new();
            write_json(&mut text, &tool_text::list_skills(&self.agent));
            text
        })
    }

    /// The same as data.
    pub(super) fn list_data(&self) -> &[u8] {
        self.list_data.get_or_init(|| {
            let heads: Vec<SkillHead<'_>> = self.agent.skills().map(SkillHead::from).collect();
            let mut data = br#"{"skills":"#.to_vec();
            write_json(&mut data, &heads);
            data.push(b'}');
            data
        })
    }
}
