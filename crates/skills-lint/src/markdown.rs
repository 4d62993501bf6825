//! The parts of a markdown text that rules treat differently: code, alternative texts, titles.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The parts of a text, each in order of their places.
#[derive(Debug, Default)]
pub struct Parts {
    /// Code blocks and code spans.
    pub code: Vec<Range<usize>>,
    /// Texts that are not shown: alternative texts and titles, with their places.
    pub unshown: Vec<(Range<usize>, String)>,
}

impl Parts {
    /// The parts of markdown, which begins at `start` of its file.
    pub fn of_markdown(body: &str, start: usize) -> Self {
        let mut parts = Self::default();
        let mut alternative: Option<(Range<usize>, String)> = None;
        for (event, bytes) in Parser::new(body).into_offset_iter() {
            let bytes = start + bytes.start..start + bytes.end;
            match event {
                Event::Start(Tag::CodeBlock(_)) => parts.code.push(bytes),
                Event::Code(text) => {
                    if let Some((_, words)) = &mut alternative {
                        words.push_str(&text);
                    }
                    parts.code.push(bytes);
                }
                Event::Start(Tag::Image { title, .. }) => {
                    let mut words = title.into_string();
                    words.push(' ');
                    alternative = Some((bytes, words));
                }
                Event::Start(Tag::Link { title, .. }) if !title.is_empty() => {
                    parts.unshown.push((bytes, title.into_string()));
                }
                Event::Text(text) => {
                    if let Some((_, words)) = &mut alternative {
                        words.push_str(&text);
                    }
                }
                Event::End(TagEnd::Image) => parts.unshown.extend(alternative.take()),
                _ => {}
            }
        }
        parts
    }

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
