//! A parsed 3md document.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::ParseError;
use crate::field::Fields;
use crate::span::{Span, locate};

/// A parsed document. It borrows the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// The text as given.
    pub source: &'a str,
    /// The `3md` value; never empty, otherwise unchecked.
    pub version: Cow<'a, str>,
    /// The line of the version in the source.
    pub version_bytes: Range<usize>,
    /// The meaning of z, lowercase; `layer` by default.
    pub axis: String,
    /// The `title` value; `Some("")` for a title without a value.
    pub title: Option<Cow<'a, str>>,
    /// Every other front matter entry.
    pub metadata: Fields<'a>,
    /// Text before the first plane.
    pub preamble: Option<Cow<'a, str>>,
    /// The planes in file order.
    pub planes: Vec<Plane<'a>>,
    /// A code fence that is never closed and contains directives, which are therefore text.
    pub unclosed_fence: Option<UnclosedFence>,
    /// The first lines that are nearly directives, and therefore text.
    pub near_directives: Vec<Range<usize>>,
}

/// One plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane<'a> {
    /// Its position; unique in the document.
    pub z: f64,
    /// The `x` attribute.
    pub x: Option<f64>,
    /// The `y` attribute.
    pub y: Option<f64>,
    /// The `label` attribute, verbatim.
    pub label: Option<Cow<'a, str>>,
    /// Every other attribute.
    pub attributes: Fields<'a>,
    /// The text, without blank lines around it and with LF line ends.
    pub body: Cow<'a, str>,
    /// The line of the directive, counted from 1; in a document without directives, of the text.
    pub line: usize,
    /// The directive in the source; empty in a document without directives.
    pub directive: Range<usize>,
    /// The body in the source.
    pub body_bytes: Range<usize>,
}

/// A code fence that is never closed and contains directives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnclosedFence {
    /// The line that opens the fence.
    pub fence: Range<usize>,
    /// The first directive line after it.
    pub directive: Range<usize>,
}

impl<'a> Document<'a> {
    /// Parses a document up to the first error.
    pub fn parse(source: &'a str) -> Result<Self, ParseError> {
        crate::parse::parse(source)
    }

    /// Line and column of a byte range of the source. Counts from the start of the text.
    pub fn locate(&self, bytes: Range<usize>) -> Span {
        locate(self.source, bytes)
    }
}
