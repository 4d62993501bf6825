//! `[[z=N]]` and `[[z=N|text]]`: the links that make one skill depend on another.
//!
//! The base format also allows signs, fractions and exponents. In an agent only plain digits are
//! dependencies; the others ("wide" links) are found too, so that the validator can report them.

use std::borrow::Cow;
use std::ops::Range;

use crate::number;

/// One link in a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Link<'a> {
    /// The position of its target.
    pub z: f64,
    /// The text after `|`, verbatim; may be empty and may span lines.
    pub text: Option<&'a str>,
    /// The link in the body.
    pub bytes: Range<usize>,
}

/// The links of a body, in order. Links inside code fences count.
pub fn links(body: &str) -> impl Iterator<Item = Link<'_>> {
    Scan::new(body).filter_map(|(link, wide)| (!wide).then_some(link))
}

/// The links of the base format that an agent ignores, such as `[[z=1.5]]`.
pub(crate) fn wide_links(body: &str) -> impl Iterator<Item = Link<'_>> {
    Scan::new(body).filter_map(|(link, wide)| wide.then_some(link))
}

/// The body with each link replaced by the result of `replacement`; `None` keeps the link.
///
/// Replacements are not scanned for links.
pub fn rewrite_links(
    body: &str,
    mut replacement: impl FnMut(&Link<'_>) -> Option<String>,
) -> Cow<'_, str> {
    let mut rewritten = String::new();
    let mut copied = 0;
    for link in links(body) {
        if let Some(text) = replacement(&link) {
            rewritten.push_str(&body[copied..link.bytes.start]);
            rewritten.push_str(&text);
            copied = link.bytes.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    rewritten.push_str(&body[copied..]);
    Cow::Owned(rewritten)
}

const OPENING: &str = "[[z=";

struct Scan<'a> {
    body: &'a str,
    at: usize,
    /// The first `]` at or after the position last searched from. Without it, a body that consists
    /// of `[[z=1|` would be searched to its end once for every opening.
    closing: Option<usize>,
}

impl<'a> Scan<'a> {
    fn new(body: &'a str) -> Self {
        Self {
            body,
            at: 0,
            closing: Some(0),
        }
    }

    fn next_closing(&mut self, from: usize) -> Option<usize> {
        let known = self.closing?;
        if known < from || !self.body[known..].starts_with(']') {
            self.closing = self.body[from..].find(']').map(|offset| from + offset);
        }
        self.closing
    }

    /// The link whose opening ends at `from`.
    fn link(&mut self, start: usize, from: usize) -> Option<(Link<'a>, bool)> {
        let body = self.body;
        let written = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let end = from + body[from..].bytes().take_while(written).count();
        let number = &body[from..end];
        let wide = !number.bytes().all(|b| b.is_ascii_digit());
        let (text, close) = if body[end..].starts_with('|') {
            let close = self.next_closing(end + 1)?;
            (Some(&body[end + 1..close]), close)
        } else {
            (None, end)
        };
        if number.is_empty() || !body[close..].starts_with("]]") {
            return None;
        }
        // Too many digits for a position are still a link, to a plane that cannot exist.
        let z = if wide {
            number::parse(number)?
        } else {
            number.parse().ok()?
        };
        Some((
            Link {
                z,
                text,
                bytes: start..close + 2,
            },
            wide,
        ))
    }
}

impl<'a> Iterator for Scan<'a> {
    type Item = (Link<'a>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        // Searching one byte is much faster than four, and most text has no bracket.
        while let Some(offset) = self.body[self.at..].find('[') {
            let start = self.at + offset;
            self.at = start + 1;
            if !self.body[start..].starts_with(OPENING) {
                continue;
            }
            if let Some(found) = self.link(start, start + OPENING.len()) {
                // For an agent a wide link is text, and that text may contain a link.
                let wide = found.1;
                self.at = if wide {
                    start + OPENING.len()
                } else {
                    found.0.bytes.end
                };
                return Some(found);
            }
        }
        self.at = self.body.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{links, rewrite_links, wide_links};
    use crate::number::js_number;

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let shown: Vec<_> = links(body)
            .map(|link| match link.text {
                Some(text) => format!("{} {text:?}", js_number(link.z)),
                None => js_number(link.z),
            })
            .collect();
        assert_eq!(shown, expected, "for {body:?}");
    }

    #[test]
    fn a_link_is_digits_and_perhaps_a_text() {
        check("a [[z=1]] b [[z=2|see]]", &["1", r#"2 "see""#]);
        check("[[z=007]]", &["7"]);
        check("[[z=1|]]", &[r#"1 """#]);
        check("[[z=1|two\nlines]]", &[r#"1 "two\nlines""#]);
        check("```\n[[z=1]]\n```", &["1"]);
        check("[[z=1|a|b]]", &[r#"1 "a|b""#]);
        check("[[[z=1]]]", &["1"]);
        check("[[z=1]][[z=1]]", &["1", "1"]);
        check("[[z=1|[[z=2]]", &[r#"1 "[[z=2""#]);
        check("[[z=1|a]b [[z=2]]", &["2"]);
        check("[[z=1|a]b]] [[z=2|c]]", &[r#"2 "c""#]);
        check("[[z=[[z=3]]", &["3"]);
        check("[[z=-1|[[z=2]]", &["2"]);
    }

    #[test]
    fn anything_else_is_text() {
        for body in [
            "[[z=]]",
            "[[z=|a]]",
            "[[z= 1]]",
            "[[z=1 ]]",
            "[[z=1]",
            "[z=1]]",
            "[[Z=1]]",
            "[[z=1|a]",
            "[[z=1|",
            "[[z=1.5]]",
            "[[z=-1]]",
            "[[z=+1]]",
            "[[z=1e3]]",
            "[[z=１]]",
            "[[x=1]]",
            "",
            "[[z=",
        ] {
            check(body, &[]);
        }
    }

    #[test]
    fn digits_beyond_any_position_are_a_link_to_infinity() {
        let body = format!("[[z={}]]", "9".repeat(400));
        assert_eq!(
            links(&body).map(|link| link.z).collect::<Vec<_>>(),
            [f64::INFINITY]
        );
    }

    #[test]
    fn wide_links_of_the_base_format_are_found_separately() {
        let found: Vec<_> = wide_links("[[z=1]] [[z=-1|x]] [[z=1.5]] [[z=..]]")
            .map(|link| link.z)
            .collect();
        assert_eq!(found, [-1.0, 1.5]);
    }

    #[test]
    fn links_are_rewritten_in_one_pass() {
        let to = |body: &str| {
            rewrite_links(body, |link| {
                let text = link.text.unwrap_or("skill");
                (link.z < 9.0).then(|| format!("[{text}](iii://dev/{})", js_number(link.z)))
            })
            .into_owned()
        };
        assert_eq!(to("no links"), "no links");
        assert_eq!(to("[[z=9]] stays"), "[[z=9]] stays");
        assert_eq!(
            to("é [[z=1]], [[z=9]] and [[z=2|b]]!"),
            "é [skill](iii://dev/1), [[z=9]] and [b](iii://dev/2)!"
        );
        let again = rewrite_links("[[z=1]]", |_| Some("[[z=1]]".to_owned()));
        assert_eq!(again, "[[z=1]]", "replacements are not scanned");
    }

    #[test]
    fn half_a_megabyte_of_openings_is_scanned_once() {
        check(&"[[z=1|".repeat(80_000), &[]);
        check(&format!("{}]x", "[[z=1|".repeat(80_000)), &[]);
        assert_eq!(links(&format!("{}]]", "[[z=1|".repeat(80_000))).count(), 1);
    }
}
