//! Applies fixes to a text.

use crate::finding::{Edit, Finding, Fix};

/// The text with the edits of every fix that does not overlap an earlier one. `None` if there is
/// nothing to change.
pub fn apply<'a>(text: &str, fixes: impl IntoIterator<Item = &'a Fix>) -> Option<String> {
    let mut edits: Vec<&Edit> = Vec::new();
    for fix in fixes {
        edits.extend(&fix.edits);
    }
    edits.sort_by_key(|edit| (edit.bytes.start, edit.bytes.end));
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        // Overlaps an earlier one, or is not of this text: the next run finds it again.
        if edit.bytes.start < copied {
            continue;
        }
        let Some(kept) = text.get(copied..edit.bytes.start) else {
            continue;
        };
        if text.get(edit.bytes.clone()).is_none() {
            continue;
        }
        out.push_str(kept);
        out.push_str(&edit.text);
        copied = edit.bytes.end;
    }
    out.push_str(&text[copied..]);
    (out != text).then_some(out)
}

/// The text of a file with all fixes of its findings; `None` if there are none.
pub fn fixed_text(text: &str, findings: &[&Finding]) -> Option<String> {
    apply(
        text,
        findings.iter().filter_map(|finding| finding.fix.as_ref()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(edits: &[(usize, usize, &str)]) -> Fix {
        let edit = |&(start, end, text): &(usize, usize, &str)| Edit {
            bytes: start..end,
            text: text.into(),
        };
        let title = String::new();
        Fix {
            title,
            edits: edits.iter().map(edit).collect(),
        }
    }

    #[test]
    fn edits_are_applied_in_order_and_never_overlap() {
        let one = fix(&[(0, 1, "A"), (2, 3, "")]);
        let two = fix(&[(0, 2, "xx"), (3, 3, "!")]);
        assert_eq!(apply("abc", [&one]).as_deref(), Some("Ab"));
        assert_eq!(apply("abc", [&one, &two]).as_deref(), Some("Ab!"));
        assert_eq!(apply("abc", [&fix(&[(9, 12, "x")])]), None);
        assert_eq!(apply("é", [&fix(&[(1, 2, "x")])]), None);
        assert_eq!(apply("abc", [&fix(&[(0, 1, "a")])]), None);
    }
}
