//! The links of a document: the skills and the files it depends on.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{Event, Parser, Tag};

use crate::file_path::percent_decode;
use crate::limits::LINKS_MAX;
use crate::nesting::parsed_text;
use crate::{
    FILE_SCHEME, FilePath, FunctionId, Origin, ResourceUri, SCHEME, SkillId, VersionRef,
    front_matter,
};

/// A link to a skill, to a file of a skill folder or to a section.
#[derive(Debug)]
pub struct Link {
    /// The address as written, without its fragment.
    pub uri: String,
    /// What it leads to, or the reason why it leads nowhere.
    pub to: Result<Target, String>,
    /// Where the link is in the document.
    pub bytes: Range<usize>,
}

/// What a link leads to.
#[derive(Debug)]
pub enum Target {
    /// A skill.
    Skill(SkillId),
    /// The text that one version of a skill has, whatever is served now.
    Version(SkillId, VersionRef),
    /// The text that a skill has in one origin, although another may hide it.
    SkillFrom(Origin, SkillId),
    /// A file or a folder in a skill folder.
    File(FilePath),
    /// The output of a function.
    Section(FunctionId),
}

/// The links of a document to skills and files, in order, and whether that is all of them.
/// `path` is the path of a document in a skill folder: only such a document has relative links.
pub fn links(document: &str, path: Option<&FilePath>) -> (Vec<Link>, bool) {
    let is_section = |link: &Link| matches!(link.to, Ok(Target::Section(_)));
    let mut all = all_links(document, path).filter(|link| !is_section(link));
    let found: Vec<_> = all.by_ref().take(LINKS_MAX).collect();
    let is_all = all.next().is_none();
    (found, is_all)
}

/// The functions whose output a body links to, each once; `None` if there are none.
pub(crate) fn sections(body: &str) -> Option<Arc<[FunctionId]>> {
    // Most bodies have none, and a text search costs far less than a parser.
    if !body.contains("iii://fn") {
        return None;
    }
    let functions = body_links(body, 0, None).filter_map(|link| match link.to {
        Ok(Target::Section(function)) => Some(function),
        _ => None,
    });
    let functions: BTreeSet<_> = functions.collect();
    (!functions.is_empty()).then(|| functions.into_iter().collect())
}

/// Every link of a document, in order. Links to the index are left out.
fn all_links<'a>(document: &'a str, path: Option<&'a FilePath>) -> impl Iterator<Item = Link> + 'a {
    let (_, body) = front_matter::split(document);
    body_links(body, document.len() - body.len(), path)
}

/// Every link of a body that begins at `start` in its document.
fn body_links<'a>(
    body: &'a str,
    start: usize,
    path: Option<&'a FilePath>,
) -> impl Iterator<Item = Link> + 'a {
    // An inline link, a reference or an image has a bracket; an autolink has a scheme.
    let may_have = body.contains(SCHEME)
        || body.contains(FILE_SCHEME)
        || (path.is_some() && body.contains(']'));
    let body = if may_have { parsed_text(body) } else { "" };
    let events = Parser::new(body).into_offset_iter();
    events.filter_map(move |(event, bytes)| {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            return None;
        };
        link(&dest_url, start + bytes.start..start + bytes.end, path)
    })
}

/// The link with an address at a place of a document; `None` if it leads to something else than
/// a skill, a file of a skill or a section.
pub fn link(address: &str, bytes: Range<usize>, path: Option<&FilePath>) -> Option<Link> {
    let uri = address.split('#').next().unwrap_or_default();
    let uri = uri.strip_suffix("?toc").unwrap_or(uri);
    let to = if is_address(uri) {
        match uri.parse::<ResourceUri>() {
            Ok(ResourceUri::Skill(id)) => Ok(Target::Skill(id)),
            Ok(ResourceUri::Version(id, version)) => Ok(Target::Version(id, version)),
            Ok(ResourceUri::SkillFrom(origin, id)) => Ok(Target::SkillFrom(origin, id)),
            Ok(ResourceUri::File(path)) => Ok(Target::File(path)),
            Ok(ResourceUri::Section(function)) => Ok(Target::Section(function)),
            Ok(_) => return None,
            Err(error) => Err(error.to_text()),
        }
    } else {
        relative(path.filter(|_| is_relative(uri))?, uri)
    };
    let uri = uri.to_owned();
    Some(Link { uri, to, bytes })
}

