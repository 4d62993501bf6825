//! An `iii://` or `skill://` address, and what it refers to.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::escape::{escape_control, quote};
use crate::file_path::percent_decode;
use crate::index::{IndexPart, IndexView};
use crate::limits::{HEADING_MAX, ID_MAX};
use crate::source::DOCUMENT_ORIGINS;
use crate::{Error, FilePath, FunctionId, Origin, SkillId, VersionRef, segment};

/// The prefix of the addresses of skills.
pub const SCHEME: &str = "iii://";
/// The prefix of the addresses of files in skill folders.
pub const FILE_SCHEME: &str = "skill://";

/// An address that may be read: its id is valid, and its function is not internal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceUri {
    /// `iii://skills`: the rendered index.
    Index,
    /// `iii://resend/`: the index of a subtree; `?pages` and `?from=id`: its pages.
    IndexPart(IndexPart),
    /// `iii://{id}`: a stored body, or the markdown file of a skill folder without its
    /// ending `.md`.
    Skill(SkillId),
    /// `iii://@files/{id}`: the same of one origin, although another may hide it.
    SkillFrom(Origin, SkillId),
    /// `iii://{id}@3` and `iii://{id}@sha256:ab12`: one version of a registered skill.
    Version(SkillId, VersionRef),
    /// `skill://{id}/{path}`: a file of a skill folder, unchanged.
    File(FilePath),
    /// `iii://fn/{a}/{b}`: the output of function `a::b`.
    Section(FunctionId),
    /// A part of a text: of a skill, of a markdown file or of the output of a function.
    Part {
        /// The whole text.
        of: Box<ResourceUri>,
        /// Which part of it.
        part: TextPart,
    },
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TextPart {
    /// `?toc`: its headings.
    Toc,
    /// `#slug`: the section below a heading.
    Heading(String),
}

impl FromStr for ResourceUri {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if let Some((whole, part)) = split_part(text) {
            return part_of(text, whole, part);
        }
        if let Some(path) = text.strip_prefix(FILE_SCHEME) {
            return file(text, path);
        }
        let Some(path) = text.strip_prefix(SCHEME) else {
            return Err(Error::invalid_hint(
                format!("address {}", quote(text)),
                "must start with `iii://` or `skill://`",
                "try `iii://skills`, the index",
            ));
        };
        // Decoded once, before any check: a client that fills in a template encodes slashes.
        let (before, query) = match path.split_once('?') {
            Some((before, query)) => (decoded(text, before)?, Some(decoded(text, query)?)),
            None => (decoded(text, path)?, None),
        };
        let before = &*before;
        if before.starts_with('@') && query.is_none() {
            return skill_from(text, before);
        }
        let versioned = before.split_once('@').filter(|_| query.is_none());
        if let Some((id, version)) = versioned.filter(|_| !before.starts_with("fn/")) {
            let id = id.parse().map_err(|e| in_address(text, &e))?;
            let version = version.parse().map_err(|e| in_address(text, &e))?;
            return Ok(Self::Version(id, version));
        }
        let below = match before.strip_suffix('/') {
            None if before == "skills" && query.is_some() => Some(None),
            Some(id) if !id.is_empty() && !id.starts_with("fn/") && id != "fn" => {
                Some(Some(id.parse().map_err(|e| in_address(text, &e))?))
            }
            _ => None,
        };
        if let Some(below) = below {
            let view = view(text, query.as_deref())?;
            return Ok(Self::IndexPart(IndexPart { below, view }));
        }
        if let Some(query) = query {
            return Err(unknown_query(text, &query));
        }
        match before.split_once('/') {
            None if before == "skills" => Ok(Self::Index),
            None if before == "fn" => Err(Error::invalid_hint(
                format!("address {}", quote(text)),
                "names no function",
                "write `iii://fn/worker/function`",
            )),
            Some(("fn", function)) => section(text, function),
            _ => match old_link(text, before) {
                Some(error) => Err(error),
                None => before
                    .parse()
                    .map(Self::Skill)
                    .map_err(|e| in_address(text, &e)),
            },
        }
    }
}

/// A part of an address without `%2F` and the like.
fn decoded<'a>(text: &str, part: &'a str) -> Result<Cow<'a, str>, Error> {
    if !part.contains('%') {
        return Ok(part.into());
    }
    let decoded = percent_decode(part).map(Cow::Owned);
    decoded.ok_or_else(|| {
        Error::invalid(
            format!("address {}", quote(text)),
            "has a `%` that is not followed by two hexadecimal digits of UTF-8",
        )
    })
}

/// The address of the whole text and the part of it, if an address has one. In the path of a
/// file, `#` and `?` are a part only after `.md`.
fn split_part(text: &str) -> Option<(&str, &str)> {
    let is_file = text.starts_with(FILE_SCHEME);
    let has_parts = |whole: &str| !is_file || is_markdown(whole);
    if let Some(whole) = text.strip_suffix("?toc") {
        return has_parts(whole).then_some((whole, "?toc"));
    }
    let at = text
        .find('#')
        .filter(|_| is_file || text.starts_with(SCHEME))?;
    let (whole, part) = text.split_at(at);
    has_parts(whole).then_some((whole, part))
}

