//! The `@plane` directive: recognising it, and splitting it into attributes.

use crate::error::{ParseError, excerpt};
use crate::field::{Field, trim, unquote};
use crate::span::locate;
use crate::token::lowercase;

/// The text after `@plane`, if the line is a directive.
pub(crate) fn after_token(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("@plane")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

/// Whether a line that is not a directive was probably meant as one: `@plan z=1`, ` @plane z=1`.
pub(crate) fn is_nearly_one(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    // With more spaces it is code.
    if !text.starts_with('@') || line.len() - text.len() > 3 {
        return false;
    }
    let (token, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    if token.len() > "@plane".len() + 2 {
        return false;
    }
    let has_position = rest.contains("z=");
    match strsim::osa_distance(&token.to_lowercase(), "@plane") {
        0 | 2 => has_position,
        1 => true,
        _ => false,
    }
}

/// The attributes in the order written. `offset` is where `rest` begins in `source`.
pub(crate) fn fields<'a>(
    source: &str,
    rest: &'a str,
    offset: usize,
) -> Result<Vec<Field<'a>>, ParseError> {
    let invalid = |from: usize, to: usize, detail: String| {
        let at = locate(source, offset + from..offset + to);
        ParseError::InvalidPlaneDirective { at, detail }
    };
    // Most skills have no more attributes.
    let mut fields = Vec::with_capacity(8);
    let mut start = 0;
    while let Some(skip) = rest[start..].find(|c| c != ' ' && c != '\t') {
        start += skip;
        let end = token_end(rest, start).map_err(|quote| {
            let detail = format!("this quote is never closed: {}", excerpt(&rest[quote..]));
            invalid(quote, rest.len(), detail)
        })?;
        let token = &rest[start..end];
        let Some((key, value)) = token.split_once('=') else {
            let detail = format!("not a key=value pair: {}", excerpt(token));
            return Err(invalid(start, end, detail));
        };
        if key.is_empty() {
            let detail = format!("no key before the `=`: {}", excerpt(token));
            return Err(invalid(start, end, detail));
        }
        fields.push(Field {
            // Quotes may have kept blanks next to the `=`; they are trimmed.
            key: lowercase(trim(key)),
            value: unquote(trim(value)),
            bytes: offset + start..offset + end,
        });
        start = end;
    }
    Ok(fields)
}

/// The end of the token that begins at `start`, or the position of its unclosed quote.
fn token_end(rest: &str, start: usize) -> Result<usize, usize> {
    let mut open: Option<(u8, usize)> = None;
    let mut bytes = rest.bytes().enumerate().skip(start);
    // All bytes compared here are ASCII, so parts of other characters never match.
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
