//! Letters of other scripts that look like Latin ones.
//!
//! A table of its own and not the data of Unicode: the rule needs only what looks like an ASCII
//! letter in common fonts, and Greek letters of formulas must not be in it.

use std::ops::Range;
use std::sync::LazyLock;

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
    find(&BY_CHARACTER.look_alikes, c).or_else(|| find(&BY_CHARACTER.greek, c))
}

/// The tables by character, because a search in them for each character would be slow.
struct ByCharacter {
    look_alikes: Table,
    greek: Table,
}

static BY_CHARACTER: LazyLock<ByCharacter> = LazyLock::new(|| ByCharacter {
    look_alikes: table(LOOK_ALIKES),
    greek: table(GREEK),
});

/// The letters for the characters from `FIRST` to `LAST`, then for the Roman numerals; 0 for none.
type Table = [u8; COUNT];

/// The dotless i.
const FIRST: u32 = 0x131;
/// The last letter of Armenian.
const LAST: u32 = 0x58f;
const FIRST_NUMERAL: u32 = 0x2160;
const LAST_NUMERAL: u32 = 0x217f;
const COUNT: usize = (LAST - FIRST + 1 + LAST_NUMERAL - FIRST_NUMERAL + 1) as usize;

/// The place of a character in a table.
fn place(c: char) -> Option<usize> {
    let place = match u32::from(c) {
        c @ FIRST..=LAST => c - FIRST,
        c @ FIRST_NUMERAL..=LAST_NUMERAL => LAST - FIRST + 1 + c - FIRST_NUMERAL,
        _ => return None,
    };
    usize::try_from(place).ok()
}

/// Reads pairs of a character and its letter. The first pair of a character counts.
fn table(pairs: &str) -> Table {
    let mut table = [0; COUNT];
    let mut characters = pairs.chars();
    while let (Some(c), Some(letter)) = (characters.next(), characters.next()) {
        let slot = place(c).and_then(|place| table.get_mut(place));
        if let (Some(slot @ 0), Ok(letter)) = (slot, u8::try_from(letter)) {
            *slot = letter;
        }
    }
    table
}

fn find(table: &Table, c: char) -> Option<u8> {
    let letter = *table.get(place(c)?)?;
    (letter != 0).then_some(letter)
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
        let is_foreign = |c: char| !c.is_ascii() && find(&BY_CHARACTER.look_alikes, c).is_some();
        // A word with other letters of a script is a word of that script.
        let is_spelt = word.chars().all(|c| c.is_ascii() || is_foreign(c));
        if has_latin && is_spelt && word.chars().any(is_foreign) {
            let message = || {
                let escaped: String = word.chars().map(escape).collect();
                let latin: String = word.chars().map(latin).collect();
                let (escaped, latin) = (quote(&escaped), quote(&latin));
                format!("{escaped} mixes scripts: it looks like {latin}")
            };
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
