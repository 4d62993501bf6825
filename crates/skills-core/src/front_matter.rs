//! Where the front matter of a document ends.

/// Splits a document into its front matter (without the fences) and the rest.
///
/// Front matter opens with `---` on the very first line and closes with the next
/// line that is `---`. An unclosed block is no front matter: the text stays text.
pub fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = text.split_inclusive('\n').next() else {
        return (None, text);
    };
    if !is_fence(first) {
        return (None, text);
    }
    let mut at = first.len();
    for line in text[first.len()..].split_inclusive('\n') {
        if is_fence(line) {
            return (Some(&text[first.len()..at]), &text[at + line.len()..]);
        }
        at += line.len();
    }
    (None, text)
}

/// A line of exactly three dashes, white space after them allowed.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, matter: Option<&str>, rest: &str) {
        assert_eq!(split(text), (matter, rest), "for {text:?}");
    }

    #[test]
    fn front_matter() {
        check("", None, "");
        check("# x", None, "# x");
        check("---\na: 1\n---\n# x", Some("a: 1\n"), "# x");
        check("---\r\na: 1\r\n---\r\n# x", Some("a: 1\r\n"), "# x");
        check("\u{feff}---\na: 1\n---\n", Some("a: 1\n"), "");
        check("---\n---", Some(""), "");
        check("---\na: 1\n", None, "---\na: 1\n");
        check("---", None, "---");
        check("----\na\n----\n", None, "----\na\n----\n");
        check("\n---\na\n---\n", None, "\n---\na\n---\n");
    }
}
