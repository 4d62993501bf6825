//! Addresses and ids as people and models write them: `iii://x`, `x`, `x.md`, `./x.md`, `x@3`, `a::b`,
//! and files of skill folders: `skill://x/run.py`, `x/run.py`.

use crate::{Error, FILE_SCHEME, FilePath, ResourceUri, SCHEME, SkillId};

/// Parses an address that may be written as an id, a path or a function.
pub fn written_uri(text: &str) -> Result<ResourceUri, Error> {
    let (whole, part) = split_part(text.trim());
    if part.is_empty() {
        return whole_uri(text);
    }
    format!("{}{part}", whole_uri(whole)?).parse()
}

/// An address or an id, and its part: `?toc`, or `#` and a heading. A file may have a `#` in its
/// name.
fn split_part(text: &str) -> (&str, &str) {
    let at = text.len() - if text.ends_with("?toc") { 4 } else { 0 };
    let at = text.find('#').unwrap_or(at);
    let (whole, part) = text.split_at(at);
    let has_parts = whole.strip_suffix(".md").is_some()
        || path(whole).parse::<SkillId>().is_ok()
        || names_version(whole);
    // A slug has no slash.
    if !part.contains('/') && (has_parts || whole.contains("::")) {
        (whole, part)
    } else {
        (text, "")
    }
}

fn whole_uri(text: &str) -> Result<ResourceUri, Error> {
    if starts_with(text.trim(), FILE_SCHEME) {
        return format!("{FILE_SCHEME}{}", &text.trim()[FILE_SCHEME.len()..]).parse();
    }
    if text.contains("://") && !starts_with(text.trim(), SCHEME) {
        return text.parse();
    }
    if let Some(file) = file(text) {
        return Ok(ResourceUri::File(file));
    }
    let path = path(text);
    // The id of a function.
    let is_function = path.contains("::") && !path.contains('/');
    let path = if is_function {
        format!("fn/{}", path.replace("::", "/"))
    } else {
        path
    };
    format!("{SCHEME}{path}").parse()
}

/// Parses an id that may be written as an address or a path.
pub fn written_id(text: &str) -> Result<SkillId, Error> {
    path(text).parse()
}

/// Whether a text is an id with a version, such as `a/b@3`, or is meant to be one. A file may have an
/// `@` in its name too; without an ending, it is read at its `skill://` address only.
fn names_version(text: &str) -> bool {
    let path = path(text);
    let Some((id, version)) = path.rsplit_once('@') else {
        return false;
    };
    id.parse::<SkillId>().is_ok() && !version.contains(['.', '/'])
}

/// The path of a file in the folder of a skill: one that is not an id and begins with one.
fn file(text: &str) -> Option<FilePath> {
    let is_skill = path(text).parse::<SkillId>().is_ok() || names_version(text);
    if starts_with(text.trim(), SCHEME) || is_skill {
        return None;
    }
    let file = text.trim().replace('\\', "/");
    let file: FilePath = file.trim_start_matches("./").parse().ok()?;
    let is_function = file.as_str().starts_with("fn/");
    let has_skill = file.splits().next().is_some();
    (has_skill && !is_function).then_some(file)
}

fn starts_with(text: &str, scheme: &str) -> bool {
    let head = text.get(..scheme.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
}

/// The path without scheme, leading `./` and `.md`.
fn path(text: &str) -> String {
    let text = text.trim();
    let path = if starts_with(text, SCHEME) {
        text[SCHEME.len()..].to_owned()
    } else {
        text.replace('\\', "/")
    };
    let path = path.trim_start_matches("./");
    path.strip_suffix(".md").unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = written_uri(text).map_or_else(|error| error.to_string(), |uri| uri.to_string());
        assert!(got.contains(expected), "for {text:?}: {got}");
    }

    #[test]
    fn addresses() {
        check("iii://a/b", "iii://a/b");
        check("a/b?toc", "iii://a/b?toc");
        check("a.md#b-c", "iii://a#b-c");
        check("iii://a#b", "iii://a#b");
        check("a::b#c", "iii://fn/a/b#c");
        check("a/", "iii://a/");
        check("iii://skills?pages", "iii://skills?pages");
        check("pdf/API.md?toc", "skill://pdf/API.md?toc");
        check("a/b@2x.png", "skill://a/b@2x.png");
        check("pdf/c#/x.py", "skill://pdf/c%23/x.py");
        check("a/b@3", "iii://a/b@3");
        check("a@3#c", "iii://a@3#c");
        check("a/b@sha256:ab12?toc", "iii://a/b@sha256:ab12?toc");
        check("iii://a@3", "iii://a@3");
        check("a/b@0", "must be at least 1");
        check("a/b@sha256:x", "of 0-9 and a-f");
        check("a/b@next.js", "skill://a/b@next.js");
        for wrong in ["a/b@abc", "a/b@", "a/b@v1", "a/b@-1"] {
            check(wrong, "is not");
        }
        check("@files/a", "iii://@files/a");
        check("III://a", "iii://a");
        check("iii://a.md", "iii://a");
        check("a/b", "iii://a/b");
        check("a.md", "iii://a");
        check("./a/b.md", "iii://a/b");
        check(".\\a\\b.md", "iii://a/b");
        check(" a ", "iii://a");
        check("skills", "iii://skills");
        check("fn/a/b", "iii://fn/a/b");
        check("a::b", "iii://fn/a/b");
        check("", "non-empty");
        check("A", "lowercase");
        check("../a", "has '.'");
        check("https://x", "must start with `iii://`");
        check("guides%2Fstyle", "iii://guides/style");
        check("iii://guides%2Fstyle", "iii://guides/style");
        check("iii://guides%2Fstyle#b", "iii://guides/style#b");
        check("state::get", "internal namespace");
        check("pdf/scripts/run.py", "skill://pdf/scripts/run.py");
        check("./pdf/SKILL.md", "skill://pdf/SKILL.md");
        check("pdf/LICENSE", "skill://pdf/LICENSE");
        check("pdf/references/api.md", "iii://pdf/references/api");
        check("SKILL://pdf/a%20b.txt", "skill://pdf/a%20b.txt");
        check("skill://pdf", "names no file");
        check("iii://pdf/run.py", "has '.'");
        check("fn/a/B", "has 'B'");
        check("pdf/../x", "has '.'");
    }

    #[test]
    fn ids() {
        assert_eq!(written_id("./a/b.md").unwrap().as_str(), "a/b");
        assert_eq!(written_id("iii://a").unwrap().as_str(), "a");
        let error = written_id("skills").unwrap_err();
        assert!(error.to_string().contains("reserved"));
    }
}
