//! Markdown for a terminal: headings bold, code dim, links underlined. Everything else
//! stays as it was written.

use super::output::{Paint, tame};

/// Renders a document.
pub fn markdown(text: &str, paint: Paint) -> String {
    let text = tame(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        if let Some(mark) = fence {
            out.push_str(&paint.dim(line));
            if closes_fence(start, mark) {
                fence = None;
            }
        } else if let Some(mark) = opens_fence(start) {
            out.push_str(&paint.dim(line));
            fence = Some(mark);
        } else if let Some(heading) = heading(line) {
            out.push_str(&paint.bold(heading));
        } else {
            inline(line, paint, &mut out);
        }
        out.push('\n');
    }
    out
}

fn opens_fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|mark| line.starts_with(mark))
}

fn closes_fence(line: &str, mark: &str) -> bool {
    line.starts_with(mark) && line.trim_end().chars().all(|c| mark.starts_with(c))
}

/// The words of a heading.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let is_heading = (1..=6).contains(&level) && words.starts_with(' ');
    is_heading.then(|| words.trim())
}

/// Code, links and strong words within a line.
fn inline(line: &str, paint: Paint, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['`', '[', '*']) {
        out.push_str(&rest[..at]);
        let (done, painted) = span(&rest[at..], paint);
        out.push_str(&painted);
        rest = &rest[at + done..];
    }
    out.push_str(rest);
}

/// What stands at the start of `text`, painted, and how long it was.
fn span(text: &str, paint: Paint) -> (usize, String) {
    if let Some(code) = between(text, "`", "`") {
        return (code.len() + 2, paint.dim(code));
    }
    if let Some(strong) = between(text, "**", "**") {
        return (strong.len() + 4, paint.bold(strong));
    }
    if let Some(label) = between(text, "[", "](")
        && let Some(target) = between(&text[label.len() + 1..], "](", ")")
    {
        let words = paint.underline(&label.replace('`', ""));
        let target = paint.dim(&format!("({target})"));
        let len = label.len() + text[label.len() + 1..].find(')').unwrap_or(0) + 2;
        return (len, format!("{words} {target}"));
    }
    let one = text.chars().next().map_or(0, char::len_utf8);
    (one, text[..one].to_owned())
}

/// What stands between two marks, the first of which begins the text.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let inside = text.strip_prefix(open)?;
    let end = inside.find(close)?;
    (end > 0).then(|| &inside[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = markdown(text, Paint::always());
        let shown = shown.replace("\x1b[1m", "<b>").replace("\x1b[2m", "<d>");
        let shown = shown.replace("\x1b[4m", "<u>").replace("\x1b[24m", "</u>");
        assert_eq!(shown.replace("\x1b[22m", "</>"), expected, "for {text:?}");
    }

    #[test]
    fn emphasis() {
        check("# Title #x", "<b>Title #x</>\n");
        check("####### no", "####### no\n");
        check("#no", "#no\n");
        check("a `b` c", "a <d>b</> c\n");
        check("**a** b", "<b>a</> b\n");
        check("[a](iii://b) c", "<u>a</u> <d>(iii://b)</> c\n");
        check("- [`a`](iii://a) — A", "- <u>a</u> <d>(iii://a)</> — A\n");
        check(
            "```sh\n# no `x`\n```\n# yes",
            "<d>```sh</>\n<d># no `x`</>\n<d>```</>\n<b>yes</>\n",
        );
        check("", "");
    }

    #[test]
    fn what_does_not_close_stays_as_it_is() {
        check("a ` b", "a ` b\n");
        check("[a](b", "[a](b\n");
        check("[a] (b)", "[a] (b)\n");
        check("* é ** ``", "* é ** ``\n");
        check("```\nx", "<d>```</>\n<d>x</>\n");
    }

    #[test]
    fn a_document_cannot_move_the_cursor() {
        check("a\x1b[2J", "a\\u{1b}[2J\n");
    }
}
