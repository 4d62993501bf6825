//! Where the links of a document lead in the page.

use std::fmt::Write as _;

use skills_core::links::{Target, link};
use skills_core::{FILE_SCHEME, FilePath, ResourceUri, SCHEME, SKILL_MD, SkillId};

use crate::pages::{origin, versions};
use crate::tree::Tree;

/// The fragments of headings begin with this, so that no heading has the id of a part of the page.
pub const HEADING: &str = "h-";

/// The links of one document.
pub struct Links<'a> {
    tree: &'a Tree,
    /// Relative links start here.
    base: Option<FilePath>,
    /// Whether the document is in the folder of a skill, so that relative links lead to files.
    is_in_folder: bool,
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Destination {
    /// A page of this server.
    Inside(String),
    /// A picture of a skill folder.
    Picture(String),
    /// Another server.
    Outside(String),
    /// Nowhere, and why.
    Nowhere(String),
}

impl<'a> Links<'a> {
    /// The links of a skill.
    pub fn of_skill(tree: &'a Tree, id: &SkillId) -> Self {
        let is_in_folder = tree
            .find(id.as_str())
            .is_some_and(|card| card.files.is_some());
        let base = if is_in_folder {
            FilePath::in_skill(id, SKILL_MD).ok()
        } else {
            format!("{id}.md").parse().ok()
        };
        Self {
            tree,
            base,
            is_in_folder,
        }
    }

    /// The links of a text that is not registered. Without an id, relative ones lead nowhere.
    pub fn of_draft(tree: &'a Tree, id: Option<&SkillId>) -> Self {
        Self {
            tree,
            base: id.and_then(|id| format!("{id}.md").parse().ok()),
            is_in_folder: false,
        }
    }

    /// The links of a file in the folder of a skill.
    pub fn of_file(tree: &'a Tree, path: &FilePath) -> Self {
        Self {
            tree,
            base: Some(path.clone()),
            is_in_folder: true,
        }
    }

    /// Where an address leads.
    pub fn destination(&self, address: &str) -> Destination {
        let (whole, fragment) = address.split_once('#').unwrap_or((address, ""));
        let fragment = if fragment.is_empty() {
            String::new()
        } else {
            format!("#{HEADING}{}", encode(fragment))
        };
        if whole.is_empty() {
            return Destination::Inside(fragment);
        }
        if let Some(found) = link(whole, 0..0, self.base.as_ref()) {
            return match found.to {
                Ok(target) => self.target(target, &fragment),
                Err(reason) => Destination::Nowhere(reason),
            };
        }
        if whole.starts_with(SCHEME) || whole.starts_with(FILE_SCHEME) {
            return match whole.parse::<ResourceUri>() {
                Ok(ResourceUri::IndexPart(part)) => {
                    let below = part.below.map(|id| format!("/skills/{id}/"));
                    Destination::Inside(below.unwrap_or_else(|| "/".into()))
                }
                Ok(_) => Destination::Inside("/".into()),
                Err(error) => Destination::Nowhere(error.to_text()),
            };
        }
        let scheme = whole
            .split_once(':')
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http" | "https" | "mailto") => Destination::Outside(address.to_owned()),
            Some(_) => {
                Destination::Nowhere("only http, https, mailto and iii links are followed".into())
            }
            None => Destination::Nowhere("it leads out of the registry".into()),
        }
    }

    fn target(&self, target: Target, fragment: &str) -> Destination {
        match target {
            Target::Skill(id) => self.skill(&id, fragment),
            // Which versions there are is not in the tree; the page tells.
            Target::Version(id, version) => {
                let page = versions::address_of(&id, &version);
                Destination::Inside(format!("{page}{fragment}"))
            }
            Target::SkillFrom(origin, id) if self.is_known(&id) => {
                let page = origin::address(origin, &id);
                Destination::Inside(format!("{page}{fragment}"))
            }
            Target::SkillFrom(_, id) => nowhere(&id),
            Target::Section(function) => {
                Destination::Inside(format!("/functions/{}", encode_segment(function.as_str())))
            }
            Target::File(path) if self.is_in_folder => self.file(&path, fragment),
            Target::File(path) => {
                let id = path.as_str();
                let id = id.strip_suffix(".md").unwrap_or(id).parse::<SkillId>();
                let id = id.ok().filter(|id| self.tree.has(id));
                match id {
                    Some(id) => self.skill(&id, fragment),
                    None => Destination::Nowhere(format!("no skill is at {path}")),
                }
            }
        }
    }

    fn skill(&self, id: &SkillId, fragment: &str) -> Destination {
        if self.is_known(id) {
            return Destination::Inside(format!("/skills/{id}{fragment}"));
        }
        nowhere(id)
    }

    fn is_known(&self, id: &SkillId) -> bool {
        self.tree.has(id) || self.is_bundled(id)
    }

    /// Whether an id may be that of a markdown file in the folder of a skill.
    fn is_bundled(&self, id: &SkillId) -> bool {
        let parents = id
            .as_str()
            .match_indices('/')
            .map(|(at, _)| &id.as_str()[..at]);
        let mut folders = parents.filter_map(|id| self.tree.find(id));
        folders.any(|card| card.files.is_some())
    }

    fn file(&self, path: &FilePath, fragment: &str) -> Destination {
        let skill = path
            .as_str()
            .strip_suffix(SKILL_MD)
            .unwrap_or(path.as_str());
        if let Some(card) = self.tree.find(skill.trim_end_matches('/')) {
            return Destination::Inside(format!("/skills/{}{fragment}", card.id));
        }
        if is_picture(path.name()) {
            return Destination::Picture(format!("/raw/{}", path.encoded()));
        }
        Destination::Inside(format!("/files/{}{fragment}", path.encoded()))
    }
}

fn nowhere(id: &SkillId) -> Destination {
    Destination::Nowhere(format!("skill not found: {id}"))
}

/// Whether a file is a picture that cannot contain a script.
pub fn is_picture(name: &str) -> bool {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(
        extension.as_deref(),
        Some("png" | "jpg" | "jpeg" | "gif" | "webp" | "avif")
    )
}

/// A segment of an address, in which only letters, digits and `-._~` stay as they are.
pub fn encode_segment(segment: &str) -> String {
    let mut encoded = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A fragment with only letters, digits and `-._~` as they are.
fn encode(fragment: &str) -> String {
    let mut encoded = String::with_capacity(fragment.len());
    for byte in fragment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
