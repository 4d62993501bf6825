//! An agent and a document as JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::agent::Agent;
use crate::document::{Document, Plane};
use crate::field::Fields;
use crate::number::Number;
use crate::tool_text::SkillHead;

/// The description of an agent without the bodies of its skills.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest<'a> {
    /// Its name.
    pub name: &'a str,
    /// The model it is meant for.
    pub model: &'a str,
    /// The programs it may use.
    pub tools: &'a [String],
    /// Its persona.
    pub persona: &'a str,
    /// The text of the identity plane.
    pub identity: &'a str,
    /// Its skills, without their bodies.
    pub skills: Vec<SkillHead<'a>>,
}

impl Agent {
    /// The manifest, to be serialized as JSON.
    pub fn manifest(&self) -> Manifest<'_> {
        Manifest {
            name: &self.name,
            model: &self.model,
            tools: &self.tools,
            persona: &self.persona,
            identity: &self.identity.body,
            skills: self.skills().map(SkillHead::from).collect(),
        }
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(6))?;
        map.serialize_entry("version", &self.version)?;
        map.serialize_entry("axis", &self.axis)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("metadata", &self.metadata)?;
        map.serialize_entry("preamble", &self.preamble)?;
        map.serialize_entry("planes", &self.planes)?;
        map.end()
    }
}

impl Serialize for Plane<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(6))?;
        map.serialize_entry("z", &Number(self.z))?;
        map.serialize_entry("x", &self.x.map(Number))?;
        map.serialize_entry("y", &self.y.map(Number))?;
        map.serialize_entry("label", &self.label)?;
        map.serialize_entry("attributes", &self.attributes)?;
        map.serialize_entry("body", &self.body)?;
        map.end()
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|field| (&field.key, &field.value)))
    }
}
