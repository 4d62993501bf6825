//! The head of a markdown document: its title, its description and its triggers.
//!
//! Title and description are plain text as a CommonMark parser reads them, so a `#` line in a
//! code fence is not a title, and emphasis and links leave only their words.
//!
//! Parsing a whole body of 256 KiB takes milliseconds, and an index may need 10,000 heads.
//! Most documents begin with both, so the first lines are parsed first, and the whole body
//! only if a later line could change the result.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::SkillId;
use crate::escape::without_hidden;
use crate::front_matter::{self, Triggers, triggers};
use crate::limits::DESCRIPTION_MAX;

/// Title, description and triggers of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The first level-1 heading.
    pub title: Option<Arc<str>>,
    /// The first paragraph, on one line, cut after [`DESCRIPTION_MAX`] characters.
    pub description: Option<Arc<str>>,
    /// The trigger phrases, as the front matter declares them.
    pub triggers: Option<Triggers>,
}

/// How much of a body is parsed first, in bytes.
const OPENING_MAX: usize = 1024;

impl Head {
    /// Extracts the head of a document.
    pub fn of(document: &str) -> Self {
        let (matter, body) = front_matter::split(document);
        Self {
            triggers: matter.and_then(triggers),
            ..Self::of_body(body)
        }
    }

    /// Gives a document without a title its name as title.
    pub fn set_default_title(&mut self, name: &str) {
        self.title.get_or_insert_with(|| one_line(name).into());
    }

    /// The title, or the id of a skill without one.
    pub(crate) fn title_or(&self, id: &SkillId) -> Arc<str> {
        self.title.clone().unwrap_or_else(|| id.shared())
    }

    fn of_body(body: &str) -> Self {
        let opening = opening(body);
        let head = opening.and_then(|text| scan(text, body).complete_within(text, body));
        head.unwrap_or_else(|| scan(body, body).head)
    }
}

/// The first lines of a body, at most [`OPENING_MAX`] bytes; none if the body is not longer.
fn opening(body: &str) -> Option<&str> {
    let start = body.as_bytes().get(..OPENING_MAX)?;
    let end = start.iter().rposition(|&b| b == b'\n')?;
    Some(&body[..=end])
}

/// The head as far as one pass found it, and where the later of its two blocks ends.
struct Found {
    head: Head,
    end: usize,
}

impl Found {
    /// The head, if the text after the opening cannot change it: each part is complete, or no
    /// later line could begin it. Testing every line is far cheaper than parsing them all.
    fn complete_within(self, opening: &str, body: &str) -> Option<Head> {
        let rest = opening.get(self.end..)?.trim_start_matches([' ', '\t']);
        let closed = rest.strip_prefix('\n').unwrap_or(rest).contains('\n');
        let later = |like: fn(&str) -> bool| body[self.end..].lines().any(like);
        let described = match self.head.description {
            Some(_) => closed,
            None => !later(may_begin_paragraph),
        };
        let titled = || self.head.title.is_some() || !later(may_be_title);
        (described && titled()).then_some(self.head)
    }
}

/// Whether a line could be a level-1 heading or the underline of one.
fn may_be_title(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    match line.as_bytes() {
        [b'#', rest @ ..] => !matches!(rest.first(), Some(b'#')),
        [b'=', ..] => line.trim_end().bytes().all(|b| b == b'='),
        _ => false,
    }
}

/// Whether a line outside a list could begin a paragraph: it is not blank, not indented like
/// code, and neither a list item nor a heading.
fn may_begin_paragraph(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let marker = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match (marker.as_bytes().first(), text.len() - marker.len()) {
        (Some(b'-' | b'*' | b'+'), 0) | (Some(b'.' | b')'), 1..) => &marker[1..],
        (Some(b'#'), 0) => marker.trim_start_matches('#'),
        _ => return !text.trim().is_empty() && line.len() - text.len() < 4,
    };
    !rest.is_empty() && !rest.starts_with([' ', '\t'])
}

