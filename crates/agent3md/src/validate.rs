//! The validator: checks a document against every rule, in a fixed order.
//!
//! The order is part of the interface: all errors, then all warnings, each rule by rule; only
//! the rules about inputs and tools are checked skill by skill.

mod skill;
mod unknown;

use std::collections::HashMap;
use std::ops::Range;

use crate::agent::is_identity;
use crate::document::{Document, Plane};
use crate::error::{ParseError, excerpt};
use crate::field::trim_wide;
use crate::finding::{Finding, Rule, ValidationReport};
use crate::graph::{Targets, first_cycle};
use crate::input::{Input, inputs};
use crate::link::{Link, links, wide_links};
use crate::number::{self, js_number};
use crate::span::{Span, locate_all};
use crate::template::Template;

/// The most planes of a cycle that a message lists.
const CYCLE_STEPS_MAX: usize = 8;

/// Checks a text. The only finding of a text that does not parse is its parse error.
pub fn validate(source: &str) -> ValidationReport {
    match Document::parse(source) {
        Ok(document) => validate_document(&document),
        Err(error) => ValidationReport {
            findings: vec![Finding {
                rule: Rule::Parse,
                z: None,
                message: without_place(&error),
                at: error.at().clone(),
            }],
        },
    }
}

/// The message of an error without the place, which the finding has.
fn without_place(error: &ParseError) -> String {
    let message = error.to_string();
    let place = format!("{}: ", error.at());
    message.strip_prefix(&place).unwrap_or(&message).to_owned()
}

/// Checks a parsed document.
pub fn validate_document(document: &Document<'_>) -> ValidationReport {
    let mut check = Check::new(document);
    check.frontmatter();
    check.identity();
    check.labels();
    check.dead_links();
    check.entry();
    check.cycle();
    check.tool_errors();
    check.unsafe_placeholders();
    check.triggers();
    check.tool_warnings();
    check.undeclared_tools();
    check.unroutable();
    check.wide_links();
    check.implied_identity();
    check.unclosed_fence();
    check.version();
    check.unknown_keys();
    check.unknown_attributes();
    check.near_directives();
    check.label_ids();
    check.finish()
}

/// A finding whose line and column are not counted yet.
struct Draft {
    rule: Rule,
    z: Option<f64>,
    bytes: Range<usize>,
    message: String,
}

struct Check<'d, 'a> {
    document: &'d Document<'a>,
    /// The planes that are skills: neither marked as identity nor the identity because none is.
    skills: Vec<SkillPlane<'d, 'a>>,
    by_z: HashMap<u64, u32>,
    drafts: Vec<Draft>,
}

struct SkillPlane<'d, 'a> {
    plane: &'d Plane<'a>,
    inputs: Vec<Input>,
    /// The `tool` attribute, trimmed.
    tool: Option<Template<'d>>,
}

impl<'d, 'a> SkillPlane<'d, 'a> {
    fn new(plane: &'d Plane<'a>) -> Self {
        let tool = plane.attributes.get("tool");
        Self {
            plane,
            inputs: inputs(plane.attributes.get("inputs").unwrap_or_default()),
            tool: tool.map(|tool| Template::parse(trim_wide(tool))),
        }
    }
}

impl<'d, 'a> Check<'d, 'a> {
    fn new(document: &'d Document<'a>) -> Self {
        let planes = &document.planes;
        let implied = usize::from(!planes.iter().any(is_identity));
        let skills = planes.iter().skip(implied);
        let skills = skills.filter(|plane| !is_identity(plane));
        let positions = planes.iter().map(|plane| number::key(plane.z));
        Self {
            document,
            skills: skills.map(SkillPlane::new).collect(),
            by_z: positions.zip(0..).collect(),
            drafts: Vec::new(),
        }
    }

    fn finish(self) -> ValidationReport {
        let ranges: Vec<_> = self
            .drafts
            .iter()
            .map(|draft| draft.bytes.clone())
            .collect();
        let spans = locate_all(self.document.source, &ranges);
        let finding = |(draft, at): (Draft, Span)| Finding {
            rule: draft.rule,
            z: draft.z,
            message: draft.message,
            at,
        };
        ValidationReport {
            findings: self.drafts.into_iter().zip(spans).map(finding).collect(),
        }
    }

    /// Adds a finding at a place in the source; `z` is the position of the plane concerned.
    fn report(
        &mut self,
        rule: Rule,
        z: Option<f64>,
        bytes: Range<usize>,
        message: impl Into<String>,
    ) {
        self.drafts.push(Draft {
            rule,
            z,
            bytes,
            message: message.into(),
        });
    }

    /// Adds a finding about a plane, at the attribute `key` if the plane has it.
    fn report_plane(
        &mut self,
        rule: Rule,
        plane: &Plane<'_>,
        key: &str,
        message: impl Into<String>,
    ) {
        let field = plane.attributes.field(key);
        let bytes = field.map_or(&plane.directive, |field| &field.bytes);
        self.report(rule, Some(plane.z), bytes.clone(), message);
    }

