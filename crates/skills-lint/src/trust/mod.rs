//! What must not be trusted, in every byte of every text.
//!
//! `hidden`, `blanks` and `homoglyph` look at characters, `phrase` at the letters that are left
//! when everything else is taken away (`fold`), `literal` at known beginnings and hands their
//! surroundings to `command`, `secret`, `address` and `unshown`, `encoded` at what base64 and
//! hexadecimal digits decode to.

mod address;
mod blanks;
mod command;
mod command_line;
mod encoded;
mod fold;
mod hidden;
mod homoglyph;
mod instruction;
mod literal;
mod phrase;
mod secret;
mod tools;
mod unshown;

use crate::check::CheckedFile;
use crate::format::Place;

pub fn check(checked: &mut CheckedFile<'_>) {
    let (text, sink, parts) = (checked.text, &mut checked.sink, &checked.parts);
    if text.is_empty() {
        return;
    }
    let is_markdown = checked.markdown.is_some();
    hidden::check(text, sink);
    blanks::check(text, sink);
    homoglyph::check(text, parts, is_markdown, sink);
    phrase::check(text, parts, sink);
    literal::check(text, parts, is_markdown, sink);
    unshown::check(parts, sink);
    encoded::check(text, sink);
    if let Some(markdown) = &checked.markdown
        && let Some(front_matter) = &markdown.document.front_matter
        && let Some(place) = Place::of(text)
    {
        tools::check(front_matter, &place, sink);
    }
}

/// The text before a place that is on its line and within a limit.
fn before(text: &str, at: usize, limit: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(limit));
    text[start..at].rsplit('\n').next().unwrap_or_default()
}

/// The text after a place that is on its line and within a limit.
fn after(text: &str, at: usize, limit: usize) -> &str {
    let end = text.floor_char_boundary(at.saturating_add(limit).min(text.len()));
    text[at..end.max(at)].split('\n').next().unwrap_or_default()
}

/// A part of a text for a message: escaped, and cut after some characters.
fn excerpt(text: &str) -> String {
    skills_core::quote(text.trim())
}
