//! The letters of a text, as a model reads them: lowercase ASCII, without marks, spaces, tags,
//! entities, escapes and letters of other scripts that hide them.

use super::homoglyph::look_alike;

/// Calls `put` with the place of each letter and the letter.
pub fn fold(text: &str, mut put: impl FnMut(usize, u8)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // The end of the next tag, from the place where it was searched last.
    let mut tag_end = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                put(at, byte.to_ascii_lowercase());
                at += 1;
            }
            b'0'..=b'9' | b'@' | b'$' => {
                let is_letter = |at: Option<usize>| {
                    let near = at.and_then(|at| bytes.get(at));
                    near.is_some_and(u8::is_ascii_alphabetic)
                };
                let (before, after) = (is_letter(at.checked_sub(1)), is_letter(Some(at + 1)));
                let is_inside = if byte.is_ascii_digit() {
                    before || after
                } else {
                    before && after
                };
                if let Some(letter) = written_as(byte).filter(|_| is_inside) {
                    put(at, letter);
                }
                at += 1;
            }
            b'&' | b'\\' | b'%' => {
                let (c, length) = escape(rest);
                if let Some(letter) = c.and_then(letter) {
                    put(at, letter);
                }
                at += length;
            }
            b'<' => at += tag(text, at, &mut tag_end),
            _ if byte.is_ascii() => at += 1,
            _ => {
                let c = text[at..].chars().next().unwrap_or(' ');
                if let Some(letter) = letter(c) {
                    put(at, letter);
                }
                at += c.len_utf8();
            }
        }
    }
}

/// The letter that a digit or a sign inside a word stands for.
const fn written_as(byte: u8) -> Option<u8> {
    Some(match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        _ => return None,
    })
}

/// The length of an HTML tag, whose name is not text; of anything else 1. A comment is text.
fn tag(text: &str, at: usize, end: &mut usize) -> usize {
    const LONGEST: usize = 64;
    let next = text.as_bytes().get(at + 1);
    if !next.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') {
        return 1;
    }
    if *end <= at {
        *end = text[at..].find('>').map_or(text.len(), |end| at + end);
    }
    match *end - at {
        length if *end < text.len() && length < LONGEST => length + 1,
        _ => 1,
    }
}

/// The character of an escape (`&#105;`, `\x69`, `\u0069`, `\u{69}`, `%69`) and the length of it.
/// Named entities, such as `&nbsp;`, are skipped.
fn escape(rest: &[u8]) -> (Option<char>, usize) {
    let number = |digits: &[u8], radix: u32| {
        let text = std::str::from_utf8(digits).ok()?;
        char::from_u32(u32::from_str_radix(text, radix).ok()?)
    };
    let until = |end: u8, from: usize| {
        let length = rest.iter().skip(from).take(9).position(|b| *b == end)?;
        Some((&rest[from..from + length], from + length + 1))
    };
    let fixed = |from: usize, digits: usize| {
        let c = number(rest.get(from..from + digits)?, 16)?;
        Some((Some(c), from + digits))
    };
    let found = match rest {
        [b'&', b'#', b'x' | b'X', ..] => {
            until(b';', 3).map(|(digits, length)| (number(digits, 16), length))
        }
        [b'&', b'#', ..] => until(b';', 2).map(|(digits, length)| (number(digits, 10), length)),
        [b'&', ..] => until(b';', 1)
            .filter(|(name, _)| name.len() > 1 && name.iter().all(u8::is_ascii_lowercase))
            .map(|(_, length)| (None, length)),
        [b'\\', b'x', ..] => fixed(2, 2),
        [b'\\', b'u', b'{', ..] => {
            until(b'}', 3).map(|(digits, length)| (number(digits, 16), length))
        }
        [b'\\', b'u', ..] => fixed(2, 4),
        // An escaped line end or tab is white space.
        [b'\\', b'n' | b't' | b'r', ..] => Some((None, 2)),
        [b'%', ..] => fixed(1, 2),
        _ => None,
    };
    found.unwrap_or((None, 1))
}

/// The ASCII letter that a character is read as.
fn letter(c: char) -> Option<u8> {
    const LATIN_1: &[u8; 64] = b"aaaaaaaceeeeiiiidnooooo.ouuuuy.saaaaaaaceeeeiiiidnooooo.ouuuuy.y";
    const SMALL_CAPITALS: &str = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz";
    let value = u32::from(c);
    let nth = |first: u32| {
        let nth = u8::try_from((value - first) % 26).unwrap_or_default();
        Some(b'a' + nth)
    };
    match c {
        'a'..='z' | 'A'..='Z' => Some(c.to_ascii_lowercase() as u8),
        '\u{c0}'..='\u{ff}' => Some(LATIN_1[value as usize - 0xc0]).filter(|b| *b != b'.'),
        '\u{ff21}'..='\u{ff3a}' => nth(0xff21),
        '\u{ff41}'..='\u{ff5a}' => nth(0xff41),
        '\u{1d400}'..='\u{1d6a3}' => nth(0x1d400),
        '\u{249c}'..='\u{24b5}' => nth(0x249c),
        '\u{24b6}'..='\u{24cf}' => nth(0x24b6),
        '\u{24d0}'..='\u{24e9}' => nth(0x24d0),
        '\u{1f130}'..='\u{1f149}' => nth(0x1f130),
        '\u{1f150}'..='\u{1f169}' => nth(0x1f150),
        '\u{1f170}'..='\u{1f189}' => nth(0x1f170),
        '\u{1f1e6}'..='\u{1f1ff}' => nth(0x1f1e6),
        '\u{e0041}'..='\u{e005a}' => nth(0xe0041),
        '\u{e0061}'..='\u{e007a}' => nth(0xe0061),
        _ => look_alike(c).or_else(|| {
            if !matches!(c, '\u{262}'..='\u{29f}' | '\u{1d00}'..='\u{1d22}' | '\u{a730}'..='\u{a731}') {
                return None;
            }
            let at = SMALL_CAPITALS.find(c)?;
            Some(SMALL_CAPITALS.as_bytes()[at + c.len_utf8()])
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn letters_are_read_through_what_hides_them() {
        for text in [
            "ignore",
            "IGNORE",
            "i g n o r e",
            "ig\u{200b}no\u{ad}re",
            "1gn0r3",
            "ig**no**re",
            "ig<b></b>nore",
            "&#105;gnor&#x65;",
            "\\x69gnor\\u0065",
            "%69gnore",
            "ign\u{43e}re",
            "ｉｇｎｏｒｅ",
            "𝐢𝐠𝐧𝐨𝐫𝐞",
            "ⓘⓖⓝⓞⓡⓔ",
            "ɪɢɴᴏʀᴇ",
            "ígnörè",
            "ig&nbsp;nore",
            "\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
        ] {
            let mut letters = Vec::new();
            fold(text, |_, letter| letters.push(letter));
            assert_eq!(
                String::from_utf8(letters).unwrap(),
                "ignore",
                "for {text:?}"
            );
        }
    }
}