/// Parses `text`, the opening of `body` or all of it, until title and description are known.
fn scan(text: &str, body: &str) -> Found {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    // A link may be defined after the opening.
    let mut labels = None;
    let mut defined = |link: BrokenLink<'_>| {
        let labels = labels.get_or_insert_with(|| link_labels(&body[text.len()..]));
        labels
            .contains(&label(&link.reference))
            .then_some((CowStr::Borrowed(""), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut defined));
    let mut found = Found {
        head: Head::default(),
        end: 0,
    };
    let mut reading: Option<(Part, String)> = None;
    let mut lists_and_notes = 0_usize;
    let mut quotes = 0_usize;
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(Tag::List(_) | Tag::FootnoteDefinition(_)) => lists_and_notes += 1,
            Event::End(TagEnd::List(_) | TagEnd::FootnoteDefinition) => lists_and_notes -= 1,
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            }) if lists_and_notes + quotes == 0 && found.head.title.is_none() => {
                reading = Some((Part::Title, String::new()));
            }
            Event::Start(Tag::Paragraph)
                if lists_and_notes == 0 && found.head.description.is_none() =>
            {
                reading = Some((Part::Description, String::new()));
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) => {
                if let Some((part, text)) = reading.take() {
                    found.keep(part, &text, &range);
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, words)) = &mut reading {
                    words.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, words)) = &mut reading {
                    words.push(' ');
                }
            }
            _ => {}
        }
        if found.head.title.is_some() && found.head.description.is_some() {
            break;
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Part {
    Title,
    Description,
}

impl Found {
    fn keep(&mut self, part: Part, text: &str, range: &Range<usize>) {
        let line = one_line(text);
        // An image without a text alternative, for example.
        if line.is_empty() {
            return;
        }
        self.end = range.end;
        match part {
            Part::Title => self.head.title = Some(line.into()),
            Part::Description => self.head.description = Some(cut(&line).into()),
        }
    }
}

/// Drops hidden characters, and replaces each run of white space and control characters by
/// one space.
fn one_line(text: &str) -> String {
    let text = without_hidden(text);
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(DESCRIPTION_MAX) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// The labels of the link definitions in `text`: lines like `[label]: address`.
fn link_labels(text: &str) -> HashSet<String> {
    let definition = |line: &str| {
        let (name, _) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
        Some(label(name))
    };
    text.lines().filter_map(definition).collect()
}

fn label(text: &str) -> String {
    one_line(text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, title: &str, description: &str) {
        let head = Head::of(document);
        let got = (
            head.title.as_deref().unwrap_or("-"),
            head.description.as_deref().unwrap_or("-"),
        );
        let opening: String = document.chars().take(80).collect();
        assert_eq!(got, (title, description), "for {opening:?}");
    }

    #[test]
    fn heads() {
        check("", "-", "-");
        check("# Resend\n\nEmail provider.", "Resend", "Email provider.");
        check(
            "Resend\n======\n\nEmail provider.",
            "Resend",
            "Email provider.",
        );
        check(
            "# Resend #\nEmail\nprovider.\n\nMore.",
            "Resend",
            "Email provider.",
        );
        check("Intro first.\n\n# Late title", "Late title", "Intro first.");
        check("## Only a second level\n\nText.", "-", "Text.");
        check("#hashtag\n\nText", "-", "#hashtag");
        check("```\n# not a title\n```\n# Title\n\nText", "Title", "Text");
        check("    # indented code\n\n# Title", "Title", "-");
        check(
            "# A *bold* [link](iii://x) and `code`",
            "A bold link and code",
            "-",
        );
        check("# T\n\n![a cat](cat.png) sits", "T", "a cat sits");
        check("# T\n\n![](cat.png)\n\nWords", "T", "Words");
        check("# T\n\n<!-- a comment -->\n\nText", "T", "Text");
        check(
            "# T\n\nsome <b>bold</b> text<!-- x -->",
            "T",
            "some bold text",
        );
        check("---\ntitle: x\n---\n# T\n\nText", "T", "Text");
        check("\u{feff}# T\r\n\r\nText\r\nmore\r\n", "T", "Text more");
        check("# T\n\n- a list\n- is no paragraph\n\nText", "T", "Text");
        check(
            "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nText",
            "T",
            "Text",
        );
        check("# T\n\n> quoted words", "T", "quoted words");
        check("> # not the document's\n\n# T", "T", "-");
        check("# T\n\nhard\\\nbreak  \nhere", "T", "hard break here");
        check("# T\n\na &amp; b &lt;c&gt;", "T", "a & b <c>");
        check(
            "# T\n\nsee [the guide][g]\n\n[g]: iii://g",
            "T",
            "see the guide",
        );
        check("# T\n\n[x] is not a link", "T", "[x] is not a link");
        check("# \n\n# Second", "Second", "-");
        check("# a\0b\n\nc\u{7}d", "a b", "c d");
        check("# a\u{200b}b\n\nc \u{e0041}\u{202e} d", "ab", "c d");
        check("# \u{200b}\n\n\u{2060}\n\nc", "-", "c");
    }

    #[test]
    fn a_description_is_cut_by_characters() {
        let text = |n: usize| format!("# T\n\n{}", "é".repeat(n));
        check(&text(140), "T", &"é".repeat(140));
        check(&text(141), "T", &format!("{}...", "é".repeat(140)));
    }

    #[test]
    fn text_after_the_opening_is_considered() {
        let filler = "- item\n".repeat(2000);
        check(&format!("{filler}\n# Late\n\nText"), "Late", "Text");
        check(&format!("Text\n\n{filler}\nLate\n===\n"), "Late", "Text");
        check(&format!("Text\n\n{filler}\n> # quoted\n"), "-", "Text");
        check(&format!("# T\n\n{filler}"), "T", "-");
        for late in [
            "Text", "*Text*", "**Text**", "> Text", "`Text`", " Text", "3 Text", "+Text",
        ] {
            let plain = late.trim_matches([' ', '*', '>', '`']);
            check(&format!("# T\n\n{filler}\n{late}\n"), "T", plain);
        }
        let linked = format!("# T\n\nsee [the guide][g] first\n\n{filler}\n[G]: iii://g\n");
        check(&linked, "T", "see the guide first");
        let long = "word ".repeat(3000);
        check(
            &format!("# T\n\n{long}"),
            "T",
            &format!("{}...", &long[..140]),
        );
        // The paragraph continues after the opening, and its underline makes it a title.
        let setext = format!("{}\n{}\n===\n\nText", "a".repeat(1000), "b".repeat(1000));
        check(
            &setext,
            &format!("{} {}", "a".repeat(1000), "b".repeat(1000)),
            "Text",
        );
    }

    #[test]
    fn hostile_documents_are_parsed() {
        for document in [
            "#".repeat(262_144),
            "# ".repeat(131_072),
            ">".repeat(100_000),
            "> ".repeat(100_000),
            "- ".repeat(100_000),
            "1. ".repeat(80_000),
            "[".repeat(262_144),
            "[a](".repeat(65_536),
            "*a ".repeat(80_000),
            "<!--".repeat(65_536),
            "`".repeat(262_144),
            "```\n# x".to_owned(),
            "\0".repeat(1000),
            "[a] ".repeat(60_000),
            "|a".repeat(100_000),
            "&".repeat(262_144),
            "\n".repeat(262_144),
            "a\n".repeat(131_072),
            "[^a]: ".repeat(40_000),
        ] {
            let head = Head::of(&document);
            assert!(
                head.description
                    .is_none_or(|d| d.chars().count() <= DESCRIPTION_MAX + 3)
            );
        }
    }
}
