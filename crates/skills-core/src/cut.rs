//! Cutting texts to a budget: at a heading, and with a note that says how to read on.

use std::fmt::Write;
use std::ops::Range;

use crate::ResourceUri;
use crate::headings::{Heading, Outline};
use crate::index::TOKEN_BYTES;

/// A text that may be cut.
pub(crate) struct Cuttable<'a> {
    /// The address that was asked for.
    pub uri: &'a ResourceUri,
    /// The address of the whole text, of which headings are fragments.
    pub whole_uri: &'a ResourceUri,
    /// The whole text.
    pub whole: &'a str,
    /// The part of it that was asked for.
    pub range: Range<usize>,
}

impl Cuttable<'_> {
    pub(crate) fn text(&self) -> &str {
        self.whole[self.range.clone()].trim_end()
    }

    /// The most bytes that the note about a cut has.
    pub(crate) fn note_bytes(&self) -> usize {
        let address = self.uri.to_string().len() + 2 * self.whole_uri.to_string().len();
        NOTE_MAX + address
    }

    /// The text, or its beginning and a note; the beginning has at most `room` bytes.
    pub(crate) fn cut(&self, room: usize) -> String {
        let outline = match self.whole_uri {
            // The index has lines and no sections.
            ResourceUri::Index | ResourceUri::IndexPart(_) => Outline::default(),
            _ => Outline::of(self.whole),
        };
        let inside = |at: &usize| self.range.start < *at && *at <= self.range.start + room;
        let headings = outline.headings.iter().map(|heading| heading.section.start);
        let heading = headings.filter(inside).max();
        let block = || outline.blocks.iter().copied().filter(inside).max();
        let end = heading.or_else(block).unwrap_or(self.range.start);
        let shown = self.whole[self.range.start..end].trim_end();
        let mut text = shown.to_owned();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let (bytes, total) = (shown.len(), self.text().len());
        let tokens = (total + self.note_bytes()).div_ceil(TOKEN_BYTES);
        // Writing to a string cannot fail.
        let _ = write!(text, "[cut: {bytes} of {total} bytes are shown; ");
        let whole = self.whole_uri;
        let next = outline
            .headings
            .iter()
            .find(|heading| is_next(heading, end));
        let next = next.filter(|next| heading.is_some() && next.slug.len() <= SLUG_MAX);
        let _ = match next {
            Some(next) => write!(
                text,
                "read on at {whole}#{}; {whole}?toc has all]",
                next.slug
            ),
            None if outline.headings.is_empty() => {
                write!(text, "all of {} needs max_tokens {tokens}]", self.uri)
            }
            None => write!(
                text,
                "{whole}?toc has the headings; all needs max_tokens {tokens}]"
            ),
        };
        text
    }
}

fn is_next(heading: &Heading, end: usize) -> bool {
    heading.section.start == end && !heading.slug.is_empty()
}

/// Bytes of the words, numbers and slug of a note.
const NOTE_MAX: usize = 260;
/// Bytes of a slug that a note names.
const SLUG_MAX: usize = 80;
