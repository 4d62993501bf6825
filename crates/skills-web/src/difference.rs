//! The lines by which two texts differ, with a sign before each, so that colour is not needed.

use maud::{Markup, html};
use similar::ChangeTag;
use skills_api::difference::{CONTEXT, compare};

use crate::limits::DIFF_TIMEOUT;

/// What leads from one text to another, with some lines around each change.
pub fn difference(old: &str, new: &str) -> Markup {
    let compared = compare(old, new, DIFF_TIMEOUT);
    let mut hunks = compared.unified_diff();
    let hunks: Vec<_> = hunks.context_radius(CONTEXT).iter_hunks().collect();
    if hunks.is_empty() {
        return html! { p { "The lines of both texts are the same." } };
    }
    html! {
        pre.diff tabindex="0" {
            @for hunk in &hunks {
                span.hunk { (hunk.header().to_string()) "\n" }
                @for change in hunk.iter_changes() {
                    @let line = line(change.value());
                    @match change.tag() {
                        ChangeTag::Equal => { span { "  " (line) "\n" } },
                        ChangeTag::Delete => { del { "\u{2212} " (line) "\n" } },
                        ChangeTag::Insert => { ins { "+ " (line) "\n" } },
                    }
                    @if change.missing_newline() {
                        span.hunk { "  (no newline at the end)\n" }
                    }
                }
            }
        }
    }
}

/// A line without its end. A carriage return would not be seen, and may be the whole change.
fn line(text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.replace('\r', "\u{240d}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let got = difference(old, new).into_string();
        assert_eq!(got, expected, "from {old:?} to {new:?}");
    }

    #[test]
    fn each_line_has_a_sign() {
        check(
            "a\nb\nc\n",
            "a\nx\nc\n",
            "<pre class=\"diff\" tabindex=\"0\"><span class=\"hunk\">@@ -1,3 +1,3 @@\n</span>\
             <span>  a\n</span><del>\u{2212} b\n</del><ins>+ x\n</ins><span>  c\n</span></pre>",
        );
        check("a\n", "a\n", "<p>The lines of both texts are the same.</p>");
    }

    #[test]
    fn far_lines_are_left_out_and_text_is_escaped() {
        let same = "same\n".repeat(20);
        let shown = difference(&format!("{same}<b>\n"), &format!("{same}<i>&\n")).into_string();
        assert_eq!(shown.matches("same").count(), CONTEXT, "{shown}");
        assert!(
            shown.contains("\u{2212} &lt;b&gt;\n</del><ins>+ &lt;i&gt;&amp;\n"),
            "{shown}"
        );
    }

    #[test]
    fn ends_of_lines_and_of_the_text_are_seen() {
        let shown = difference("a\r\n", "a").into_string();
        assert!(shown.contains("\u{2212} a\u{240d}\n</del>"), "{shown}");
        assert!(shown.contains("(no newline at the end)"), "{shown}");
    }
}
