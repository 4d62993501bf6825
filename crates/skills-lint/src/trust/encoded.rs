//! What base64 and hexadecimal digits decode to, and base64 that cannot be reviewed.

use super::phrase::has_phrase;
use super::{command, excerpt, instruction};
use crate::limits::MAX_BASE64_CHARS;
use crate::report::Sink;
use crate::rules::trust as rules;

/// The shortest run that is decoded.
const LEAST: usize = 24;

/// The shortest line of base64 that is continued on the next one.
const LEAST_LINE: usize = 40;

pub fn check(text: &str, sink: &mut Sink) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut encoded = Vec::new();
        loop {
            let line = at;
            while at < bytes.len() && is_base64(bytes[at]) {
                at += 1;
            }
            let line = line..at;
            while at < bytes.len() && bytes[at] == b'=' {
                at += 1;
            }
            if encoded.is_empty() && line.len() < LEAST {
                break;
            }
            encoded.extend_from_slice(&bytes[line.clone()]);
            // The next line continues this one, perhaps after quotes and blanks.
            let gap = bytes[at..].iter().take(16);
            let gap = gap
                .take_while(|b| matches!(b, b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\\' | b'\''))
                .count();
            let has_line_end = bytes[at..at + gap].contains(&b'\n');
            let is_long = line.len() >= LEAST_LINE && bytes.get(at - 1) != Some(&b'=');
            let goes_on = bytes.get(at + gap).is_some_and(|b| is_base64(*b));
            if !(has_line_end && is_long && goes_on) {
                break;
            }
            at += gap;
        }
        if encoded.len() >= LEAST {
            report(text, start..at, &encoded, sink);
        }
    }
}

const fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_')
}

fn report(text: &str, range: std::ops::Range<usize>, encoded: &[u8], sink: &mut Sink) {
    let hex = decode_hex(encoded).filter(|bytes| looks_like_text(bytes));
    let decoded = hex.or_else(|| decode_base64(encoded));
    let Some(decoded) = decoded else {
        return;
    };
    if looks_like_text(&decoded) {
        let decoded_text = String::from_utf8_lossy(&decoded);
        // Encoded twice.
        let inner =
            decode_base64(decoded_text.trim().as_bytes()).filter(|bytes| looks_like_text(bytes));
        let inner = inner.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        for content in [Some(&*decoded_text), inner.as_deref()]
            .into_iter()
            .flatten()
        {
            let is_found = has_phrase(content)
                || command::runs_download(content)
                || instruction::instruction(content).is_some();
            if is_found {
                let message = || format!("an encoded text reads {}", excerpt(content));
                sink.add(rules::ENCODED, range, message)
                    .help("remove it, or write it out");
                return;
            }
        }
    }
    if encoded.len() > MAX_BASE64_CHARS
        && is_mixed(encoded)
        && !is_known(text, range.start, &decoded)
    {
        let length = encoded.len();
        let message = format!(
            "a base64 text of {length} characters: {}",
            excerpt(&text[range.start..(range.start + 40).min(range.end)])
        );
        sink.add(rules::BASE64, range, message)
            .help("put the data in a file of its own type");
    }
}

/// Whether bytes are mostly printable ASCII.
pub fn looks_like_text(bytes: &[u8]) -> bool {
    let printable = |b: &&u8| b.is_ascii_graphic() || matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    let printable = bytes.iter().filter(printable).count();
    bytes.len() >= 8 && printable * 20 >= bytes.len() * 19
}

/// Whether a text has the letters and digits of base64, and not those of a path or a sequence.
fn is_mixed(encoded: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| encoded.iter().filter(|b| test(b)).count() * 16;
    let least = encoded.len();
    let signs = count(|b| matches!(b, b'-' | b'_'));
    count(u8::is_ascii_uppercase) > least
        && count(u8::is_ascii_lowercase) > least
        && count(u8::is_ascii_digit) > least
        && signs < 2 * least
        && count(|b| *b == b'/') < 3 * least
}

/// Whether the data has a known type: an image, a font, a document, a certificate.
fn is_known(text: &str, start: usize, decoded: &[u8]) -> bool {
    const BEGINNINGS: &[&[u8]] = &[
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"GIF8",
        b"%PDF",
        b"PK\x03\x04",
        b"RIFF",
        b"wOFF",
        b"wOF2",
        b"OTTO",
        b"\x00\x01\x00\x00",
        b"\x1f\x8b",
        b"\x00\x00\x01\x00",
        b"ID3",
        b"OggS",
        b"\x30\x82",
        b"<svg",
        b"<?xml",
        b"\x00asm",
        b"\x00\x00\x00\x18ftyp",
        b"\x00\x00\x00\x20ftyp",
        b"BM",
    ];
    let before = super::before(text, start, 48);
    let is_media = [
        "data:image/",
        "data:font/",
        "data:audio/",
        "data:video/",
        "data:application/pdf",
    ];
    BEGINNINGS
        .iter()
        .any(|beginning| decoded.starts_with(beginning))
        || is_media.iter().any(|kind| before.contains(kind))
        || before.trim_end().ends_with("CERTIFICATE-----")
}

/// Decodes base64 of either alphabet; `None` if it is none.
pub fn decode_base64(encoded: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(encoded.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in encoded {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.extend(u8::try_from(bits >> count).ok());
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

fn decode_hex(encoded: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = encoded.chunks_exact(2);
    let decode = |pair: &[u8]| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok();
    pairs.map(decode).collect()
}
