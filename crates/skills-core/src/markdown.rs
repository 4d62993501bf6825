//! The head of a markdown document: its title, its description and its triggers.
//!
//! The front matter decides; what it leaves out comes from the body, as plain text that a
//! CommonMark parser reads: a `#` line in a code fence is not a title, and emphasis and links
//! leave only their words.
//!
//! Parsing a whole body of 256 KiB takes milliseconds, and an index may need 10,000 heads.
//! Most documents begin with both, so the first lines are parsed first, and the whole body
//! only if a later line could change the result.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::escape::without_hidden;
use crate::front_matter::{self, Document, FrontMatter, Triggers};
use crate::limits::{DESCRIPTION_MAX, MAX_SKILL_DESCRIPTION_CHARS, SHOWN_TITLE_MAX};
use crate::links::sections;
use crate::nesting::parsed_text;
use crate::{FunctionId, SkillId, Visibility};

/// Title, description and triggers of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Head {
    /// The `title` of the front matter, else the first level-1 heading, else the `name` of the
    /// front matter.
    pub title: Option<Arc<str>>,
    /// On one line: the `description` of the front matter, cut after
    /// [`MAX_SKILL_DESCRIPTION_CHARS`] characters, else the first paragraph, cut after
    /// [`DESCRIPTION_MAX`].
    pub description: Option<Arc<str>>,
    /// The trigger phrases, as the front matter declares them.
    pub triggers: Option<Triggers>,
    /// The visibility that the front matter declares; the configuration decides before it.
    pub visibility: Option<Visibility>,
    /// The functions whose output the body links to.
    pub sections: Option<Arc<[FunctionId]>>,
}

/// How much of a body is parsed first, in bytes.
const OPENING_MAX: usize = 1024;

impl Head {
    /// Extracts the head of a document.
    pub fn of(document: &str) -> Self {
        match front_matter::split(document) {
            (Some(yaml), body) => Self::with(parse_if_relevant(yaml).as_ref(), body),
            (None, body) => match front_matter::split_unclosed(body) {
                Some((front_matter, body)) => Self::with(Some(&front_matter), body),
                None => Self::with(None, body),
            },
        }
    }

    /// Extracts the head of a document that was read before.
    pub fn of_document(document: &Document<'_>) -> Self {
        Self::with(document.front_matter.as_ref(), document.after)
    }

    /// Extracts the head of a document and passes every event of its body, with the place in the
    /// body, to `visit`: for callers that need both and must not parse twice.
    pub fn of_events<'a>(
        document: &Document<'a>,
        mut visit: impl FnMut(Event<'a>, Range<usize>),
    ) -> Self {
        let mut scan = Scan::default();
        let body = parsed_text(document.after);
        for (event, range) in Parser::new_ext(body, OPTIONS).into_offset_iter() {
            if !scan.is_complete() {
                scan.read(&event, &range);
            }
            visit(event, range);
        }
        let mut head = scan.found.head;
        head.sections = sections(document.after);
        Self::decide(document.front_matter.as_ref(), head)
    }

    fn with(front_matter: Option<&FrontMatter>, body: &str) -> Self {
        let mut head = Self::of_body(body);
        head.sections = sections(body);
        Self::decide(front_matter, head)
    }

    /// The head of a document with this front matter and this head of its body.
    fn decide(front_matter: Option<&FrontMatter>, body: Self) -> Self {
        let mut head = body;
        let Some(front_matter) = front_matter else {
            return head;
        };
        let line = |text: &str| Some(one_line(text)).filter(|line| !line.is_empty());
        if let Some(title) = front_matter.title().and_then(|title| line(&title)) {
            head.title = Some(title.into());
        } else if let Some(name) = front_matter.name().filter(|_| head.title.is_none()) {
            head.title = line(&name).map(Arc::from);
        }
        if let Some(text) = front_matter.description().and_then(|text| line(&text)) {
            head.description = Some(cut(&text, MAX_SKILL_DESCRIPTION_CHARS).into());
        }
        head.triggers = front_matter.triggers();
        head.visibility = front_matter.visibility().ok().flatten();
        head
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
        let opening = opening(body).filter(|text| !parsed_text(text).is_empty());
        let head = opening.and_then(|text| scan(text, body).complete_within(text, body));
        head.unwrap_or_else(|| {
            let body = parsed_text(body);
            scan(body, body).head
        })
    }
}

/// Reads a front matter that may decide something. Many have none of these keys, and a text
/// search costs far less than a YAML parser.
fn parse_if_relevant(yaml: &str) -> Option<FrontMatter> {
    let keys = ["description", "name", "title", "triggers", "visibility"];
    let is_relevant = keys.iter().any(|key| yaml.contains(key));
    is_relevant.then(|| FrontMatter::parse(yaml).ok()).flatten()
}

/// The first lines of a body, at most [`OPENING_MAX`] bytes; none if the body is not longer.
fn opening(body: &str) -> Option<&str> {
    let start = body.as_bytes().get(..OPENING_MAX)?;
    let end = start.iter().rposition(|&b| b == b'\n')?;
    Some(&body[..=end])
}

/// The head as far as one pass found it, and where the later of its two blocks ends.
#[derive(Default)]
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
    // A link may be defined after the opening.
    let mut labels = None;
    let mut defined = |link: BrokenLink<'_>| {
        let labels = labels.get_or_insert_with(|| link_labels(&body[text.len()..]));
        labels
            .contains(&label(&link.reference))
            .then_some((CowStr::Borrowed(""), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(text, OPTIONS, Some(&mut defined));
    let mut scan = Scan::default();
    for (event, range) in parser.into_offset_iter() {
        scan.read(&event, &range);
        if scan.is_complete() {
            break;
        }
    }
    scan.found
}

/// Tables, strikethrough and footnotes are no part of a title.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES);

/// Finds the head in the events of a parser.
#[derive(Default)]
struct Scan {
    found: Found,
    reading: Option<(Part, String)>,
    lists_and_notes: usize,
    quotes: usize,
}

impl Scan {
    const fn is_complete(&self) -> bool {
        self.found.head.title.is_some() && self.found.head.description.is_some()
    }

    fn read(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(Tag::List(_) | Tag::FootnoteDefinition(_)) => self.lists_and_notes += 1,
            Event::End(TagEnd::List(_) | TagEnd::FootnoteDefinition) => self.lists_and_notes -= 1,
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            }) if self.lists_and_notes + self.quotes == 0 && self.found.head.title.is_none() => {
                self.reading = Some((Part::Title, String::new()));
            }
            Event::Start(Tag::Paragraph)
                if self.lists_and_notes == 0 && self.found.head.description.is_none() =>
            {
                self.reading = Some((Part::Description, String::new()));
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) => {
                if let Some((part, text)) = self.reading.take() {
                    self.found.keep(part, &text, range);
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, words)) = &mut self.reading {
                    words.push_str(text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, words)) = &mut self.reading {
                    words.push(' ');
                }
            }
            _ => {}
        }
    }
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
            Part::Description => self.head.description = Some(cut(&line, DESCRIPTION_MAX).into()),
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

/// A line of at most `chars` characters; `...` stands for the rest.
pub(crate) fn cut(line: &str, chars: usize) -> Cow<'_, str> {
    match line.char_indices().nth(chars) {
        Some((at, _)) => format!("{}...", &line[..at]).into(),
        None => line.into(),
    }
}

/// A title or a trigger as answers and the index show it: a heading may be as long as a body.
pub fn shown_title(title: &str) -> Cow<'_, str> {
    cut(title, SHOWN_TITLE_MAX)
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
mod tests;
