//! A document read as an agent: one identity, and skills to route to.
//!
//! Loading is lenient: every document that parses can be served. The validator reports what is
//! wrong with it.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Serialize;

use crate::document::{Document, Plane};
use crate::error::LoadError;
use crate::field::{csv, first_word, trim_wide};
use crate::graph::{Targets, preorder};
use crate::input::{Input, inputs};
use crate::link::links;
use crate::number::{self, js_number};
use crate::route::{Match, TriggerIndex};

/// An agent. It owns its text.
#[derive(Debug)]
pub struct Agent {
    /// The `title`, else the `agent` entry, else `agent`. An empty one counts as absent.
    pub name: String,
    /// The `model` entry, or `unknown`.
    pub model: String,
    /// The `tools` entry as a list.
    pub tools: Vec<String>,
    /// The `persona` entry, or nothing.
    pub persona: String,
    /// The identity plane.
    pub identity: Identity,
    /// Every other plane in file order, including those whose name a later plane has as well.
    planes: Vec<Skill>,
    /// The numbers of the listed planes, one for each name.
    listed: Vec<u32>,
    /// Indices into `listed`.
    by_name: HashMap<Box<str>, usize>,
    by_z: HashMap<u64, u32>,
    /// The targets of links. Computed on first use, as the trigger index is, so that a large
    /// document can list its skills in half the time.
    targets: OnceLock<Targets>,
    trigger_index: OnceLock<TriggerIndex>,
}

/// The identity plane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identity {
    /// Its label, verbatim.
    pub label: Option<String>,
    /// Its position.
    #[serde(serialize_with = "number::serialize")]
    pub z: f64,
    /// Its text.
    pub body: String,
}

/// One skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The label verbatim, or `skill-` and its z.
    pub name: String,
    /// Its position.
    pub z: f64,
    /// The trigger phrases as declared, duplicates included.
    pub triggers: Vec<String>,
    /// The `cost` attribute, verbatim.
    pub cost: Option<String>,
    /// The command template, trimmed; never empty.
    pub tool: Option<String>,
    /// The declared inputs.
    pub inputs: Vec<Input>,
    /// The instructions.
    pub body: String,
}

/// Selects a skill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SkillSelector<'a> {
    /// By name, exactly.
    Name(&'a str),
    /// By position, which also finds a skill whose name a later plane has.
    Z(f64),
}

impl<'a> From<&'a str> for SkillSelector<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl From<f64> for SkillSelector<'_> {
    fn from(z: f64) -> Self {
        Self::Z(z)
    }
}

impl Agent {
    /// Parses and loads a document.
    pub fn parse(source: &str) -> Result<Self, LoadError> {
        Self::load(&Document::parse(source)?)
    }

