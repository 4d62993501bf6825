//! Letters of other scripts that look like Latin ones.
//!
//! A table of its own and not the data of Unicode: the rule needs only what looks like an ASCII
//! letter in common fonts, and Greek letters of formulas must not be in it.

use std::ops::Range;

use skills_core::quote;

use crate::format::Place;
use crate::markdown::Parts;
use crate::report::Sink;
use crate::rules::trust as rules;

/// Look-alikes that have no other use beside Latin letters.
const LOOK_ALIKES: &str = "аaсcеeһhіiїiјjкkӏlмmнhоoрpԛqѕsтtуyѵvԝwхxԁdАaВbЕeКkМmНhОoРpСcТtУyХxІiЅsЈjӀi\
    ԌgԚqԜwҮyғfӧoΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxοoհhոnսuօoցgզqոnԁdɡgɑaıiⅼlⅽcⅾdⅿmⅰiⅴvⅹx";

/// Look-alikes that formulas use as well.
const GREEK: &str = "αaιiκkνvρpτtυuχxγyηnωw";

/// The ASCII letter that a character looks like.
pub fn look_alike(c: char) -> Option<u8> {
    find(LOOK_ALIKES, c).or_else(|| find(GREEK, c))
}

fn find(table: &str, c: char) -> Option<u8> {
    // Between the dotless i and Armenian, and Roman numerals.
    if !matches!(c, '\u{131}'..='\u{58f}' | '\u{2160}'..='\u{217f}') {
        return None;
    }
    let at = table.find(c)?;
    Some(table.as_bytes()[at + c.len_utf8()])
}

/// Checks code, addresses, and the names in front matter. A text that is not markdown is code.
pub fn check(text: &str, parts: &Parts, is_markdown: bool, sink: &mut Sink) {
    if text.is_ascii() {
        return;
    }
    for range in &parts.code {
        words(text, range.clone(), sink);
    }
    if !is_markdown {
        return;
    }
    if let Some(place) = Place::of(text) {
        for key in ["name", "allowed-tools"] {
            let line = place.key(key);
            if line.start > 0 {
                words(text, line, sink);
            }
        }
    }
    for (at, scheme) in text.match_indices("://") {
        let host = at + scheme.len();
        if parts.is_code(at) {
            continue;
        }
        let is_end =
            |c: char| matches!(c, '/' | '?' | '#' | ')' | ']' | '>' | '"') || c.is_whitespace();
        let limit = text.floor_char_boundary((host + 256).min(text.len()));
        let end = text[host..limit]
            .find(is_end)
            .map_or(limit, |end| host + end);
        words(text, host..end, sink);
    }
}

/// Reports the words that mix Latin letters with look-alikes.
fn words(text: &str, range: Range<usize>, sink: &mut Sink) {
    let Some(part) = text.get(range.clone()).filter(|part| !part.is_ascii()) else {
        return;
    };
    let mut at = range.start;
    for word in part.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let start = at;
        at += word.len();
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let has_latin = word.bytes().any(|b| b.is_ascii_alphabetic());
        let is_foreign = |c: char| !c.is_ascii() && find(LOOK_ALIKES, c).is_some();
        // A word with other letters of a script is a word of that script.
        let is_spelt = word.chars().all(|c| c.is_ascii() || is_foreign(c));
        if has_latin && is_spelt && word.chars().any(is_foreign) {
            let escaped: String = word.chars().map(escape).collect();
            let latin: String = word.chars().map(latin).collect();
            let message = format!(
                "{} mixes scripts: it looks like {}",
                quote(&escaped),
                quote(&latin)
            );
            sink.add(rules::HOMOGLYPH, start..start + word.len(), message)
                .help("write it in ASCII letters");
        }
    }
}

fn escape(c: char) -> String {
    if c.is_ascii() {
        c.to_string()
    } else {
        c.escape_unicode().to_string()
    }
}

fn latin(c: char) -> char {
    look_alike(c).map_or(c, char::from)
}
