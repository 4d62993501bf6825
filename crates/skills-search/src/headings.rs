//! The headings of a markdown body, by its lines alone: a parser would cost more than the index.

/// A line that is indented by more is code.
const INDENT_MAX: usize = 3;

/// Visits the body from the start of each line on, with the length of the line, and whether it is a
/// heading. Lines of code and of comments are not. A heading may have a line of `=` or `-` below it;
/// only the last of its lines counts then.
pub(crate) fn for_each_line(body: &str, mut visit: impl FnMut(&str, usize, bool)) {
    let mut fence = None;
    let mut is_comment = false;
    let mut is_contained = false;
    let mut rest = body;
    while !rest.is_empty() {
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..length];
        let text = line.trim_start_matches(' ');
        let marker = fence_marker(text).filter(|_| !is_comment);
        match (fence, marker) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(closed)) if opened == closed => fence = None,
            _ => {}
        }
        let is_code = line.len() - text.len() > INDENT_MAX;
        is_comment |= fence.is_none() && !is_code && text.starts_with("<!--");
        let next = rest.get(length + 1..).unwrap_or_default();
        let may_be = fence.is_none() && marker.is_none() && !is_comment;
        let is_heading = is_heading(text);
        // The lines after an item of a list or after a quote belong to it, up to one that ends it.
        is_contained = !(text.trim_end().is_empty() || is_heading || is_rule(text))
            && (is_contained || begins_container(text));
        let is_underlined = || !is_contained && is_underlined(text, next);
        let is_heading = may_be && !is_code && (is_heading || is_underlined());
        // Few lines are in comments, and the others are not searched.
        is_comment = is_comment && !text.contains("-->");
        visit(rest, length, is_heading);
        rest = next;
    }
}

/// Whether a line of a paragraph has a line of `=` or `-` below it. Lines that begin as those of
/// tables and markup do are taken for such.
fn is_underlined(line: &str, next: &str) -> bool {
    let marker = match next.trim_start_matches(' ').as_bytes().first() {
        Some(&marker @ (b'=' | b'-')) => char::from(marker),
        _ => return false,
    };
    let next = next.lines().next().unwrap_or_default();
    let text = next.trim_start_matches(' ');
    next.len() - text.len() <= INDENT_MAX
        && text
            .trim_end()
            .bytes()
            .all(|byte| char::from(byte) == marker)
        && !line.trim_end().is_empty()
        && !line.starts_with(['|', '<', '\t'])
        && !is_rule(line)
}

/// Whether a line is a rule, such as `---` or `* * *`.
fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|byte| !byte.is_ascii_whitespace());
    match marks.next() {
        Some(first @ (b'-' | b'*' | b'_')) => marks.all(|byte| byte == first),
        _ => false,
    }
}

/// Whether a line begins a quote or an item of a list.
fn begins_container(line: &str) -> bool {
    let begins_item = |rest: &str| rest.trim_end().is_empty() || rest.starts_with([' ', '\t']);
    line.starts_with('>')
        || line.strip_prefix(['-', '*', '+']).is_some_and(begins_item)
        || is_numbered(line)
}

/// Whether a line is an item of a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

fn fence_marker(line: &str) -> Option<u8> {
    let marked = line.starts_with("```") || line.starts_with("~~~");
    marked.then(|| line.as_bytes()[0])
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_outside_of_code() {
        let body = "# A\ntext\n```sh\n# no\n~~~\n```\n### B\n#tag\n####### no";
        let mut headings = Vec::new();
        for_each_line(body, |rest, length, is_heading| {
            headings.extend(is_heading.then(|| rest[..length].to_owned()));
        });
        assert_eq!(headings, ["# A", "### B"]);
    }

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let mut headings = Vec::new();
        for_each_line(body, |rest, length, is_heading| {
            headings.extend(is_heading.then(|| rest[..length].to_owned()));
        });
        assert_eq!(headings, expected, "{body:?}");
    }

    #[test]
    fn an_underlined_line_is_a_heading() {
        check(
            "Title\n=====\n\nText.\n\nPart two\n  --\nmore",
            &["Title", "Part two"],
        );
        check("Text\r\n---\r\n", &["Text\r"]);
        check("\n---\n- item\n---\n> quote\n---\n# A\n---\n", &["# A"]);
        check("**Bold** words\n---\n", &["**Bold** words"]);
        check("-5 degrees\n---\n* * *\n---\n", &["-5 degrees"]);
        check(
            "- item\n  of two lines\n---\n> quote\nlazy\n---\n1. one\n   two\n---\n",
            &[],
        );
        check("- item\n\nA\n---\n", &["A"]);
        check("- item\n---\nA\n---\n", &["A"]);
        check("> quote\n# A\nB\n===\n", &["# A", "B"]);
        check("* * *\nA\n===\n", &["A"]);
        check("text\n-- not only\ntext\n    ---\n1. item\n---\n", &[]);
    }

    #[test]
    fn code_and_comments_have_no_headings() {
        check("    # code\n   # A\n", &["   # A"]);
        check("    <!-- code\n# A\n", &["# A"]);
        check(
            "<!--\n# hidden\n-->\n# A\n<!-- one line -->\n# B\n",
            &["# A", "# B"],
        );
        check("<!--\n```\n-->\n# A\n", &["# A"]);
    }
}