    /// Loads a parsed document. Fails only for a document without planes.
    pub fn load(document: &Document<'_>) -> Result<Self, LoadError> {
        let identity = identity_of(document).ok_or(LoadError::NoPlanes)?;
        let mut planes = Vec::with_capacity(document.planes.len());
        let mut by_z = HashMap::with_capacity(document.planes.len());
        let others = || {
            document
                .planes
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != identity)
        };
        for (number, (_, plane)) in (0..).zip(others()) {
            by_z.insert(number::key(plane.z), number);
            planes.push(Skill::new(plane));
        }
        let (listed, by_name) = listed(&planes);
        let metadata = |key| document.metadata.get(key);
        let named = |name: Option<&str>| name.filter(|name| !name.is_empty()).map(str::to_owned);
        let plane = &document.planes[identity];
        Ok(Self {
            name: named(document.title.as_deref())
                .or_else(|| named(metadata("agent")))
                .unwrap_or_else(|| "agent".to_owned()),
            model: metadata("model").unwrap_or("unknown").to_owned(),
            tools: csv(metadata("tools").unwrap_or_default())
                .map(str::to_owned)
                .collect(),
            persona: metadata("persona").unwrap_or_default().to_owned(),
            identity: Identity {
                label: plane.label.as_deref().map(str::to_owned),
                z: plane.z,
                body: plane.body.clone().into_owned(),
            },
            planes,
            listed,
            by_name,
            by_z,
            targets: OnceLock::new(),
            trigger_index: OnceLock::new(),
        })
    }

    /// The skills, one for each name, in list order.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Skill> {
        self.listed.iter().map(|&number| self.skill(number))
    }

    /// One skill. The identity plane is never found.
    pub fn get<'a>(&self, selector: impl Into<SkillSelector<'a>>) -> Option<&Skill> {
        self.find(selector.into()).map(|number| self.skill(number))
    }

    /// The skills a text matches, best first; ties in order of z.
    pub fn route(&self, text: &str) -> Vec<Match<'_>> {
        let hits = self.trigger_index().route(text);
        let matches = hits.chunk_by(|a, b| a.0 == b.0).map(|hits| {
            let skill = self.skill(self.listed[hits[0].0]);
            let triggers = hits
                .iter()
                .map(|&(_, number)| skill.triggers[number].as_str());
            Match {
                skill,
                matched: triggers.collect(),
            }
        });
        let mut matches: Vec<Match<'_>> = matches.collect();
        matches.sort_unstable_by(|a, b| {
            let score = b.matched.len().cmp(&a.matched.len());
            score.then_with(|| a.skill.z.total_cmp(&b.skill.z))
        });
        matches
    }

    /// Computes what routing and resolving need, so that the first request does not wait for it.
    pub fn prepare(&self) {
        self.trigger_index();
        self.targets();
    }

    fn trigger_index(&self) -> &TriggerIndex {
        let triggers = || self.skills().map(|skill| &skill.triggers);
        self.trigger_index
            .get_or_init(|| TriggerIndex::new(triggers()))
    }

    fn targets(&self) -> &Targets {
        self.targets.get_or_init(|| {
            let mut targets = Targets::default();
            for skill in &self.planes {
                let known = |z| self.by_z.get(&number::key(z)).copied();
                targets.push(links(&skill.body).filter_map(|link| known(link.z)));
            }
            targets
        })
    }

    /// A skill and everything it depends on: the skill first, then depth first in link order.
    ///
    /// Links to missing planes and to the identity plane are ignored.
    pub fn resolve<'a>(&self, selector: impl Into<SkillSelector<'a>>) -> Option<Vec<&Skill>> {
        let start = self.find(selector.into())?;
        let order = preorder(self.targets(), start);
        Some(order.into_iter().map(|number| self.skill(number)).collect())
    }

    fn find(&self, selector: SkillSelector<'_>) -> Option<u32> {
        match selector {
            SkillSelector::Name(name) => self.by_name.get(name).map(|&index| self.listed[index]),
            SkillSelector::Z(z) => self.by_z.get(&number::key(z)).copied(),
        }
    }

    fn skill(&self, number: u32) -> &Skill {
        &self.planes[number as usize]
    }
}

impl Skill {
    fn new(plane: &Plane<'_>) -> Self {
        let attribute = |key| plane.attributes.get(key);
        let tool = trim_wide(attribute("tool").unwrap_or_default());
        Self {
            name: name_of(plane),
            z: plane.z,
            triggers: csv(attribute("triggers").unwrap_or_default())
                .map(str::to_owned)
                .collect(),
            cost: attribute("cost").map(str::to_owned),
            tool: (!tool.is_empty()).then(|| tool.to_owned()),
            inputs: inputs(attribute("inputs").unwrap_or_default()),
            body: plane.body.clone().into_owned(),
        }
    }

    /// The program that the tool runs: its first word.
    pub fn binary(&self) -> Option<&str> {
        self.tool.as_deref().map(first_word)
    }
}

/// Whether a plane has `kind=identity`.
pub(crate) fn is_identity(plane: &Plane<'_>) -> bool {
    plane.attributes.get("kind") == Some("identity")
}

/// The first plane with `kind=identity`, else the first plane.
fn identity_of(document: &Document<'_>) -> Option<usize> {
    let declared = document.planes.iter().position(is_identity);
    declared.or((!document.planes.is_empty()).then_some(0))
}

fn name_of(plane: &Plane<'_>) -> String {
    match &plane.label {
        Some(label) => label.clone().into_owned(),
        None => format!("skill-{}", js_number(plane.z)),
    }
}

/// The listed planes, and the index of each name. A later plane replaces an earlier one of the
/// same name in the list.
fn listed(planes: &[Skill]) -> (Vec<u32>, HashMap<Box<str>, usize>) {
    let mut listed = Vec::with_capacity(planes.len());
    let mut by_name: HashMap<Box<str>, usize> = HashMap::with_capacity(planes.len());
    for (number, skill) in (0..).zip(planes) {
        if let Some(&index) = by_name.get(skill.name.as_str()) {
            listed[index] = number;
        } else {
            by_name.insert(skill.name.as_str().into(), listed.len());
            listed.push(number);
        }
    }
    (listed, by_name)
}
