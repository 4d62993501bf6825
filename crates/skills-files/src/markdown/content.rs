//! Splits one markdown file into front matter and body.

use std::path::Path;
use std::sync::Arc;

use skills_core::limits::MAX_FRONT_MATTER_BYTES;
use skills_core::{BODY_MAX, Document, FrontMatter, front_matter};

use crate::stamp::Stamp;
use crate::text_file::{TextFile, Unserved, too_large};

/// The longest file that can hold front matter and body, with fences and a byte order mark.
pub const FILE_MAX: usize = BODY_MAX + MAX_FRONT_MATTER_BYTES + 16;

/// What a file must have besides front matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Text.
    Text,
    /// Nothing: the Agent Skills specification requires no body of a `SKILL.md`.
    Nothing,
}

impl Needs {
    /// Of a skill, which is a folder or a file.
    pub const fn of_skill(is_folder: bool) -> Self {
        if is_folder { Self::Nothing } else { Self::Text }
    }
}

/// The content of a markdown file.
#[derive(Debug)]
pub struct MarkdownContent {
    /// Its front matter, if it can be read.
    pub front_matter: Option<FrontMatter>,
    /// Why its front matter cannot be read and is a part of the body.
    pub problem: Option<String>,
    /// What follows the front matter, unchanged.
    pub body: Arc<str>,
    /// When the file was last modified.
    pub modified_at: Arc<str>,
}

impl MarkdownContent {
    /// Reads a file at a path without links; `None` if it does not exist.
    pub fn read(path: &Path, needs: Needs) -> Result<Option<Self>, Unserved> {
        let Some(file) = TextFile::read(path, FILE_MAX, BODY_MAX)? else {
            return Ok(None);
        };
        let document = parse(&file.text, needs)?;
        Ok(Some(Self::new(document, file.modified_at)))
    }

    /// The content of a document.
    pub fn new(document: Document<'_>, modified_at: Arc<str>) -> Self {
        Self {
            front_matter: document.front_matter,
            problem: document.problem,
            body: document.body.into(),
            modified_at,
        }
    }
}

/// Reads and parses a file that is no `SKILL.md` at a path without links; `None` if it does not exist.
pub fn read_text<T>(
    path: &Path,
    read: impl FnOnce(&str, &Document<'_>, Stamp) -> T,
) -> Result<Option<T>, Unserved> {
    let Some(file) = TextFile::read(path, FILE_MAX, BODY_MAX)? else {
        return Ok(None);
    };
    let document = parse(&file.text, Needs::Text)?;
    Ok(Some(read(&file.text, &document, file.stamp)))
}

/// Reads a document that can be served; fails with the reason why it cannot.
pub fn parse(text: &str, needs: Needs) -> Result<Document<'_>, String> {
    let (front_matter, rest) = front_matter::split(text);
    let is_enough = |yaml: &str| needs == Needs::Nothing && !yaml.trim().is_empty();
    if rest.trim().is_empty() && !front_matter.is_some_and(is_enough) {
        let reason = match front_matter {
            Some(_) => "has no text after the front matter; write some",
            None => "is empty; write some text or delete it",
        };
        return Err(reason.to_owned());
    }
    let document = Document::parse(text);
    match document.body.len() {
        bytes if bytes > BODY_MAX => Err(too_large(bytes as u64, BODY_MAX)),
        _ => Ok(document),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        check_needs(Needs::Text, bytes, expected);
    }

    #[track_caller]
    fn check_needs(needs: Needs, bytes: &[u8], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        // The temporary folder of some systems is behind a link.
        let path = fs::canonicalize(folder.path()).unwrap().join("a.md");
        fs::write(&path, bytes).unwrap();
        match (MarkdownContent::read(&path, needs), expected) {
            (Ok(Some(content)), Ok(body)) => assert_eq!(&*content.body, body),
            (Err(Unserved::Invalid(reason)), Err(expected)) => {
                assert!(reason.contains(expected), "{reason}");
            }
            (got, _) => panic!("expected {expected:?}, got {got:?}"),
        }
    }

    #[test]
    fn bodies() {
        check(b"# A\n", Ok("# A\n"));
        check(b"\xef\xbb\xbf# A\n", Ok("# A\n"));
        check(b"# A\r\n\r\nText\r\n", Ok("# A\r\n\r\nText\r\n"));
        check(b"---\nx: 1\n---\n\n# A\n", Ok("\n# A\n"));
        check(b"---\nunclosed\n", Ok("---\nunclosed\n"));
        check(b"", Err("is empty"));
        check(b"\xef\xbb\xbf", Err("is empty"));
        check(b" \n\t\r\n", Err("is empty"));
        check(
            b"---\nx: 1\n---\n \n",
            Err("no text after the front matter"),
        );
        check(b"# A\n\xff", Err("is not UTF-8 (at byte 4)"));
    }

    #[test]
    fn a_skill_md_needs_front_matter_or_text() {
        let check = |text: &str, expected| {
            check_needs(Needs::Nothing, text.as_bytes(), expected);
        };
        check("---\nname: a\n---\n", Ok(""));
        check("---\nname: a\n---", Ok(""));
        check("---\nname: a\n---\n \n", Ok(" \n"));
        check("---\nname: [a\n---\n", Ok("---\nname: [a\n---\n"));
        check("---\n---\n", Err("no text after the front matter"));
        check("", Err("is empty"));
    }

    #[test]
    fn sizes_at_the_limits() {
        let body = |bytes: usize| "a".repeat(bytes);
        check(body(262_144).as_bytes(), Ok(&body(262_144)));
        check(
            body(262_145).as_bytes(),
            Err("is too large: 262145 bytes, at most 262144"),
        );
        let fronted = |bytes: usize| format!("---\nx: 1\n---\n{}", body(bytes));
        check(fronted(262_144).as_bytes(), Ok(&body(262_144)));
        check(fronted(262_145).as_bytes(), Err("is too large"));
        check(&vec![b'a'; 1_000_000], Err("is too large: 1000000 bytes"));
        let front = format!("---\nx: {}\n---\ny", body(70_000));
        check(front.as_bytes(), Ok(&front));
    }
}
