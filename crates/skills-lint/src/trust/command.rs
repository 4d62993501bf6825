//! Commands that run what they download or decode.

use super::command_line::{CommandLines, is_interpreter, is_shell};
use super::{after, before, excerpt};
use crate::report::Sink;
use crate::rules::trust as rules;

/// Reports a download at a place if it is run.
pub fn download(
    lines: &mut CommandLines<'_>,
    text: &str,
    at: usize,
    length: usize,
    sink: &mut Sink,
) {
    if let Some(end) = is_run(lines, text, at, at + length) {
        let command = &text[at..end];
        let message = || format!("this runs what it downloads: {}", excerpt(command));
        sink.add(rules::DOWNLOAD_AND_RUN, at..end, message)
            .help("install from a package manager, or check a digest first");
    }
}

/// Whether a text has a download that is run.
pub fn runs_download(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["curl", "wget", "iwr", "invoke-webrequest", "downloadstring"]
        .iter()
        .any(|program| {
            let mut lines = CommandLines::new(&lower);
            let mut found = lower.match_indices(program);
            found.any(|(at, _)| is_run(&mut lines, &lower, at, at + program.len()).is_some())
        })
}

/// The end of the command, if what the program at a place downloads is run.
fn is_run(lines: &mut CommandLines<'_>, text: &str, start: usize, end: usize) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if text[..start].ends_with(is_word) || text[end..].starts_with(is_word) {
        return None;
    }
    let line = before(text, start, 120);
    let is_method = text[start..end].eq_ignore_ascii_case("downloadstring");
    if substituted(line) || is_method && has_expression(line) {
        let shown = lines.rest(end).len().min(80);
        return Some(text.floor_char_boundary(end + shown));
    }
    lines.piped(end).or_else(|| lines.saved_and_run(end))
}

/// Whether PowerShell runs what the rest of a line gives.
fn has_expression(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.any(|word| ["iex", "invoke-expression"].contains(&&*word.to_lowercase()))
}

/// Whether a shell runs the output of the program after this text.
fn substituted(before: &str) -> bool {
    let text = before.trim_end();
    let open = ["<(", "$(", "`", "((", "("]
        .iter()
        .find_map(|open| text.strip_suffix(open));
    let Some(outer) = open else { return false };
    let outer = outer
        .trim_end()
        .trim_end_matches(['"', '\'', '(', '&', ' ']);
    let last = outer
        .rsplit([' ', ';', '&', '|', '`', '\t', '$', '>'])
        .next()
        .unwrap_or_default();
    let runs = ["-c", "eval", "iex", "invoke-expression", "source", "."];
    runs.iter().any(|runs| runs.eq_ignore_ascii_case(last))
        || text.ends_with("<(") && (is_shell(last) || is_interpreter(last))
}

/// Reports a program that decodes at a place if its output is run.
pub fn decode(lines: &mut CommandLines<'_>, text: &str, at: usize, length: usize, sink: &mut Sink) {
    let (found, rest) = (&text.as_bytes()[at..at + length], at + length);
    let begins =
        |with: &[u8]| found.len() >= with.len() && found[..with.len()].eq_ignore_ascii_case(with);
    let always = begins(b"eval(") || begins(b"exec(") || begins(b"function(");
    let end = if begins(b"-") {
        let is_powershell = lines.has_powershell(at);
        is_powershell.then(|| rest + after(text, rest, 60).len())
    } else if always {
        Some(rest + after(text, rest, 60).len())
    } else {
        let piped = lines.piped(rest);
        piped.or_else(|| lines.has_runner(at).then_some(rest))
    };
    if let Some(end) = end {
        let command = &text[at..text.floor_char_boundary(end)];
        let message = || format!("this runs what it decodes: {}", excerpt(command));
        sink.add(rules::DECODE_AND_RUN, at..at + command.len(), message)
            .help("write the command out");
    }
}
