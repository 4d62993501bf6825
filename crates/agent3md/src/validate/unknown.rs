//! The rules about what is ignored: unknown versions, keys, attributes and directives, and labels
//! without an id.

use super::Check;
use crate::error::excerpt;
use crate::field::{Field, trim_wide};
use crate::finding::Rule;
use crate::slug::{SlugError, slugs};

/// The keys of the front matter; `3md`, `axis` and `title` in any case.
const KEYS: &[&str] = &[
    "3md", "agent", "axis", "entry", "model", "persona", "title", "tools",
];
/// The attributes of a plane.
const ATTRIBUTES: &[&str] = &[
    "cost", "inputs", "kind", "label", "tool", "triggers", "x", "y", "z",
];

impl Check<'_, '_> {
    pub(super) fn version(&mut self) {
        let document = self.document;
        let major = document.version.split('.').next().unwrap_or_default();
        if major != "1" {
            let version = excerpt(&document.version);
            let message = format!("the version {version} is not known; it is read as 1.0");
            self.report(Rule::Version, None, document.version_bytes.clone(), message);
        }
    }

    pub(super) fn unknown_keys(&mut self) {
        for field in &self.document.metadata {
            if let Some(advice) = unknown(field, KEYS) {
                let message = format!("the key {} is ignored{advice}", excerpt(&field.key));
                self.report(Rule::UnknownKey, None, field.bytes.clone(), message);
            }
        }
    }

    pub(super) fn unknown_attributes(&mut self) {
        for plane in &self.document.planes {
            for field in &plane.attributes {
                if let Some(advice) = unknown(field, ATTRIBUTES) {
                    let key = excerpt(&field.key);
                    let message = format!("the attribute {key} is ignored{advice}");
                    let (rule, z) = (Rule::UnknownAttribute, Some(plane.z));
                    self.report(rule, z, field.bytes.clone(), message);
                }
            }
        }
    }

    pub(super) fn near_directives(&mut self) {
        let document = self.document;
        for bytes in &document.near_directives {
            let line = excerpt(document.source[bytes.clone()].trim());
            let message =
                format!("{line} is text: a plane begins with `@plane` at the beginning of a line");
            self.report(Rule::NearDirective, None, bytes.clone(), message);
        }
    }

    pub(super) fn label_ids(&mut self) {
        let label = |plane: &crate::Plane<'_>| {
            let label = plane.label.as_deref().unwrap_or_default();
            trim_wide(label).to_owned()
        };
        let skills: Vec<_> = self.skills.iter().map(|skill| skill.plane).collect();
        let labels: Vec<String> = skills.iter().map(|plane| label(plane)).collect();
        let named = labels
            .iter()
            .enumerate()
            .filter(|(_, label)| !label.is_empty());
        let named: Vec<_> = named.collect();
        for (at, label, error) in slugs(named.iter().map(|(_, label)| label.as_str())).skipped {
            // Equal labels are an error already.
            let is_repeated = matches!(&error, SlugError::Clash { first, .. } if first == label);
            if !is_repeated {
                let message = format!("the registry cannot serve this skill: {error}");
                self.report_plane(Rule::LabelId, skills[named[at].0], "", message);
            }
        }
    }
}

/// What to add to the message about a field that is none of the `known`.
fn unknown(field: &Field<'_>, known: &[&str]) -> Option<String> {
    if known.contains(&&*field.key) {
        return None;
    }
    let key = field.key.to_lowercase();
    let distance = |known: &&&str| strsim::osa_distance(&key, known);
    let near = known.iter().min_by_key(distance);
    let near = near.filter(|near| distance(near) <= 2 && key.len() > 2);
    Some(near.map_or_else(String::new, |near| format!("; did you mean `{near}`?")))
}
