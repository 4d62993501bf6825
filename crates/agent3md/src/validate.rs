//! Whether a document is a sound agent: every rule, in a fixed order.
//!
//! The order is part of the interface: all errors, then all warnings, each rule by rule; only
//! the rules about one skill's inputs and tool go skill by skill.

mod skill;

use std::collections::HashMap;
use std::ops::Range;

use crate::agent::is_identity;
use crate::document::{Document, Plane};
use crate::error::excerpt;
use crate::field::trim_wide;
use crate::finding::{Finding, Rule, ValidationReport};
use crate::graph::{Targets, first_cycle};
use crate::input::{Input, inputs};
use crate::link::{Link, links, wide_links};
use crate::number::{self, js_number};
use crate::span::{Span, locate_all};
use crate::template::Template;

/// Checks a text. One that does not parse has that as its only finding.
pub fn validate(source: &str) -> ValidationReport {
    match Document::parse(source) {
        Ok(document) => validate_document(&document),
        Err(error) => {
            let at: Span = error.at().clone();
            let message = error.to_string();
            ValidationReport {
                findings: vec![Finding {
                    rule: Rule::Parse,
                    z: None,
                    message,
                    at,
                }],
            }
        }
    }
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
    check.report()
}

/// A finding whose line and column are still to be counted.
struct Draft {
    rule: Rule,
    z: Option<f64>,
    message: String,
    bytes: Range<usize>,
}

struct Check<'d, 'a> {
    document: &'d Document<'a>,
    /// Planes that do not call themselves identity.
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

impl<'d, 'a> Check<'d, 'a> {
    fn new(document: &'d Document<'a>) -> Self {
        let planes = &document.planes;
        let skill = |plane: &'d Plane<'a>| SkillPlane {
            plane,
            inputs: inputs(plane.attributes.get("inputs").unwrap_or_default()),
            tool: plane
                .attributes
                .get("tool")
                .map(|tool| Template::parse(trim_wide(tool))),
        };
        Self {
            document,
            skills: planes
                .iter()
                .filter(|plane| !is_identity(plane))
                .map(skill)
                .collect(),
            by_z: planes
                .iter()
                .map(|plane| number::key(plane.z))
                .zip(0..)
                .collect(),
            drafts: Vec::new(),
        }
    }

    fn report(self) -> ValidationReport {
        let ranges: Vec<_> = self
            .drafts
            .iter()
            .map(|draft| draft.bytes.clone())
            .collect();
        let spans = locate_all(self.document.source, &ranges);
        let finding = |(
            Draft {
                rule, z, message, ..
            },
            at,
        )| Finding {
            rule,
            z,
            message,
            at,
        };
        ValidationReport {
            findings: self.drafts.into_iter().zip(spans).map(finding).collect(),
        }
    }

    fn found(&mut self, rule: Rule, message: impl Into<String>) {
        self.drafts.push(Draft {
            rule,
            z: None,
            message: message.into(),
            bytes: 0..0,
        });
    }

    /// A finding about a plane, at one of its attributes if that is written.
    fn found_in(&mut self, rule: Rule, plane: &Plane<'_>, key: &str, message: impl Into<String>) {
        let field = plane.attributes.field(key);
        let bytes = field.map_or_else(|| plane.directive.clone(), |field| field.bytes.clone());
        self.drafts.push(Draft {
            rule,
            z: Some(plane.z),
            message: message.into(),
            bytes,
        });
    }

    fn frontmatter(&mut self) {
        let agent = self.document.metadata.get("agent").unwrap_or_default();
        if agent.is_empty()
            && self
                .document
                .title
                .as_deref()
                .unwrap_or_default()
                .is_empty()
        {
            self.found(
                Rule::Frontmatter,
                "the agent has no name: add `title` or `agent` to the front matter",
            );
        }
    }

    fn identity(&mut self) {
        let document = self.document;
        if document.planes.is_empty() {
            return self.found(Rule::Identity, "the document has no planes, so no identity");
        }
        let mut identities = document.planes.iter().filter(|plane| is_identity(plane));
        if let (Some(first), Some(second)) = (identities.next(), identities.next()) {
            let first = js_number(first.z);
            self.found_in(
                Rule::Identity,
                second,
                "kind",
                format!("the plane at z={first} is the identity already"),
            );
        }
    }

