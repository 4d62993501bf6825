//! Cutting texts to a budget: at a heading or a line, and with a note that says how to read on.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::headings::{Heading, Outline};
use crate::index::{IndexPart, IndexView, TOKEN_BYTES};
use crate::{ResourceUri, SkillId, TextPart};

/// What is before the text of an address where several are joined.
pub(crate) fn heading(address: &str) -> String {
    format!("# {address}\n\n")
}

/// A text that may be cut.
pub(crate) struct Cuttable<'a> {
    /// The address that was asked for.
    pub uri: &'a ResourceUri,
    /// The address of the whole text, of which headings are fragments.
    pub whole_uri: &'a ResourceUri,
    /// The whole text.
    pub whole: &'a WholeText,
    /// The part of it that was asked for.
    pub range: Range<usize>,
}

/// A text, and its headings when they are needed: several addresses may be sections of one text.
pub(crate) struct WholeText {
    pub text: Arc<str>,
    outline: OnceLock<Outline>,
}

impl WholeText {
    pub(crate) fn new(text: Arc<str>) -> Self {
        Self {
            text,
            outline: OnceLock::new(),
        }
    }

    pub(crate) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(&self.text))
    }
}

/// The beginning of a text, and a note about the rest.
pub(crate) struct Cut {
    pub text: String,
    /// The bytes of the beginning.
    pub shown: usize,
}

impl Cuttable<'_> {
    pub(crate) fn text(&self) -> &str {
        self.whole.text[self.range.clone()].trim_end()
    }

    /// What is before the text where several are joined.
    pub(crate) fn heading(&self) -> String {
        heading(&self.uri.to_string())
    }

    /// The fewest bytes that stand for the text: its own, or those of the note alone.
    pub(crate) fn least_bytes(&self) -> usize {
        let whole = self.text().len();
        if whole <= NOTE_MIN {
            return whole;
        }
        whole.min(self.cut_at(self.range.start).text.len())
    }

    /// The beginning of the text and a note, in at most `room` bytes if the note alone fits.
    pub(crate) fn cut(&self, room: usize) -> Cut {
        let fitting = |places: &mut dyn DoubleEndedIterator<Item = usize>| {
            let inside = |at: &usize| self.range.start < *at && *at < self.range.end;
            let mut texts = places.filter(inside).rev();
            let near = texts
                .by_ref()
                .skip_while(|at| *at - self.range.start > room);
            let mut texts = near.map(|at| self.cut_at(at));
            texts.find(|cut| cut.text.len() <= room)
        };
        // A text that is not parsed has no blocks.
        let found = if self.has_lines() || self.whole.outline().blocks.is_empty() {
            let ends = self.whole.text.match_indices('\n').map(|(at, _)| at + 1);
            fitting(&mut ends.collect::<Vec<_>>().into_iter())
        } else {
            let outline = self.whole.outline();
            let mut headings = outline.headings.iter().map(|heading| heading.section.start);
            fitting(&mut headings).or_else(|| fitting(&mut outline.blocks.iter().copied()))
        };
        found.unwrap_or_else(|| self.cut_at(self.range.start))
    }

    /// Whether it is made of lines and not of sections.
    fn has_lines(&self) -> bool {
        match self.uri {
            ResourceUri::Index | ResourceUri::IndexPart(_) => true,
            ResourceUri::Part { part, .. } => *part == TextPart::Toc,
            _ => false,
        }
    }

    fn cut_at(&self, end: usize) -> Cut {
        let shown = self.whole.text[self.range.start..end].trim_end();
        let gap = if shown.is_empty() { "" } else { "\n\n" };
        let (bytes, total) = (shown.len(), self.text().len());
        let rest = self.rest(end);
        Cut {
            text: format!("{shown}{gap}[cut: {bytes} of {total} bytes are shown; {rest}]"),
            shown: bytes,
        }
    }

    /// How to read what follows.
    fn rest(&self, end: usize) -> String {
        let tokens = (self.heading().len() + self.text().len()).div_ceil(TOKEN_BYTES);
        let all = || format!("all of {} needs max_tokens {tokens}", self.uri);
        if self.has_lines() {
            return match self.next_page(end) {
                Some((page, IndexView::From(_))) => format!("read on at {page}"),
                Some((page, _)) => {
                    format!("{page} lists everything; all of it here needs max_tokens {tokens}")
                }
                None => all(),
            };
        }
        let whole = self.whole_uri;
        let mut headings = self.whole.outline().headings.iter();
        let next = headings.clone().find(|heading| is_next(heading, end));
        if let Some(next) = next.filter(|_| end > self.range.start) {
            return format!("read on at {whole}#{}; {whole}?toc has all", next.slug);
        }
        let inside = |at: usize| self.range.start < at && at < self.range.end;
        if headings.any(|heading| inside(heading.section.start)) {
            return format!("{whole}?toc has the headings; all needs max_tokens {tokens}");
        }
        all()
    }

    /// The address in the index from which on the rest can be read. A page is in the order of ids,
    /// so that the rest of it begins at an id; other texts of the index are not.
    fn next_page(&self, end: usize) -> Option<(IndexPart, IndexView)> {
        let part = match self.uri {
            ResourceUri::Index => IndexPart::default(),
            ResourceUri::IndexPart(part) => part.clone(),
            _ => return None,
        };
        let view = match part.view {
            IndexView::Tree => IndexView::Pages,
            IndexView::Pages => return None,
            IndexView::From(_) => {
                let mut ids = self.whole.text[end..].lines().filter_map(line_id);
                let next = ids.next().filter(|id| id.as_str().len() <= ADDRESS_MAX)?;
                IndexView::From(next)
            }
        };
        let below = part.below;
        let page = IndexPart {
            below,
            view: view.clone(),
        };
        Some((page, view))
    }
}

/// The id of a line of the index.
fn line_id(line: &str) -> Option<SkillId> {
    let rest = line.trim_start().strip_prefix("- [`")?;
    rest.split('`').next()?.parse().ok()
}

fn is_next(heading: &Heading, end: usize) -> bool {
    heading.section.start == end && (1..=ADDRESS_MAX).contains(&heading.slug.len())
}

/// Every note has more bytes, so that a text with at most as many is never replaced by one.
const NOTE_MIN: usize = "[cut: 0 of 0 bytes are shown; ]".len();
/// Bytes of a slug or an id that a note names.
const ADDRESS_MAX: usize = 80;