fn is_address(uri: &str) -> bool {
    uri.starts_with(SCHEME) || uri.starts_with(FILE_SCHEME)
}

/// Whether an address has neither a scheme nor a root.
fn is_relative(uri: &str) -> bool {
    let start = uri.split(['/', '?']).next().unwrap_or_default();
    !uri.is_empty() && !uri.starts_with(['/', '?']) && !start.contains(':')
}

fn relative(from: &FilePath, uri: &str) -> Result<Target, String> {
    let link = uri.split('?').next().unwrap_or_default();
    let target = percent_decode(link).and_then(|link| from.join(&link));
    match target {
        Some(path) => Ok(Target::File(path)),
        None => Err("leads out of the skills; link to a file of the skill".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &[&str]) {
        let path = "a/references/api.md".parse().unwrap();
        let (links, all) = links(document, Some(&path));
        assert!(all);
        let got: Vec<String> = links
            .iter()
            .map(|link| match &link.to {
                Ok(Target::Skill(id)) => id.to_string(),
                Ok(Target::Version(id, version)) => format!("version {version} of {id}"),
                Ok(Target::SkillFrom(origin, id)) => format!("{id} from {origin}"),
                Ok(Target::File(path)) => format!("file {path}"),
                Ok(Target::Section(function)) => format!("section {function}"),
                Err(reason) => format!("{}: {}", link.uri, reason.split(' ').next().unwrap()),
            })
            .collect();
        assert_eq!(got, expected, "for {document:?}");
    }

    #[test]
    fn documents() {
        check("no links, [one](https://example.org)", &[]);
        check(
            "[a](iii://a/b) then [b](iii://c#part) and <iii://d>",
            &["a/b", "c", "d"],
        );
        check("[x][1]\n\n[1]: iii://a", &["a"]);
        check("[i](iii://skills) [f](iii://fn/a/b)", &[]);
        check("`[a](iii://a)`\n\n```\n[b](iii://b)\n```\n", &[]);
        check("just iii://a in the text", &[]);
        check("---\nx: '[a](iii://a)'\n---\n[b](iii://b)", &["b"]);
        check("[bad](iii://Bad)", &["iii://Bad: address"]);
    }

    #[test]
    fn versions_and_origins_are_texts_of_their_own() {
        check(
            "[a](iii://a/b@1#part) [b](iii://a@sha256:bd93) [c](iii://a%402?toc) <iii://@files/a>",
            &[
                "version 1 of a/b",
                "version sha256:bd93 of a",
                "version 2 of a",
                "a from fs",
            ],
        );
        check("[a](iii://@none/a)", &["iii://@none/a: address"]);
        check("[a](iii://a@0)", &["iii://a@0: address"]);
    }

    #[test]
    fn relative_links_lead_to_files() {
        check(
            "[b](b.md#part) ![c](../assets/c%20d.png?raw=1)",
            &["file a/references/b.md", "file a/assets/c d.png"],
        );
        check(
            "[m](mailto:a@b.c) [r](/etc/x) [f](#part) [h](//host/x)",
            &[],
        );
        check("[up](../../../x.md)", &["../../../x.md: leads"]);
        let (found, _) = links("[b](b.md)", None);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_link_has_its_place_and_its_section() {
        let document = "---\na: b\n---\nSee [f](iii://fn/a/b) and [s](iii://c#x).";
        let found: Vec<_> = all_links(document, None)
            .map(|link| &document[link.bytes])
            .collect();
        assert_eq!(found, ["[f](iii://fn/a/b)", "[s](iii://c#x)"]);
    }

    #[test]
    fn the_sections_of_a_body() {
        let body = "[b](iii://fn/b#x) ![a](iii://fn%2Fa) <iii://fn/b> `[c](iii://fn/c)` iii://fn/d \
            [e](iii://fn/state/get) [f](iii://fn)";
        let found = sections(body).unwrap();
        let found: Vec<_> = found.iter().map(FunctionId::as_str).collect();
        assert_eq!(found, ["a", "b"]);
        assert_eq!(sections("[a](iii://a) iii://fn/d"), None);
    }

    #[test]
    fn links_beyond_the_limit_are_left_out() {
        let (found, all) = links(&"[a](iii://a) ".repeat(LINKS_MAX + 1), None);
        assert_eq!((found.len(), all), (LINKS_MAX, false));
    }
}
