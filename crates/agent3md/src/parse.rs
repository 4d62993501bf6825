//! The parser: one pass over the lines, borrowing from the source where possible.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::directive;
use crate::document::{Document, Plane, UnclosedFence};
use crate::error::{ParseError, excerpt};
use crate::field::{Field, Fields, trim, unquote};
use crate::number;
use crate::span::locate;

pub(crate) fn parse(source: &str) -> Result<Document<'_>, ParseError> {
    let mut lines = Lines::new(source);
    let head = frontmatter(&mut lines)?;
    let mut body = Body::new(source);
    for line in lines {
        body.line(&line)?;
    }
    body.finish(head)
}

/// How many lines that are nearly directives a document keeps.
const NEAR_DIRECTIVES_MAX: usize = 20;

/// One line, without its LF or CRLF.
struct Line<'a> {
    text: &'a str,
    bytes: Range<usize>,
    /// Counted from 1.
    number: usize,
}

struct Lines<'a> {
    source: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(source: &'a str) -> Self {
        let at = if source.starts_with('\u{FEFF}') {
            '\u{FEFF}'.len_utf8()
        } else {
            0
        };
        Self {
            source,
            at,
            number: 0,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.source.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let text = if let Some(length) = rest.find('\n') {
            self.at += length + 1;
            let text = &rest[..length];
            text.strip_suffix('\r').unwrap_or(text)
        } else {
            // Without a line feed, a CR at the end is an ordinary character.
            self.at = self.source.len();
            rest
        };
        self.number += 1;
        Some(Line {
            text,
            bytes: start..start + text.len(),
            number: self.number,
        })
    }
}

/// The contents of the front matter.
struct Head<'a> {
    version: Cow<'a, str>,
    version_bytes: Range<usize>,
    axis: String,
    title: Option<Cow<'a, str>>,
    metadata: Fields<'a>,
}

fn frontmatter<'a>(lines: &mut Lines<'a>) -> Result<Head<'a>, ParseError> {
    let source = lines.source;
    let opening = match lines.find(|line| !trim(line.text).is_empty()) {
        Some(line) if trim(line.text) == "---" => line.bytes,
        other => {
            let end = source.len();
            let at = locate(source, other.map_or(end..end, |line| line.bytes));
            return Err(ParseError::MissingFrontmatter { at });
        }
    };
    let (mut version, mut axis, mut title) = (None, None, None);
    let mut metadata = Vec::new();
    for line in lines {
        let text = trim(line.text);
        if text == "---" {
            return head(source, opening, version, axis, title, metadata);
        }
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let Some((key, value)) = text.split_once(':') else {
            let detail = format!("front matter line without a colon: {}", excerpt(text));
            return Err(ParseError::InvalidFrontmatter {
                at: locate(source, line.bytes),
                detail,
            });
        };
        let (key, value) = (trim(key), unquote(trim(value)));
        let field = Field {
            key: Cow::Borrowed(key),
            value,
            bytes: line.bytes,
        };
        match () {
            () if key.eq_ignore_ascii_case("3md") => version = Some(field),
            () if key.eq_ignore_ascii_case("axis") => axis = Some(field.value),
            () if key.eq_ignore_ascii_case("title") => title = Some(field.value),
            () => metadata.push(field),
        }
    }
    let detail = "the front matter opened here is never closed".to_owned();
    Err(ParseError::InvalidFrontmatter {
        at: locate(source, opening),
        detail,
    })
}

fn head<'a>(
    source: &str,
    opening: Range<usize>,
    version: Option<Field<'a>>,
    axis: Option<Cow<'a, str>>,
    title: Option<Cow<'a, str>>,
    metadata: Vec<Field<'a>>,
) -> Result<Head<'a>, ParseError> {
    let version = match version {
        Some(field) if !field.value.is_empty() => field,
        other => {
            let at = locate(source, other.map_or(opening, |field| field.bytes));
            return Err(ParseError::MissingVersion { at });
        }
    };
    let axis = axis.map_or_else(|| "layer".to_owned(), |axis| trim(&axis).to_lowercase());
    Ok(Head {
        version: version.value,
        version_bytes: version.bytes,
        axis,
        title,
        metadata: Fields::new(metadata),
    })
}

/// The state of the scan below the front matter.
struct Body<'a> {
    source: &'a str,
    /// The fence character and the line that opened it.
    fence: Option<(char, Range<usize>)>,
    /// The first directive inside the open fence.
    hidden: Option<Range<usize>>,
    near_directives: Vec<Range<usize>>,
    /// The directive of the current section; none in the preamble.
    directive: Option<Directive<'a>>,
    /// The section from its first to its last line that is not blank, and the number of the first.
    text: Option<(Range<usize>, usize)>,
    preamble: Option<Cow<'a, str>>,
    planes: Vec<Plane<'a>>,
    taken: HashMap<u64, usize>,
}

struct Directive<'a> {
    fields: Vec<Field<'a>>,
    bytes: Range<usize>,
    line: usize,
}