    /// Adds a finding for each link of a plane for which `message` returns one.
    fn report_links<L: Iterator<Item = Link<'d>>>(
        &mut self,
        rule: Rule,
        links: fn(&'d str) -> L,
        message: impl Fn(&Self, &Link<'_>, String) -> Option<String>,
    ) {
        let document = self.document;
        for plane in &document.planes {
            // Links are searched in the source, not in the body, whose CRs are gone.
            let start = plane.body_bytes.start;
            let text = &document.source[plane.body_bytes.clone()];
            for link in links(text) {
                let bytes = start + link.bytes.start..start + link.bytes.end;
                let quoted = excerpt(&text[link.bytes.clone()]);
                if let Some(message) = message(self, &link, quoted) {
                    self.report(rule, Some(plane.z), bytes, message);
                }
            }
        }
    }

    fn frontmatter(&mut self) {
        let agent = self.document.metadata.get("agent").unwrap_or_default();
        let title = self.document.title.as_deref().unwrap_or_default();
        if agent.is_empty() && title.is_empty() {
            let message = "the agent has no name: add `title` or `agent` to the front matter";
            self.report(Rule::Frontmatter, None, 0..0, message);
        }
    }

    fn identity(&mut self) {
        let document = self.document;
        if document.planes.is_empty() {
            let message = "the document has no planes, so no identity";
            return self.report(Rule::Identity, None, 0..0, message);
        }
        let mut identities = document.planes.iter().filter(|plane| is_identity(plane));
        if let (Some(first), Some(second)) = (identities.next(), identities.next()) {
            let first = js_number(first.z);
            let message = format!("the plane at z={first} is the identity already");
            self.report_plane(Rule::Identity, second, "kind", message);
        }
    }

    fn labels(&mut self) {
        let label = |plane: &'d Plane<'a>| {
            let label = trim_wide(plane.label.as_deref().unwrap_or_default());
            (!label.is_empty()).then_some(label)
        };
        let skills = self.skills.iter().map(|skill| skill.plane);
        let planes: Vec<_> = skills.map(|plane| (plane, label(plane))).collect();
        for (plane, label) in &planes {
            if label.is_none() {
                self.report_plane(Rule::MissingLabel, plane, "", "the skill has no label");
            }
        }
        let mut first: HashMap<&str, f64> = HashMap::new();
        for (plane, label) in planes {
            let Some(label) = label else { continue };
            if let Some(z) = first.get(label) {
                let (label, z) = (excerpt(label), js_number(*z));
                let message = format!("the label {label} is already that of z={z}");
                self.report_plane(Rule::UniqueSkill, plane, "", message);
            } else {
                first.insert(label, plane.z);
            }
        }
    }

    fn dead_links(&mut self) {
        self.report_links(Rule::DeadLink, links, |check, link, quoted| {
            let dead = !check.by_z.contains_key(&number::key(link.z));
            dead.then(|| format!("no plane stands where {quoted} points"))
        });
    }

    fn entry(&mut self) {
        let Some(field) = self.document.metadata.field("entry") else {
            return;
        };
        let entry = trim_wide(&field.value);
        let digits = entry.strip_prefix('-').unwrap_or(entry);
        let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let z = entry.parse::<f64>().ok().filter(|_| integer);
        let message = match z {
            None => format!("entry is not the position of a plane: {}", excerpt(entry)),
            Some(z) if self.by_z.contains_key(&number::key(z)) => return,
            Some(_) => format!("entry names {}, where there is no plane", excerpt(entry)),
        };
        self.report(Rule::Entry, None, field.bytes.clone(), message);
    }

    fn cycle(&mut self) {
        let document = self.document;
        let mut targets = Targets::default();
        for plane in &document.planes {
            let target = |link: Link<'_>| self.by_z.get(&number::key(link.z)).copied();
            targets.push(links(&plane.body).filter_map(target));
        }
        let Some(cycle) = first_cycle(&targets) else {
            return;
        };
        let plane = |number: &u32| &document.planes[*number as usize];
        let steps = cycle.iter().take(CYCLE_STEPS_MAX);
        let mut steps: Vec<String> = steps.map(|number| js_number(plane(number).z)).collect();
        if cycle.len() > steps.len() {
            steps.push("…".to_owned());
        }
        if let Some(first) = cycle.first().map(plane) {
            steps.push(js_number(first.z));
            let message = format!("planes depend on themselves: z={}", steps.join(" → "));
            self.report_plane(Rule::Cycle, first, "", message);
        }
    }

    fn wide_links(&mut self) {
        self.report_links(Rule::WideLink, wide_links, |_, _, quoted| {
            Some(format!("{quoted} is not a dependency: write plain digits"))
        });
    }

    fn implied_identity(&mut self) {
        let document = self.document;
        let Some(first) = document.planes.first() else {
            return;
        };
        let skill_like = ["triggers", "tool", "inputs"]
            .iter()
            .find(|key| first.attributes.get(key).is_some());
        if let (Some(key), false) = (skill_like, document.planes.iter().any(is_identity)) {
            let message =
                "no plane has kind=identity, so this first one is the identity and not a skill";
            self.report_plane(Rule::ImpliedIdentity, first, key, message);
        }
    }

    fn unclosed_fence(&mut self) {
        let Some(fence) = &self.document.unclosed_fence else {
            return;
        };
        let hidden = excerpt(&self.document.source[fence.directive.clone()]);
        let message = format!("this code fence is never closed and hides {hidden}");
        self.report(Rule::UnclosedFence, None, fence.fence.clone(), message);
    }
}
