//! The `iii://` links of a document: the skills it depends on.

use pulldown_cmark::{Event, Parser, Tag};

use crate::limits::LINKS_MAX;
use crate::{ResourceUri, SCHEME, SkillId, front_matter};

/// A link to a skill.
#[derive(Debug)]
pub struct Link {
    /// The address as written, without its fragment.
    pub uri: String,
    /// The skill, or the reason why the address cannot be one of a skill.
    pub to: Result<SkillId, String>,
}

/// The links of a document to skills, in order, and whether that is all of them.
///
/// Links to the index and to sections are left out: they are not skills.
pub fn links(document: &str) -> (Vec<Link>, bool) {
    let (_, body) = front_matter::split(document);
    let mut found = Vec::new();
    if !body.contains(SCHEME) {
        return (found, true);
    }
    for event in Parser::new(body) {
        let Event::Start(Tag::Link { dest_url, .. }) = event else {
            continue;
        };
        if !dest_url.starts_with(SCHEME) {
            continue;
        }
        let uri = dest_url.split('#').next().unwrap_or_default();
        let to = match uri.parse::<ResourceUri>() {
            Ok(ResourceUri::Skill(id)) => Ok(id),
            Ok(ResourceUri::Index | ResourceUri::Section(_)) => continue,
            Err(error) => Err(error.to_text()),
        };
        if found.len() == LINKS_MAX {
            return (found, false);
        }
        let uri = uri.to_owned();
        found.push(Link { uri, to });
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &[&str]) {
        let (links, all) = links(document);
        assert!(all);
        let got: Vec<String> = links
            .iter()
            .map(|link| match &link.to {
                Ok(id) => id.to_string(),
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
    fn links_beyond_the_limit_are_left_out() {
        let (found, all) = links(&"[a](iii://a) ".repeat(LINKS_MAX + 1));
        assert_eq!((found.len(), all), (LINKS_MAX, false));
    }
}
