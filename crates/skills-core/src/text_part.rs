//! A part of a text: its headings, or the section below one of them.

use std::fmt::Write;

use crate::escape::quote;
use crate::headings::{Heading, Outline};
use crate::index::push_plain;
use crate::markdown::shown_title;
use crate::nearest::nearest;
use crate::{Error, ResourceUri, TextPart};

/// How many headings an error names.
const NAMED_MAX: usize = 20;
/// Bytes of a slug in an answer. The section of a longer one is a part of the one above it.
const SLUG_MAX: usize = 256;

/// The part of the text at `of`.
pub(crate) fn text_part(of: &ResourceUri, part: &TextPart, text: &str) -> Result<String, Error> {
    let outline = Outline::of(text);
    match part {
        TextPart::Toc => Ok(table_of_contents(of, text, &outline)),
        TextPart::Heading(slug) => {
            let heading = find_heading(of, slug, &outline)?;
            Ok(text[heading.section.clone()].to_owned())
        }
    }
}

/// The heading with this slug; an error that names the nearest one, or all of them.
pub(crate) fn find_heading<'a>(
    of: &ResourceUri,
    slug: &str,
    outline: &'a Outline,
) -> Result<&'a Heading, Error> {
    if let Some(found) = outline
        .find(slug)
        .or_else(|| outline.find(&slug.to_lowercase()))
    {
        return Ok(found);
    }
    let slugs = outline.headings.iter().map(|heading| heading.slug.as_str());
    let slugs = || {
        slugs
            .clone()
            .filter(|slug| (1..=SLUG_MAX).contains(&slug.len()))
    };
    let headings = match nearest(slug, slugs()) {
        Some(near) => format!("did you mean `{of}#{near}`? `{of}?toc` lists the headings"),
        None if slugs().next().is_none() => format!("it has no headings; read `{of}`"),
        None => {
            let named: Vec<_> = slugs()
                .take(NAMED_MAX)
                .map(|slug| quote(&format!("#{slug}")))
                .collect();
            let more = if outline.headings.len() > named.len() {
                ", ..."
            } else {
                ""
            };
            format!("it has {}{more}; `{of}?toc` lists them", named.join(", "))
        }
    };
    Err(Error::NoSuchHeading {
        uri: format!("{of}#{}", shown_title(slug)),
        headings,
    })
}

fn table_of_contents(of: &ResourceUri, text: &str, outline: &Outline) -> String {
    let mut out = format!("# Headings of {of}\n\n");
    if outline.headings.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "It has none. The text has {} bytes.", text.len());
        return out;
    }
    let top = outline.headings.iter().map(|heading| heading.level).min();
    for heading in &outline.headings {
        for _ in top.unwrap_or_default()..heading.level {
            out.push_str("  ");
        }
        out.push_str("- ");
        match heading.slug.as_str() {
            slug if slug.is_empty() || slug.len() > SLUG_MAX => {
                push_plain(&mut out, &shown_title(&heading.title));
            }
            slug => {
                out.push('[');
                push_plain(&mut out, &shown_title(&heading.title));
                let _ = write!(out, "]({of}#{slug})");
            }
        }
        let _ = writeln!(out, " \u{2014} {} bytes", heading.section.len());
    }
    let _ = write!(out, "\nThe whole text has {} bytes.\n", text.len());
    out
}