    fn labels(&mut self) {
        let labelled = |plane: &'d Plane<'a>| {
            plane
                .label
                .as_deref()
                .map(trim_wide)
                .filter(|l| !l.is_empty())
        };
        let planes: Vec<_> = self
            .skills
            .iter()
            .map(|skill| (skill.plane, labelled(skill.plane)))
            .collect();
        for (plane, label) in &planes {
            if label.is_none() {
                self.found_in(Rule::MissingLabel, plane, "", "the skill has no label");
            }
        }
        let mut first: HashMap<&str, f64> = HashMap::new();
        for (plane, label) in planes {
            let Some(label) = label else { continue };
            if let Some(z) = first.get(label) {
                let message = format!(
                    "the label {} is already that of z={}",
                    excerpt(label),
                    js_number(*z)
                );
                self.found_in(Rule::UniqueSkill, plane, "", message);
            } else {
                first.insert(label, plane.z);
            }
        }
    }

    fn dead_links(&mut self) {
        let document = self.document;
        for plane in &document.planes {
            // The original text, not the body: its places are those of the file.
            let start = plane.body_bytes.start;
            let text = &document.source[plane.body_bytes.clone()];
            for link in links(text).filter(|link| !self.by_z.contains_key(&number::key(link.z))) {
                let message = format!(
                    "no plane stands where {} points",
                    excerpt(&text[link.bytes.clone()])
                );
                let bytes = start + link.bytes.start..start + link.bytes.end;
                self.drafts.push(Draft {
                    rule: Rule::DeadLink,
                    z: Some(plane.z),
                    message,
                    bytes,
                });
            }
        }
    }

    fn entry(&mut self) {
        let Some(field) = self.document.metadata.field("entry") else {
            return;
        };
        let entry = trim_wide(&field.value);
        let digits = entry.strip_prefix('-').unwrap_or(entry);
        let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let z = if integer {
            entry.parse::<f64>().ok()
        } else {
            None
        };
        let message = match z {
            None => format!("entry is not the position of a plane: {}", excerpt(entry)),
            Some(z) if self.by_z.contains_key(&number::key(z)) => return,
            Some(_) => format!("entry names {}, where there is no plane", excerpt(entry)),
        };
        self.drafts.push(Draft {
            rule: Rule::Entry,
            z: None,
            message,
            bytes: field.bytes.clone(),
        });
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
        let mut steps: Vec<String> = cycle
            .iter()
            .take(8)
            .map(|number| js_number(plane(number).z))
            .collect();
        if cycle.len() > steps.len() {
            steps.push("…".to_owned());
        }
        if let Some(first) = cycle.first().map(plane) {
            steps.push(js_number(first.z));
            let message = format!("planes depend on themselves: z={}", steps.join(" → "));
            self.found_in(Rule::Cycle, first, "", message);
        }
    }

    fn wide_links(&mut self) {
        let document = self.document;
        for plane in &document.planes {
            let start = plane.body_bytes.start;
            let text = &document.source[plane.body_bytes.clone()];
            for link in wide_links(text) {
                let shown = excerpt(&text[link.bytes.clone()]);
                let message = format!("{shown} is no dependency: only plain digits are");
                let bytes = start + link.bytes.start..start + link.bytes.end;
                self.drafts.push(Draft {
                    rule: Rule::WideLink,
                    z: Some(plane.z),
                    message,
                    bytes,
                });
            }
        }
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
            self.found_in(Rule::ImpliedIdentity, first, key, message);
        }
    }

    fn unclosed_fence(&mut self) {
        let Some(unclosed_fence) = &self.document.unclosed_fence else {
            return;
        };
        let hidden = &self.document.source[unclosed_fence.directive.clone()];
        let message = format!(
            "this code fence is never closed and hides {}",
            excerpt(hidden)
        );
        let bytes = unclosed_fence.fence.clone();
        self.drafts.push(Draft {
            rule: Rule::UnclosedFence,
            z: None,
            message,
            bytes,
        });
    }
}