/// Whether the name of a file says that it is markdown.
fn is_markdown(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

fn part_of(text: &str, whole: &str, part: &str) -> Result<ResourceUri, Error> {
    let refuse = |problem: &str, hint: &str| {
        let what = format!("address {}", quote(text));
        Err(Error::invalid_hint(what, problem, hint))
    };
    let of: ResourceUri = whole.parse()?;
    match of {
        ResourceUri::Skill(_)
        | ResourceUri::SkillFrom(..)
        | ResourceUri::Version(..)
        | ResourceUri::File(_)
        | ResourceUri::Section(_) => {}
        ResourceUri::Index | ResourceUri::IndexPart(_) | ResourceUri::Part { .. } => {
            return refuse(
                "has no headings",
                "write `iii://id#heading` or `iii://id?toc`",
            );
        }
    }
    let part = match part.strip_prefix('#') {
        None => TextPart::Toc,
        Some(slug) => match percent_decode(slug).filter(|slug| !slug.is_empty()) {
            // The address is repeated in answers, as a heading and in errors.
            Some(slug) if slug.len() > HEADING_MAX || escape_control(&slug) != slug => {
                return refuse(
                    &format!(
                        "names a heading with control or hidden characters, or with more than \
                         {HEADING_MAX} bytes"
                    ),
                    "`?toc` lists the headings",
                );
            }
            Some(slug) => TextPart::Heading(slug),
            None => return refuse("names no heading", "`?toc` lists the headings"),
        },
    };
    let of = Box::new(of);
    Ok(ResourceUri::Part { of, part })
}

/// `@files/resend` of `iii://@files/resend`.
fn skill_from(text: &str, path: &str) -> Result<ResourceUri, Error> {
    let (name, id) = path.split_once('/').unwrap_or((path, ""));
    let origins = [Origin::State].into_iter().chain(DOCUMENT_ORIGINS);
    let Some(origin) = origins.clone().find(|origin| origin.address() == name) else {
        let all: Vec<_> = origins
            .map(|origin| format!("`{}`", origin.address()))
            .collect();
        return Err(Error::invalid_hint(
            format!("address {}", quote(text)),
            format!("names an unknown origin {}", quote(name)),
            format!("there are {}", all.join(", ")),
        ));
    };
    let id = id.parse().map_err(|e| in_address(text, &e))?;
    Ok(ResourceUri::SkillFrom(origin, id))
}

/// The view that a query asks for.
fn view(text: &str, query: Option<&str>) -> Result<IndexView, Error> {
    match query {
        None => Ok(IndexView::Tree),
        Some("pages") => Ok(IndexView::Pages),
        Some(query) => match query.strip_prefix("from=") {
            Some(id) => {
                let id = id.parse().map_err(|e| in_address(text, &e))?;
                Ok(IndexView::From(id))
            }
            None => Err(unknown_query(text, query)),
        },
    }
}

fn unknown_query(text: &str, query: &str) -> Error {
    Error::invalid_hint(
        format!("address {}", quote(text)),
        format!("has an unknown query {}", quote(query)),
        "a text takes `?toc`, the index `?pages`, or `?from=` and an id",
    )
}

/// `pdf/SKILL.md` of `skill://pdf/SKILL.md`.
fn file(text: &str, path: &str) -> Result<ResourceUri, Error> {
    let path = FilePath::decode(path).map_err(|e| in_address(text, &e))?;
    if path.splits().next().is_none() {
        return Err(Error::invalid_hint(
            format!("address {}", quote(text)),
            "names no file of a skill",
            "write `skill://id/SKILL.md`",
        ));
    }
    Ok(ResourceUri::File(path))
}

/// `resend/email` of `iii://fn/resend/email`.
fn section(text: &str, path: &str) -> Result<ResourceUri, Error> {
    if path.len() > ID_MAX {
        return Err(Error::invalid(
            format!("address {}", quote(text)),
            format!(
                "is too long: {} bytes after `fn/`, at most {ID_MAX}",
                path.len()
            ),
        ));
    }
    for part in path.split('/') {
        if part.is_empty() {
            return Err(Error::invalid_hint(
                format!("address {}", quote(text)),
                "has an empty segment; segments must be non-empty",
                "write `iii://fn/worker/function`",
            ));
        }
        segment::check("segment", part).map_err(|e| in_address(text, &e))?;
    }
    path.replace('/', "::")
        .parse::<FunctionId>()?
        .callable()
        .map(ResourceUri::Section)
}

/// `iii://x/worker::fn`, the form of function addresses before `fn/`.
fn old_link(text: &str, path: &str) -> Option<Error> {
    let (_, function) = path.split_once('/')?;
    let old = function.contains("::") && !function.contains('/');
    old.then(|| Error::OldLink {
        old: text.to_owned(),
        new: format!("{SCHEME}fn/{}", function.replace("::", "/")),
    })
}

fn in_address(text: &str, error: &Error) -> Error {
    Error::Invalid {
        what: format!("address {}:", quote(text)),
        problem: error.to_string(),
        hint: error.hint(),
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => write!(f, "{SCHEME}skills"),
            Self::IndexPart(part) => part.fmt(f),
            Self::Skill(id) => write!(f, "{SCHEME}{id}"),
            Self::SkillFrom(origin, id) => write!(f, "{SCHEME}{}/{id}", origin.address()),
            Self::Version(id, version) => write!(f, "{SCHEME}{id}@{version}"),
            Self::File(path) => write!(f, "{FILE_SCHEME}{}", path.encoded()),
            Self::Section(function) => write!(f, "{SCHEME}fn/{}", function.path()),
            Self::Part { of, part } => match part {
                TextPart::Toc => write!(f, "{of}?toc"),
                TextPart::Heading(slug) => write!(f, "{of}#{slug}"),
            },
        }
    }
}

#[cfg(test)]
mod tests;
