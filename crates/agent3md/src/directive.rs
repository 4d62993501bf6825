//! The `@plane` line: where it is one, and how it splits into attributes.

use std::borrow::Cow;

use crate::error::{ParseError, excerpt};
use crate::field::{Field, trim, unquote};
use crate::span::locate;

/// What follows `@plane`, if the line is a directive at all.
pub(crate) fn after_token(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("@plane")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

/// The attributes in the order written. `offset` is where `rest` begins in `source`.
pub(crate) fn fields<'a>(
    source: &str,
    rest: &'a str,
    offset: usize,
) -> Result<Vec<Field<'a>>, ParseError> {
    let wrong = |from: usize, to: usize, detail: String| {
        let at = locate(source, offset + from..offset + to);
        ParseError::InvalidPlaneDirective { at, detail }
    };
    // Room for what a skill usually carries.
    let mut fields = Vec::with_capacity(8);
    let mut start = 0;
    while let Some(skip) = rest[start..].find(|c| c != ' ' && c != '\t') {
        start += skip;
        let end = token_end(rest, start).map_err(|quote| {
            let detail = format!("this quote is never closed: {}", excerpt(&rest[quote..]));
            wrong(quote, rest.len(), detail)
        })?;
        let token = &rest[start..end];
        let Some((key, value)) = token.split_once('=') else {
            let detail = format!("not a key=value pair: {}", excerpt(token));
            return Err(wrong(start, end, detail));
        };
        if key.is_empty() {
            let detail = format!("no key before the `=`: {}", excerpt(token));
            return Err(wrong(start, end, detail));
        }
        fields.push(Field {
            // A quote may have carried blanks to either side of the `=`; they do not count.
            key: lowercase(trim(key)),
            value: unquote(trim(value)),
            bytes: offset + start..offset + end,
        });
        start = end;
    }
    Ok(fields)
}

/// Where the token that begins at `start` ends; the place of its quote if that stays open.
fn token_end(rest: &str, start: usize) -> Result<usize, usize> {
    let mut open: Option<(u8, usize)> = None;
    let mut bytes = rest.bytes().enumerate().skip(start);
    // Every byte that decides here is ASCII, so bytes inside other characters never match.
    while let Some((at, byte)) = bytes.next() {
        match (open, byte) {
            (None, b' ' | b'\t') => return Ok(at),
            (None, b'"' | b'\'') => open = Some((byte, at)),
            (Some((quote, _)), _) if byte == quote => open = None,
            (Some(_), b'\\') => {
                bytes.next();
            }
            _ => {}
        }
    }
    open.map_or(Ok(rest.len()), |(_, at)| Err(at))
}

fn lowercase(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(key)
    } else {
        Cow::Owned(key.to_lowercase())
    }
}
