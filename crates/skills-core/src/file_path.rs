//! The path of a file in a skill folder, alone or after the id of its skill.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::escape::quote;
use crate::limits::{ID_MAX, MAX_FILE_PATH_BYTES};
use crate::{Error, SkillId};

/// A path with `/` between its parts that leads nowhere but down: no part is empty, `.` or
/// `..`. In an address it begins with the id of a skill: `pdf/scripts/run.py`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Arc<str>);

impl FilePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it is the path of markdown.
    pub fn is_markdown(&self) -> bool {
        crate::media_type::of_name(self.name()) == Some("text/markdown")
    }

    /// The path of a file in the folder of a skill.
    pub fn in_skill(id: &SkillId, path: &str) -> Result<Self, Error> {
        format!("{id}/{path}").parse()
    }

    /// Every way to read it as the id of a skill and a path in its folder, the longest id
    /// first.
    pub fn splits(&self) -> impl Iterator<Item = (SkillId, Self)> {
        let slashes = self.0.rmatch_indices('/');
        slashes.filter_map(|(at, _)| {
            let (id, path) = (&self.0[..at], &self.0[at + 1..]);
            Some((id.parse().ok()?, Self(path.into())))
        })
    }

    /// The target of a relative link in this file: `None` if it leads out of the root.
    ///
    /// `link` is decoded: it has no `%20`, fragment or query.
    pub fn join(&self, link: &str) -> Option<Self> {
        let mut parts: Vec<&str> = self.0.split('/').collect();
        parts.pop();
        for part in link.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        parts.join("/").parse().ok()
    }

    /// A path from an address, with `%20` for a space.
    pub(crate) fn decode(text: &str) -> Result<Self, Error> {
        match percent_decode(text) {
            Some(path) => path.parse(),
            None => Err(Error::invalid(
                format!("path {}", quote(text)),
                "has a `%` that is not followed by two hexadecimal digits of UTF-8",
            )),
        }
    }

    /// The path in an address.
    pub fn encoded(&self) -> impl fmt::Display + '_ {
        encode(&self.0)
    }
}

impl FromStr for FilePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse =
            |problem: String| Err(Error::invalid(format!("path {}", quote(text)), problem));
        if text.len() > ID_MAX + MAX_FILE_PATH_BYTES {
            let limit = ID_MAX + MAX_FILE_PATH_BYTES;
            return refuse(format!(
                "is too long: {} bytes, at most {limit}",
                text.len()
            ));
        }
        for part in text.split('/') {
            if matches!(part, "" | "." | "..") {
                return refuse("must have non-empty parts other than `.` and `..`".into());
            }
            if let Some(c) = part.chars().find(|c| c.is_control() || *c == '\\') {
                return refuse(format!("has {c:?}, which no address can have"));
            }
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decodes `%20`; `None` if that gives no text.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let hex = |digit: u8| char::from(digit).to_digit(16);
            let value = hex(digits[0])? * 16 + hex(digits[1])?;
            bytes.push(u8::try_from(value).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A path in an address, with `%20` for a space.
pub(crate) const fn encode(path: &str) -> impl fmt::Display {
    Encoded(path)
}

struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte);
        let mut rest = self.0;
        // Lists print thousands of paths, nearly all without such a byte.
        while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
            f.write_str(&rest[..at])?;
            let end = at + rest[at..].chars().next().map_or(1, char::len_utf8);
            for byte in rest[at..end].bytes() {
                write!(f, "%{byte:02X}")?;
            }
            rest = &rest[end..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_down() {
        for text in ["a", "a/b.py", "a/.hidden", "a/b c", "a/..b", "é/SKILL.md"] {
            let path: FilePath = text.parse().unwrap();
            assert_eq!(path.as_str(), text);
            let encoded = path.encoded().to_string();
            assert_eq!(FilePath::decode(&encoded).unwrap(), path, "{encoded}");
        }
        for text in [
            "", "/a", "a/", "a//b", ".", "a/../b", "..", "a\\b", "a\0", "a\n",
        ] {
            text.parse::<FilePath>().unwrap_err();
        }
        for text in ["a%2", "a%zz", "a%ff", "a/%2e%2e/b", "a%00"] {
            FilePath::decode(text).unwrap_err();
        }
        assert_eq!(FilePath::decode("a%20b").unwrap().as_str(), "a b");
        let long = "a".repeat(ID_MAX + MAX_FILE_PATH_BYTES + 1);
        long.parse::<FilePath>().unwrap_err();
    }

    #[test]
    fn a_path_splits_into_an_id_and_the_rest() {
        let path: FilePath = "a/B/c/d.md".parse().unwrap();
        let splits: Vec<_> = path
            .splits()
            .map(|(id, rest)| format!("{id} {rest}"))
            .collect();
        assert_eq!(splits, ["a B/c/d.md"]);
        let path: FilePath = "a/b/c.md".parse().unwrap();
        let splits: Vec<_> = path
            .splits()
            .map(|(id, rest)| format!("{id} {rest}"))
            .collect();
        assert_eq!(splits, ["a/b c.md", "a b/c.md"]);
    }

    #[test]
    fn relative_links() {
        let from: FilePath = "a/references/api.md".parse().unwrap();
        let check = |link: &str, expected: Option<&str>| {
            let joined = from.join(link);
            assert_eq!(
                joined.as_ref().map(FilePath::as_str),
                expected,
                "for {link}"
            );
        };
        check("b.md", Some("a/references/b.md"));
        check("./b.md", Some("a/references/b.md"));
        check("../SKILL.md", Some("a/SKILL.md"));
        check("../../c/SKILL.md", Some("c/SKILL.md"));
        check("d/", Some("a/references/d"));
        check("../../../x", None);
        check("../..", None);
    }
}
