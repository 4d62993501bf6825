//! Commands that run what they download or decode.

use super::{after, before, excerpt};
use crate::report::Sink;
use crate::rules::trust as rules;

/// How much of a command is read on each side of the program that downloads.
const REACH: usize = 600;

/// Words of a download that are searched for the name of its file.
const MAX_WORDS: usize = 24;

/// Pipes of a command that are followed.
const MAX_PIPES: usize = 6;

/// Programs that run what they read.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "iex",
    "invoke-expression",
    "pwsh",
    "powershell",
    "osascript",
    "cmd",
];
const INTERPRETERS: &[&str] = &[
    "python", "python3", "perl", "ruby", "node", "php", "deno", "bun",
];

/// Words before the program of a pipe.
const PREFIXES: &[&str] = &["sudo", "-e", "env", "exec", "nohup", "doas", "-i"];

/// Reports a download at a place if it is run.
pub fn download(text: &str, at: usize, length: usize, sink: &mut Sink) {
    if let Some(end) = is_run(text, at, at + length) {
        let message = format!("this runs what it downloads: {}", excerpt(&text[at..end]));
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
            // The first few are enough for a decoded text.
            let mut found = lower.match_indices(program).take(16);
            found.any(|(at, _)| is_run(&lower, at, at + program.len()).is_some())
        })
}

/// The end of the command, if what the program at a place downloads is run.
fn is_run(text: &str, start: usize, end: usize) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if text[..start].ends_with(is_word) || text[end..].starts_with(is_word) {
        return None;
    }
    let command = joined(text, end);
    let line = before(text, start, 120);
    let is_method = text[start..end].eq_ignore_ascii_case("downloadstring");
    if substituted(line) || is_method && has_expression(line) {
        return Some(text.floor_char_boundary(end + command.len().min(80)));
    }
    let length = piped(command).or_else(|| saved_and_run(text, end))?;
    Some(end + length)
}

/// Whether PowerShell runs what the rest of a line gives.
fn has_expression(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.any(|word| ["iex", "invoke-expression"].contains(&&*word.to_lowercase()))
}

/// The rest of a command: its line, and the next ones while a backslash ends them.
fn joined(text: &str, from: usize) -> &str {
    let limit = text.floor_char_boundary((from + REACH).min(text.len()));
    let mut end = from;
    for line in text[from..limit].split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with(['\\', '|']) {
            break;
        }
    }
    &text[from..end]
}

/// The words of a text with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(char::is_whitespace)
        .filter_map(move |piece| {
            let start = at;
            at += piece.len();
            let word = piece.trim_end();
            (!word.is_empty()).then_some((start, word))
        })
}

/// Where a pipe into a shell ends.
fn piped(command: &str) -> Option<usize> {
    for (at, _) in command.match_indices('|').take(MAX_PIPES) {
        let rest = &command[at + 1..];
        if rest.starts_with('|') || command[..at].ends_with('|') {
            continue;
        }
        let is_before = |word: &str| {
            word == "\\" || word.contains('=') || PREFIXES.contains(&&*word.to_lowercase())
        };
        let mut words = words(rest).skip_while(|(_, word)| is_before(word));
        let Some((start, word)) = words.next() else {
            continue;
        };
        let trimmed = word.trim_end_matches(['`', '"', '\'', ')', ';', '.', ',']);
        let name = trimmed.rsplit('/').next().unwrap_or(trimmed).to_lowercase();
        let next = words.next().map_or("", |(_, word)| word);
        let is_last = trimmed.len() < word.len() || matches!(next, "" | "-" | "&&" | ";" | "||");
        let is_shell = SHELLS.contains(&&*name) && !next.starts_with("-c");
        if is_shell || INTERPRETERS.contains(&&*name) && is_last {
            return Some(at + 1 + start + trimmed.len());
        }
    }
    None
}

/// Whether a shell runs the output of the program after this text.
fn substituted(before: &str) -> bool {
    let text = before.trim_end().to_lowercase();
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
    let is_process = text.ends_with("<(");
    let runs = ["-c", "eval", "iex", "invoke-expression", "source", "."];
    runs.contains(&last) || is_process && (SHELLS.contains(&last) || INTERPRETERS.contains(&last))
}

/// Where a download ends that is saved under a name and run under it.
fn saved_and_run(text: &str, from: usize) -> Option<usize> {
    const OUTPUTS: &[&str] = &["-o", "-O", "--output", "-outfile", "-OutFile", ">"];
    let limit = text.floor_char_boundary((from + REACH).min(text.len()));
    // A paragraph further on is another matter.
    let rest = text[from..limit].split("\n\n").next().unwrap_or_default();
    let mut on_line = after(rest, 0, REACH).split_whitespace().take(MAX_WORDS);
    on_line.find(|word| OUTPUTS.contains(word))?;
    let name = on_line.next()?.trim_matches(['"', '\'', '`', ';']);
    let base = name.rsplit('/').next().unwrap_or(name);
    if base.len() < 2 || base.starts_with('-') || name.contains("://") {
        return None;
    }
    let (mut last, mut is_saved) = ("", false);
    words(rest).take(2 * MAX_WORDS).find_map(|(start, word)| {
        let plain = word.trim_matches(['"', '\'', '`', ';', ')']);
        let is_name = plain.rsplit('/').next() == Some(base);
        let is_shell = SHELLS.contains(&last) || matches!(last, "source" | ".");
        let is_run = is_name && is_saved && (is_shell || plain.starts_with("./"));
        is_saved |= is_name;
        last = plain;
        is_run.then_some(start + word.len())
    })
}

/// Reports a program that decodes at a place if its output is run.
pub fn decode(text: &str, at: usize, length: usize, sink: &mut Sink) {
    let found = text[at..at + length].to_lowercase();
    let always =
        found.starts_with("eval(") || found.starts_with("exec(") || found.starts_with("function(");
    let is_option = found.starts_with('-');
    let line = before(text, at, 200).to_lowercase();
    let is_powershell = is_option && (line.contains("powershell") || line.contains("pwsh"));
    let end = if always || is_powershell {
        Some(at + length + after(text, at + length, 60).len())
    } else if is_option {
        None
    } else {
        let command = joined(text, at + length);
        piped(command)
            .map(|end| at + length + end)
            .or_else(|| inside_shell(&line).then_some(at + length))
    };
    if let Some(end) = end {
        let end = text.floor_char_boundary(end);
        let message = format!("this runs what it decodes: {}", excerpt(&text[at..end]));
        sink.add(rules::DECODE_AND_RUN, at..end, message)
            .help("write the command out");
    }
}

/// Whether a shell runs what a substitution on this line gives: `eval "$(echo x | base64 -d)"`.
fn inside_shell(line: &str) -> bool {
    let opens = [
        "eval \"$(",
        "eval $(",
        "eval `",
        "-c \"$(",
        "-c $(",
        "bash <(",
        "sh <(",
        "source <(",
    ];
    opens.iter().any(|open| line.contains(open))
}
