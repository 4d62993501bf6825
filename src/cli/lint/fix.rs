//! Applies safe fixes to files, or shows them as a diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use skills_lint::{Edit, Finding, fixed_text, is_registered};

use super::collect::Checked;
use crate::cli::CliError;
use crate::cli::output::Output;
use crate::cli::write_file::{cannot_write, rewrite_file};

/// The findings with a fix, by file.
fn fixable(checked: &Checked) -> BTreeMap<&Arc<str>, Vec<&Finding>> {
    let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for finding in checked
        .findings
        .all
        .iter()
        .filter(|finding| finding.fix.is_some())
    {
        files.entry(&finding.file).or_default().push(finding);
    }
    files
}

/// Writes every file that a fix changes, each at once. Returns their number.
pub fn write(checked: &Checked, output: &Output) -> Result<usize, CliError> {
    let mut written = 0;
    for (shown, findings) in fixable(checked) {
        if is_registered(shown) {
            output.note(&format!("{shown} is registered; correct it in its worker"));
            continue;
        }
        let before = &checked.files[shown];
        let fixed = std::str::from_utf8(before).ok();
        let Some(fixed) = fixed.and_then(|text| fixed_text(text, &findings)) else {
            continue;
        };
        let path = Path::new(&**shown);
        let is_written = rewrite_file(path, before, &fixed);
        if is_written.map_err(|error| cannot_write(path, &error))? {
            written += 1;
        } else {
            output.warn(&format!(
                "{shown} changed in the meantime; it is left as it is"
            ));
        }
    }
    Ok(written)
}

/// The fixes as a unified diff without context.
pub fn diff(checked: &Checked) -> String {
    let mut out = String::new();
    for (shown, findings) in fixable(checked) {
        let Ok(text) = std::str::from_utf8(&checked.files[shown]) else {
            continue;
        };
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        let mut edits: Vec<&Edit> = fixes.flat_map(|fix| &fix.edits).collect();
        edits.sort_by_key(|edit| (edit.bytes.start, edit.bytes.end));
        // Writing to a string cannot fail.
        let _ = write!(out, "--- {shown}\n+++ {shown}\n");
        hunks(text, &edits, &mut out);
    }
    out
}

/// One hunk for each run of lines that edits change.
fn hunks(text: &str, edits: &[&Edit], out: &mut String) {
    let (mut old_line, mut new_line, mut at) = (1, 1, 0);
    let mut edits = edits.iter().peekable();
    while let Some(first) = edits.next() {
        if first.bytes.start < at {
            continue;
        }
        let line_start = text[..first.bytes.start]
            .rfind('\n')
            .map_or(0, |end| end + 1);
        let line_start = line_start.max(at);
        let skipped = text[at..line_start].matches('\n').count();
        (old_line, new_line) = (old_line + skipped, new_line + skipped);
        let end_of_line = |from: usize| {
            text[from..]
                .find('\n')
                .map_or(text.len(), |end| from + end + 1)
        };
        let mut new = text[line_start..first.bytes.start].to_owned() + &first.text;
        let mut copied = first.bytes.end;
        // An edit that ends with its line does not touch the next one.
        let ends_line = |at: usize| at > line_start && text[..at].ends_with('\n');
        let mut end = if ends_line(copied) {
            copied
        } else {
            end_of_line(copied)
        };
        while let Some(next) = edits.next_if(|next| next.bytes.start < end) {
            if next.bytes.start < copied {
                continue;
            }
            new += &text[copied..next.bytes.start];
            new += &next.text;
            copied = next.bytes.end;
            end = end.max(if ends_line(copied) {
                copied
            } else {
                end_of_line(copied)
            });
        }
        new += &text[copied..end];
        let old = &text[line_start..end];
        let (old_count, new_count) = (old.lines().count(), new.lines().count());
        let _ = writeln!(out, "@@ -{old_line},{old_count} +{new_line},{new_count} @@");
        for (mark, lines) in [('-', old), ('+', &*new)] {
            for line in lines.split_inclusive('\n') {
                out.push(mark);
                out.push_str(&line.strip_suffix('\n').unwrap_or(line).replace('\r', "\\r"));
                out.push('\n');
            }
        }
        (old_line, new_line, at) = (old_line + old_count, new_line + new_count, end);
    }
}
