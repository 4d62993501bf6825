//! The headings of a markdown text: their addresses, and the sections that they begin.
//!
//! A CommonMark parser finds them, so that a `#` line in a code fence is not a heading. Their slugs
//! are those that GitHub gives them.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::escape::without_hidden;
use crate::front_matter;
use crate::nesting::parsed_text;

/// A heading that is not inside a list or a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// Its words.
    pub title: String,
    /// Its fragment in an address; empty if its words have no letter and no digit.
    pub slug: String,
    /// The heading and everything up to the next one that is not below it.
    pub section: Range<usize>,
}

/// Where a text can be cut.
#[derive(Debug, Default)]
pub struct Outline {
    /// The headings in order.
    pub headings: Vec<Heading>,
    /// Where each block (a paragraph, a list, a code fence, a heading) begins.
    pub blocks: Vec<usize>,
}

impl Outline {
    /// Reads a text, with or without front matter.
    pub fn of(text: &str) -> Self {
        let start = text.len() - body(text).len();
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
        let parser = Parser::new_ext(parsed_text(&text[start..]), options).into_offset_iter();
        let mut outline = Self::default();
        let mut slugs = Slugs::default();
        let mut open = Vec::new();
        let mut depth = 0_usize;
        let mut reading: Option<(HeadingLevel, usize, String)> = None;
        for (event, range) in parser {
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        outline.blocks.push(start + range.start);
                    }
                    if let Tag::Heading { level, .. } = tag {
                        reading = Some((level, start + range.start, String::new()));
                    }
                    depth += 1;
                }
                Event::End(TagEnd::Heading(_)) => {
                    depth -= 1;
                    if let Some((level, at, words)) = reading.take() {
                        // A heading inside a quote has a slug too.
                        let slug = slugs.next(&words);
                        if depth == 0 {
                            let level = level as usize;
                            outline.close(&mut open, level, at);
                            open.push(outline.headings.len());
                            outline.headings.push(Heading {
                                level,
                                title: words.trim().to_owned(),
                                slug,
                                section: at..text.len(),
                            });
                        }
                    }
                }
                Event::End(_) => depth -= 1,
                Event::Text(text) | Event::Code(text) => {
                    if let Some((_, _, words)) = &mut reading {
                        words.push_str(&text);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some((_, _, words)) = &mut reading {
                        words.push(' ');
                    }
                }
                Event::Rule | Event::Html(_) if depth == 0 => {
                    outline.blocks.push(start + range.start);
                }
                _ => {}
            }
        }
        outline
    }

    /// Ends the open sections that are not above `level`. `open` has the places of their headings,
    /// each deeper than the one before it.
    fn close(&mut self, open: &mut Vec<usize>, level: usize, at: usize) {
        while let Some(heading) = open.pop_if(|heading| self.headings[*heading].level >= level) {
            self.headings[heading].section.end = at;
        }
    }

    /// The heading with this slug.
    pub fn find(&self, slug: &str) -> Option<&Heading> {
        self.headings
            .iter()
            .find(|heading| !slug.is_empty() && heading.slug == slug)
    }
}

fn body(text: &str) -> &str {
    match front_matter::split(text) {
        (Some(_), body) => body,
        (None, body) => front_matter::split_unclosed(body).map_or(body, |(_, body)| body),
    }
}

/// The slugs of the headings of one document: no two are equal.
#[derive(Debug, Default)]
pub struct Slugs(HashMap<String, usize>);

impl Slugs {
    /// The slug of the next heading.
    pub fn next(&mut self, words: &str) -> String {
        let first = slug(words);
        let mut found = first.clone();
        while self.0.contains_key(&found) {
            let used = self.0.entry(first.clone()).or_default();
            *used += 1;
            found = format!("{first}-{used}");
        }
        self.0.insert(found.clone(), 0);
        found
    }
}

/// Lowercase letters, digits, `_` and `-`, and a `-` for each space.
fn slug(words: &str) -> String {
    // An address with a hidden character is refused.
    let words = without_hidden(words.trim()).to_lowercase();
    let kept = words.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '_' | '-' | '\u{300}'..='\u{36f}' => Some(c),
        c => c.is_alphanumeric().then_some(c),
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let outline = Outline::of(text);
        let got: Vec<_> = outline
            .headings
            .iter()
            .map(|heading| (heading.slug.as_str(), &text[heading.section.clone()]))
            .collect();
        assert_eq!(got, expected, "for {text:?}");
    }

    #[test]
    fn sections() {
        check("no heading\n", &[]);
        check(
            "intro\n# A b\ntext\n## C\nmore\n# D\n",
            &[
                ("a-b", "# A b\ntext\n## C\nmore\n"),
                ("c", "## C\nmore\n"),
                ("d", "# D\n"),
            ],
        );
        check(
            "### deep\n# up\n",
            &[("deep", "### deep\n"), ("up", "# up\n")],
        );
        check(
            "Two words\n=========\n",
            &[("two-words", "Two words\n=========\n")],
        );
    }

    #[test]
    fn many_sections_end_where_the_next_begins() {
        let text = format!("# top\n{}", "## a\n".repeat(50_000));
        let headings = Outline::of(&text).headings;
        assert_eq!(headings[0].section, 0..text.len());
        let ends = headings[1..].windows(2);
        assert!(
            ends.into_iter()
                .all(|two| two[0].section.end == two[1].section.start)
        );
    }

    #[test]
    fn slugs_are_those_of_github() {
        check(
            "# What's *new*, `v2.0`?\n",
            &[("whats-new-v20", "# What's *new*, `v2.0`?\n")],
        );
        check(
            "# Überblick & Ziele\n",
            &[("überblick--ziele", "# Überblick & Ziele\n")],
        );
        check("# a_b-c  d\n", &[("a_b-c--d", "# a_b-c  d\n")]);
        check(
            "# a\u{3164}b\u{34f}c\n",
            &[("abc", "# a\u{3164}b\u{34f}c\n")],
        );
        let text = "# x\n# x\n# x-1\n# x\n";
        let slugs: Vec<_> = Outline::of(text)
            .headings
            .into_iter()
            .map(|h| h.slug)
            .collect();
        assert_eq!(slugs, ["x", "x-1", "x-1-1", "x-2"]);
    }

    #[test]
    fn only_headings_are_headings() {
        check("```sh\n# comment\n```\n\n    # code\n", &[]);
        check("---\ntitle: x\n# yaml\n---\n# A\n", &[("a", "# A\n")]);
        check("> # quoted\n\n# quoted\n", &[("quoted-1", "# quoted\n")]);
        check("#no\n\\# no\n", &[]);
    }
}
