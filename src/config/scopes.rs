//! The section `scopes:` of the configuration.

use serde::Serialize;

use super::node::Node;
use super::section::{Section, Warning};

/// The scopes of state that hold the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scopes {
    /// The scope of the skills.
    pub skills: String,
    /// The scope of the prompts.
    pub prompts: String,
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            skills: "skills".into(),
            prompts: "prompts".into(),
        }
    }
}

impl Scopes {
    pub(super) fn read(file: &mut Section<'_>) -> Self {
        let name = |node: &Node| node.text().filter(|name| !name.trim().is_empty());
        let (skills, prompts) = file.section("scopes", "scopes.", |section| {
            let mut take = |setting| section.take(setting, "a non-empty name", name);
            (take("skills"), take("prompts"))
        });
        let default = Self::default();
        let scopes = Self {
            skills: skills.unwrap_or(default.skills),
            prompts: prompts.unwrap_or(default.prompts),
        };
        if scopes.skills == scopes.prompts {
            let both = &scopes.skills;
            let message = format!("both scopes are `{both}`; the defaults apply to scopes");
            file.push(Warning::file(message));
            return Self::default();
        }
        scopes
    }
}
