//! The address of a folder of skills or of files in a skill.

use std::fmt;
use std::str::FromStr;

use crate::escape::quote;
use crate::file_path::encode;
use crate::{Error, FILE_SCHEME, FilePath};

/// The address of a folder: `skill://pdf/scripts`, or `skill://` for all skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderUri(Option<FilePath>);

/// Where a folder is, seen from a skill.
pub enum Position<'a, 'b> {
    /// Neither has the other.
    Apart,
    /// The rest of the id below the folder.
    Above(&'a str),
    /// The path of the folder in the skill; empty if it is the skill.
    Inside(&'b str),
}

impl FolderUri {
    /// Its path; `None` if it is the folder of all skills.
    pub(crate) const fn path(&self) -> Option<&FilePath> {
        self.0.as_ref()
    }

    /// The address of something in this folder.
    pub fn child(&self, name: &str) -> String {
        match &self.0 {
            Some(path) => format!("{FILE_SCHEME}{}/{}", path.encoded(), encode(name)),
            None => format!("{FILE_SCHEME}{}", encode(name)),
        }
    }

    /// Where it is, seen from the skill with this id.
    pub(crate) fn position_of<'a>(&self, id: &'a str) -> Position<'a, '_> {
        let Some(path) = &self.0 else {
            return Position::Above(id);
        };
        if let Some(rest) = below(id, path.as_str()) {
            return Position::Above(rest);
        }
        match path.as_str().strip_prefix(id) {
            Some("") => Position::Inside(""),
            Some(rest) => match rest.strip_prefix('/') {
                Some(rest) => Position::Inside(rest),
                None => Position::Apart,
            },
            None => Position::Apart,
        }
    }
}

/// The rest of a path below a folder; all of it if the folder is empty.
pub fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

impl FromStr for FolderUri {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some(path) = text.trim().strip_prefix(FILE_SCHEME) else {
            return Err(Error::invalid_hint(
                format!("address {}", quote(text)),
                "is not a folder of a skill",
                "write `skill://id`",
            ));
        };
        match path.strip_suffix('/').unwrap_or(path) {
            "" => Ok(Self(None)),
            path => FilePath::decode(path).map(|path| Self(Some(path))),
        }
    }
}

impl fmt::Display for FolderUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{FILE_SCHEME}{}", path.encoded()),
            None => f.write_str(FILE_SCHEME),
        }
    }
}