impl<'a> Body<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            fence: None,
            hidden: None,
            near_directives: Vec::new(),
            directive: None,
            text: None,
            preamble: None,
            planes: Vec::new(),
            taken: HashMap::new(),
        }
    }

    fn line(&mut self, line: &Line<'a>) -> Result<(), ParseError> {
        let rest = directive::after_token(line.text);
        if let (None, Some(rest)) = (&self.fence, rest) {
            self.close()?;
            let offset = line.bytes.end - rest.len();
            let fields = directive::fields(self.source, rest, offset)?;
            let bytes = line.bytes.clone();
            self.directive = Some(Directive {
                fields,
                bytes,
                line: line.number,
            });
            return Ok(());
        }
        let text = line.text.trim_start_matches([' ', '\t']);
        if text.is_empty() {
            return Ok(());
        }
        if self.fence.is_none()
            && self.near_directives.len() < NEAR_DIRECTIVES_MAX
            && directive::is_nearly_one(line.text)
        {
            self.near_directives.push(line.bytes.clone());
        }
        match (&self.fence, fence_char(text)) {
            (None, Some(fence)) => {
                self.fence = Some((fence, line.bytes.clone()));
                self.hidden = None;
            }
            (Some((open, _)), Some(fence)) if *open == fence => self.fence = None,
            (Some(_), _) if rest.is_some() && self.hidden.is_none() => {
                self.hidden = Some(line.bytes.clone());
            }
            _ => {}
        }
        let first = self
            .text
            .take()
            .unwrap_or_else(|| (line.bytes.clone(), line.number));
        self.text = Some((first.0.start..line.bytes.end, first.1));
        Ok(())
    }

    /// Ends the current section: a plane, or the preamble.
    fn close(&mut self) -> Result<(), ParseError> {
        let (text, _) = self.text.take().unwrap_or_default();
        let Some(directive) = self.directive.take() else {
            self.preamble = Some(lf_only(&self.source[text])).filter(|text| !text.is_empty());
            return Ok(());
        };
        let at = || locate(self.source, directive.bytes.clone());
        let mut attributes = Fields::new(directive.fields);
        let mut number = |key| match attributes.take(key) {
            None => Ok(None),
            Some(field) => match number::parse(&field.value) {
                Some(value) => Ok(Some(value)),
                None => Err(ParseError::InvalidPlaneDirective {
                    detail: format!("{key} is not a number: {}", excerpt(&field.value)),
                    at: locate(self.source, field.bytes),
                }),
            },
        };
        let z = number("z")?.ok_or_else(|| ParseError::MissingPlanePosition { at: at() })?;
        let (x, y) = (number("x")?, number("y")?);
        match self.taken.entry(number::key(z)) {
            Entry::Occupied(taken) => {
                let first = self.planes[*taken.get()].directive.clone();
                let first = locate(self.source, first);
                return Err(ParseError::DuplicatePlane { at: at(), z, first });
            }
            Entry::Vacant(free) => free.insert(self.planes.len()),
        };
        let label = attributes.take("label").map(|field| field.value);
        attributes.shrink();
        self.planes.push(Plane {
            z,
            x,
            y,
            label,
            attributes,
            body: lf_only(&self.source[text.clone()]),
            line: directive.line,
            directive: directive.bytes,
            body_bytes: text,
        });
        Ok(())
    }

    fn finish(mut self, head: Head<'a>) -> Result<Document<'a>, ParseError> {
        if self.directive.is_some() {
            self.close()?;
        } else if let Some((text, line)) = self.text.take() {
            // Without directives, the text is the only plane of the document.
            self.planes.push(Plane {
                z: 0.0,
                x: None,
                y: None,
                label: None,
                attributes: Fields::default(),
                body: lf_only(&self.source[text.clone()]),
                line,
                directive: text.start..text.start,
                body_bytes: text,
            });
        }
        let unclosed_fence = match (self.fence, self.hidden) {
            (Some((_, fence)), Some(directive)) => Some(UnclosedFence { fence, directive }),
            _ => None,
        };
        let Head {
            version,
            version_bytes,
            axis,
            title,
            metadata,
        } = head;
        let (source, preamble, planes) = (self.source, self.preamble, self.planes);
        Ok(Document {
            source,
            version,
            version_bytes,
            axis,
            title,
            metadata,
            preamble,
            planes,
            unclosed_fence,
            near_directives: self.near_directives,
        })
    }
}

/// The fence character of a line that opens or closes a code fence.
fn fence_char(text: &str) -> Option<char> {
    let fences = [("```", '`'), ("~~~", '~')];
    let found = fences
        .into_iter()
        .find(|(fence, _)| text.starts_with(fence));
    found.map(|(_, c)| c)
}

fn lf_only(text: &str) -> Cow<'_, str> {
    // Searching one byte is much faster than two, and most documents have no CR.
    if text.contains('\r') && text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}
