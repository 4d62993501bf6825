//! The rules about one skill's triggers, inputs and tool.

use std::collections::HashSet;

use super::{Check, SkillPlane};
use crate::error::excerpt;
use crate::field::{csv, first_word, trim_wide};
use crate::finding::Rule;
use crate::input::{INPUT_TYPES, Input};
use crate::template::Template;
use crate::token::tokens;

impl<'d, 'a> Check<'d, 'a> {
    fn each_skill(&mut self, mut rule: impl FnMut(&mut Self, &SkillPlane<'d, 'a>)) {
        let skills = std::mem::take(&mut self.skills);
        for skill in &skills {
            rule(self, skill);
        }
        self.skills = skills;
    }

    pub(super) fn tool_errors(&mut self) {
        self.each_skill(
            |check,
             SkillPlane {
                 plane,
                 inputs,
                 tool,
             }| {
                let mut declared = HashSet::new();
                for Input { name, kind, .. } in inputs {
                    if !declared.insert(name.as_str()) {
                        check.found_in(
                            Rule::DupInput,
                            plane,
                            "inputs",
                            format!("the input {} is declared twice", excerpt(name)),
                        );
                    }
                    if !INPUT_TYPES.contains(&&**kind) {
                        let message = format!(
                            "the input {} has the unknown type {}",
                            excerpt(name),
                            excerpt(kind)
                        );
                        check.found_in(Rule::InputType, plane, "inputs", message);
                    }
                }
                for placeholder in tool.iter().flat_map(Template::placeholders) {
                    if !declared.contains(placeholder.name) {
                        let message = format!(
                            "the placeholder {{{}}} is not a declared input",
                            placeholder.name
                        );
                        check.found_in(Rule::ToolInput, plane, "tool", message);
                    }
                }
            },
        );
    }

    pub(super) fn unsafe_placeholders(&mut self) {
        self.each_skill(|check, SkillPlane { plane, tool, .. }| {
            for placeholder in tool.iter().flat_map(Template::placeholders) {
                if let Some(hazard) = placeholder.hazard {
                    let message = format!("the placeholder {{{}}} stands {hazard}; write it bare, values are quoted when filled", placeholder.name);
                    check.found_in(Rule::UnsafePlaceholder, plane, "tool", message);
                }
            }
        });
    }

    pub(super) fn triggers(&mut self) {
        self.each_skill(|check, SkillPlane { plane, .. }| {
            if trim_wide(plane.attributes.get("triggers").unwrap_or_default()).is_empty() {
                check.found_in(
                    Rule::Triggers,
                    plane,
                    "triggers",
                    "the skill has no triggers, so nothing routes to it",
                );
            }
        });
    }

    pub(super) fn tool_warnings(&mut self) {
        self.each_skill(
            |check,
             SkillPlane {
                 plane,
                 inputs,
                 tool,
             }| {
                let Some(tool) = tool else { return };
                if tool.text().is_empty() {
                    return check.found_in(Rule::Tool, plane, "tool", "the tool is empty");
                }
                let used: HashSet<&str> = tool
                    .placeholders()
                    .iter()
                    .map(|placeholder| placeholder.name)
                    .collect();
                for input in inputs
                    .iter()
                    .filter(|input| !used.contains(input.name.as_str()))
                {
                    let message = format!("the tool never uses the input {}", excerpt(&input.name));
                    check.found_in(Rule::UnusedInput, plane, "inputs", message);
                }
            },
        );
    }

    pub(super) fn undeclared_tools(&mut self) {
        let tools = self.document.metadata.get("tools").unwrap_or_default();
        let tools: HashSet<&str> = csv(tools).collect();
        if tools.is_empty() {
            return;
        }
        self.each_skill(|check, SkillPlane { plane, tool, .. }| {
            let binary = tool.as_ref().map_or("", |tool| first_word(tool.text()));
            if !binary.is_empty() && !tools.contains(binary) {
                let message = format!(
                    "the program {} is not in the front matter's tools",
                    excerpt(binary)
                );
                check.found_in(Rule::UndeclaredTool, plane, "tool", message);
            }
        });
    }

    pub(super) fn unroutable(&mut self) {
        self.each_skill(|check, SkillPlane { plane, .. }| {
            let triggers = plane.attributes.get("triggers").unwrap_or_default();
            if !trim_wide(triggers).is_empty() && tokens(&triggers.to_lowercase()).next().is_none()
            {
                check.found_in(
                    Rule::Unroutable,
                    plane,
                    "triggers",
                    "no trigger has a word in it, so nothing routes here",
                );
            }
        });
    }
}
