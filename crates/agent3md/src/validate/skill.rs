//! The rules about the triggers, inputs and tool of a skill.

use std::collections::HashSet;

use super::{Check, SkillPlane};
use crate::error::excerpt;
use crate::field::{csv, first_word, trim_wide};
use crate::finding::Rule;
use crate::input::{INPUT_TYPES, Input};
use crate::template::Template;
use crate::token::{lowercase, tokens};

impl<'d, 'a> Check<'d, 'a> {
    fn for_each_skill(&mut self, mut rule: impl FnMut(&mut Self, &SkillPlane<'d, 'a>)) {
        let skills = std::mem::take(&mut self.skills);
        for skill in &skills {
            rule(self, skill);
        }
        self.skills = skills;
    }

    pub(super) fn tool_errors(&mut self) {
        self.for_each_skill(|check, skill| {
            let plane = skill.plane;
            let mut declared = HashSet::new();
            for Input { name, kind, .. } in &skill.inputs {
                let (quoted, unknown) = (excerpt(name), !INPUT_TYPES.contains(&&**kind));
                if !declared.insert(name.as_str()) {
                    let message = format!("the input {quoted} is declared twice");
                    check.report_plane(Rule::DupInput, plane, "inputs", message);
                }
                if unknown {
                    let kind = excerpt(kind);
                    let message = format!("the input {quoted} has the unknown type {kind}");
                    check.report_plane(Rule::InputType, plane, "inputs", message);
                }
            }
            for placeholder in skill.tool.iter().flat_map(Template::placeholders) {
                let name = placeholder.name;
                if !declared.contains(name) {
                    let message = format!("the placeholder {{{name}}} is not a declared input");
                    check.report_plane(Rule::ToolInput, plane, "tool", message);
                }
            }
        });
    }

    pub(super) fn unsafe_placeholders(&mut self) {
        self.for_each_skill(|check, SkillPlane { plane, tool, .. }| {
            for placeholder in tool.iter().flat_map(Template::placeholders) {
                if let Some(hazard) = placeholder.hazard {
                    let name = placeholder.name;
                    let message = format!(
                        "the placeholder {{{name}}} stands {hazard}; \
                         write it bare, values are quoted when filled"
                    );
                    check.report_plane(Rule::UnsafePlaceholder, plane, "tool", message);
                }
            }
        });
    }

    pub(super) fn triggers(&mut self) {
        self.for_each_skill(|check, SkillPlane { plane, .. }| {
            let triggers = plane.attributes.get("triggers").unwrap_or_default();
            if trim_wide(triggers).is_empty() {
                let message = "the skill has no triggers, so nothing routes to it";
                check.report_plane(Rule::Triggers, plane, "triggers", message);
            }
        });
    }

    pub(super) fn tool_warnings(&mut self) {
        self.for_each_skill(|check, skill| {
            let plane = skill.plane;
            let Some(tool) = &skill.tool else { return };
            if tool.text().is_empty() {
                return check.report_plane(Rule::Tool, plane, "tool", "the tool is empty");
            }
            let placeholders = tool.placeholders().iter();
            let used: HashSet<&str> = placeholders.map(|placeholder| placeholder.name).collect();
            for input in &skill.inputs {
                if !used.contains(input.name.as_str()) {
                    let message = format!("the tool never uses the input {}", excerpt(&input.name));
                    check.report_plane(Rule::UnusedInput, plane, "inputs", message);
                }
            }
        });
    }

    pub(super) fn undeclared_tools(&mut self) {
        let tools = self.document.metadata.get("tools").unwrap_or_default();
        let tools: HashSet<&str> = csv(tools).collect();
        if tools.is_empty() {
            return;
        }
        self.for_each_skill(|check, SkillPlane { plane, tool, .. }| {
            let binary = tool.as_ref().map_or("", |tool| first_word(tool.text()));
            if !binary.is_empty() && !tools.contains(binary) {
                let binary = excerpt(binary);
                let message = format!("the program {binary} is not in the front matter's tools");
                check.report_plane(Rule::UndeclaredTool, plane, "tool", message);
            }
        });
    }

    pub(super) fn unroutable(&mut self) {
        self.for_each_skill(|check, SkillPlane { plane, .. }| {
            let triggers = plane.attributes.get("triggers").unwrap_or_default();
            let has_word = tokens(&lowercase(triggers)).next().is_some();
            if !trim_wide(triggers).is_empty() && !has_word {
                let message = "no trigger has a word in it, so nothing routes here";
                check.report_plane(Rule::Unroutable, plane, "triggers", message);
            }
        });
    }
}
