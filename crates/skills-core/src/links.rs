//! The links of a document: the skills and the files it depends on.

use pulldown_cmark::{Event, Parser, Tag};

use crate::file_path::percent_decode;
use crate::limits::LINKS_MAX;
use crate::{FILE_SCHEME, FilePath, ResourceUri, SCHEME, SkillId, front_matter};

/// A link to a skill or to a file of a skill folder.
#[derive(Debug)]
pub struct Link {
    /// The address as written, without its fragment.
    pub uri: String,
    /// What it leads to, or the reason why it leads nowhere.
    pub to: Result<Target, String>,
}

/// What a link leads to.
#[derive(Debug)]
pub enum Target {
    /// A skill.
    Skill(SkillId),
    /// A file or a folder in a skill folder.
    File(FilePath),
}

/// The links of a document, in order, and whether that is all of them. `path` is the path of
/// a document in a skill folder: only such a document has relative links.
///
/// Links to the index and to sections are left out: they are not skills.
pub fn links(document: &str, path: Option<&FilePath>) -> (Vec<Link>, bool) {
    let (_, body) = front_matter::split(document);
    let mut found = Vec::new();
    // An inline link, a reference or an image has a bracket; an autolink has a scheme.
    let may_have = body.contains(SCHEME)
        || body.contains(FILE_SCHEME)
        || (path.is_some() && body.contains(']'));
    if !may_have {
        return (found, true);
    }
    for event in Parser::new(body) {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let uri = dest_url.split('#').next().unwrap_or_default();
        let uri = uri.strip_suffix("?toc").unwrap_or(uri);
        let to = if uri.starts_with(SCHEME) || uri.starts_with(FILE_SCHEME) {
            match uri.parse::<ResourceUri>() {
                Ok(ResourceUri::Skill(id)) => Ok(Target::Skill(id)),
                Ok(ResourceUri::File(path)) => Ok(Target::File(path)),
                Ok(_) => continue,
                Err(error) => Err(error.to_text()),
            }
        } else if let Some(from) = path.filter(|_| is_relative(uri)) {
            relative(from, uri)
        } else {
            continue;
        };
        if found.len() == LINKS_MAX {
            return (found, false);
        }
        let uri = uri.to_owned();
        found.push(Link { uri, to });
    }
    (found, true)
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
                Ok(Target::File(path)) => format!("file {path}"),
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
    fn links_beyond_the_limit_are_left_out() {
        let (found, all) = links(&"[a](iii://a) ".repeat(LINKS_MAX + 1), None);
        assert_eq!((found.len(), all), (LINKS_MAX, false));
    }
}
