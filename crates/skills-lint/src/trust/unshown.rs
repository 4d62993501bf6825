//! Instructions in texts that are not shown: comments, alternative texts, titles, `data:`
//! addresses.

use std::ops::Range;

use super::encoded::{decode_base64, looks_like_text};
use super::instruction::instruction;
use super::{command, excerpt};
use crate::markdown::Parts;
use crate::report::Sink;
use crate::rules::trust as rules;

/// How much of the beginning of a `data:` address is searched for its comma.
const HEAD_MAX: usize = 128;

/// Alternative texts and titles.
pub fn check(parts: &Parts, sink: &mut Sink) {
    for (bytes, text) in &parts.unshown {
        if let Some(why) = instruction(text) {
            let message = || format!("a text that is not shown {why}: {}", excerpt(text));
            sink.add(rules::HIDDEN_TEXT, bytes.clone(), message)
                .help("remove it, or say it in the text");
        }
    }
}

/// A comment, without its marks.
pub fn comment(content: &str, bytes: Range<usize>, sink: &mut Sink) {
    if content.trim_start().starts_with("skills-lint-allow") {
        return;
    }
    if let Some(why) = instruction(content) {
        let message = || format!("a comment that is not shown {why}: {}", excerpt(content));
        sink.add(rules::HIDDEN_COMMENT, bytes, message)
            .help("remove it, or say it in the text");
    }
}

/// Checks the `data:` address at a place and returns its end.
pub fn data_address(text: &str, at: usize, sink: &mut Sink) -> usize {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '>' | '`');
    let head = &text[at..text.floor_char_boundary((at + HEAD_MAX).min(text.len()))];
    let Some((kind, _)) = head.split_once(',') else {
        return at;
    };
    let kind_end = at + kind.len() + 1;
    if kind.contains(is_end) {
        return at;
    }
    let rest = &text[kind_end..];
    let end = kind_end + rest.find(is_end).unwrap_or(rest.len());
    let content = &text[kind_end..end];
    let decoded = if kind.ends_with(";base64") {
        match decode_base64(content.as_bytes()).filter(|bytes| looks_like_text(bytes)) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => return end,
        }
    } else {
        content.replace("%20", " ")
    };
    let runs_script = kind.contains("html") && decoded.to_lowercase().contains("<script");
    let why = instruction(&decoded)
        .or_else(|| command::runs_download(&decoded).then_some("runs a download"))
        .or_else(|| runs_script.then_some("runs a script"));
    if let Some(why) = why {
        let message = || format!("a `data:` address {why}: {}", excerpt(&decoded));
        sink.add(rules::HIDDEN_TEXT, at..end, message)
            .help("remove it, or say it in the text");
    }
    end
}
