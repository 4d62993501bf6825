//! What one pass over a markdown text finds for all rules: its head, its links, and the parts
//! that rules treat differently.

use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};
use skills_core::Head;
use skills_core::front_matter::Document;

/// A markdown text.
pub struct Markdown<'a> {
    pub document: Document<'a>,
    pub head: Head,
    /// The addresses of links and images, in order, with the places of the links.
    pub links: Vec<(CowStr<'a>, Range<usize>)>,
}

/// The parts of a text, each in order of their places.
#[derive(Debug, Default)]
pub struct Parts {
    /// Code blocks and code spans.
    pub code: Vec<Range<usize>>,
    /// Texts that are not shown: alternative texts and titles, with their places.
    pub unshown: Vec<(Range<usize>, String)>,
}

impl<'a> Markdown<'a> {
    /// Parses a text once.
    pub fn read(text: &'a str) -> (Self, Parts) {
        let document = Document::parse(text);
        let mut parts = Parts::default();
        let mut links = Vec::new();
        let mut alternative: Option<(Range<usize>, String)> = None;
        if !may_have_parts(document.after) {
            let head = Head::of_document(&document);
            let read = Self {
                document,
                head,
                links,
            };
            return (read, parts);
        }
        let start = text.len() - document.after.len();
        let head = Head::of_events(&document, |event, bytes| {
            let bytes = start + bytes.start..start + bytes.end;
            match event {
                Event::Start(Tag::CodeBlock(_)) => parts.code.push(bytes),
                Event::Code(text) => {
                    if let Some((_, words)) = &mut alternative {
                        words.push_str(&text);
                    }
                    parts.code.push(bytes);
                }
                Event::Start(Tag::Image {
                    title, dest_url, ..
                }) => {
                    links.push((dest_url, bytes.clone()));
                    let mut words = title.into_string();
                    words.push(' ');
                    alternative = Some((bytes, words));
                }
                Event::Start(Tag::Link {
                    title, dest_url, ..
                }) => {
                    links.push((dest_url, bytes.clone()));
                    if !title.is_empty() {
                        parts.unshown.push((bytes, title.into_string()));
                    }
                }
                Event::Text(text) => {
                    if let Some((_, words)) = &mut alternative {
                        words.push_str(&text);
                    }
                }
                Event::End(TagEnd::Image) => parts.unshown.extend(alternative.take()),
                _ => {}
            }
        });
        let read = Self {
            document,
            head,
            links,
        };
        (read, parts)
    }
}

/// Whether a text may have code, a link or an image: code has a mark or is indented, a link or an
/// image has a bracket or, in angle brackets, a scheme. A search costs far less than a parser.
fn may_have_parts(body: &str) -> bool {
    let marks = ["`", "]", "\t", "~~~", "    ", "://"];
    marks.iter().any(|mark| body.contains(mark))
}

impl Parts {
    /// A text that is code as a whole.
    pub fn of_code(text: &str) -> Self {
        Self {
            code: std::iter::once(0..text.len()).collect(),
            unshown: Vec::new(),
        }
    }

    /// Whether a place is in code.
    pub fn is_code(&self, at: usize) -> bool {
        let after = self.code.partition_point(|range| range.start <= at);
        after > 0 && self.code[after - 1].end > at
    }
}
