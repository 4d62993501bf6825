//! Tests of the whole renderer.

use super::*;

/// Compares the page with styles as tags: bold, dim, italic, underlined, strikethrough, code.
#[track_caller]
fn check_in(width: usize, text: &str, expected: &str) {
    let mut shown = render(text, Some(width));
    for (code, tag) in [
        ("1m", "<b>"),
        ("2m", "<d>"),
        ("3m", "<i>"),
        ("4m", "<u>"),
        ("9m", "<s>"),
        ("36m", "<c>"),
        ("0m", "</>"),
    ] {
        shown = shown.replace(&format!("\x1b[{code}"), tag);
    }
    assert_eq!(shown, expected, "for {text:?}");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_in(80, text, expected);
}

#[test]
fn headings_differ_by_level() {
    check("# Title #x\n\ny", "<b><u>Title #x</>\n\ny\n");
    check("## Two", "<b>Two</>\n");
    check("### Three", "<u>Three</>\n");
    check("#### Four\n##### Five", "<i>Four</>\n\n<i>Five</>\n");
    check("#title\n===\n", "<b><u>#title</>\n");
    check("####### no", "####### no\n");
}

#[test]
fn emphasis_code_and_links() {
    check("a `b` c", "a <c>b</> c\n");
    check("``a`b`` c", "<c>a`b</> c\n");
    check("**a** _b_ ~~c~~", "<b>a</> <i>b</> <s>c</>\n");
    check("**a *b***", "<b>a </><b><i>b</>\n");
    check("[a](iii://b) c", "<u>a</> <d>(iii://b)</> c\n");
    check("[a][b]\n\n[b]: c\n", "<u>a</> <d>(c)</>\n");
    check("<https://a.b> <x@y.z>", "<u>https://a.b</> <u>x@y.z</>\n");
    check("![logo](a.png)", "image: <u>logo</> <d>(a.png)</>\n");
    check("a<br>b", "a<d><br></>b\n");
}

#[test]
fn lists_have_hanging_indents() {
    check("- a\n- b\n  - c\n\nd", "• a\n• b\n  • c\n\nd\n");
    check("3. a\n4. b", "3. a\n4. b\n");
    check("- a\n\n- b\n\n  c\n", "• a\n\n• b\n\n  c\n");
    check("- [x] a\n- [ ] b", "• [x] a\n• [ ] b\n");
    check_in(
        12,
        "- one two three four\n- b",
        "• one two\n  three four\n• b\n",
    );
    check("-\n- b", "•\n• b\n");
    check("- a\n  ```\n  x\n  ```", "• a\n\n    <c>x</>\n");
}

#[test]
fn quotes_code_rules_and_front_matter() {
    check("> a\n> b\n\nc", "<d>│</> a b\n\nc\n");
    check("> a\n>\n> b", "<d>│</> a\n<d>│</>\n<d>│</> b\n");
    check_in(
        18,
        "> one two three four",
        "<d>│</> one two three\n<d>│</> four\n",
    );
    check(
        "```sh\n# no `x`\n\ny\n```\n# z",
        "  <c># no `x`</>\n\n  <c>y</>\n\n<b><u>z</>\n",
    );
    check_in(5, "a\n\n---\n\nb", "a\n\n<d>─────</>\n\nb\n");
    check("---\na: b\n---\n# c\n", "<d>a: b</>\n\n<b><u>c</>\n");
    check("", "");
}

#[test]
fn paragraphs_are_wrapped_and_wide_characters_take_two_columns() {
    check_in(17, "one two\nthree four five", "one two three\nfour five\n");
    check_in(16, "漢字漢字漢字漢字漢字", "漢字漢字漢字漢字\n漢字\n");
    check_in(
        17,
        "one `code here` two three",
        "one <c>code here</> two\nthree\n",
    );
    check("a  \nb", "a\nb\n");
}

#[test]
fn tables_fit_the_width() {
    let text = "| id | size |\n|---|--:|\n| a | 1 |\n| 漢字 | 20 |\n";
    let expected =
        "<b>id</>   <d>│</> <b>size</>\n<d>─────┼─────</>\na    <d>│</>    1\n漢字 <d>│</>   20\n";
    check(text, expected);
    let text = "| id | what |\n|---|---|\n| a | one two three four |\n";
    let expected = "<b>id</> <d>│</> <b>what</>\n<d>───┼──────────────</>\n\
                    a  <d>│</> one two three\n   <d>│</> four\n";
    check_in(18, text, expected);
    check_in(
        16,
        "|a|b|c|\n|---|---|---|\n|long one|long two|long three|\n",
        "<d>a: </>long one\n<d>b: </>long two\n<d>c: </>long three\n",
    );
}

#[test]
fn text_that_only_resembles_markup_is_unchanged() {
    check("a ` b", "a ` b\n");
    check("[a](b", "[a](b\n");
    check("[a] (b)", "[a] (b)\n");
    check("* é ** ``", "• é ** ``\n");
    check("a \\* b &amp; c", "a * b & c\n");
}

/// A renderer that looks for the end of each mark anew needs minutes for these.
#[test]
fn marks_without_end_are_rendered_in_one_pass() {
    for mark in [
        "[", "[a](", "![", "`", "``a", "*", "**a", "_", "<", "&", "\\", "> [", "[`*_", "> ", "- ",
        "1. ", "|a", "|-", "a|\n", "-|",
    ] {
        let text = mark.repeat(262_144 / mark.len());
        let shown = render(&text, Some(80)).len();
        assert!(shown < 40 << 20, "for {mark:?}: {shown}");
    }
    let shown = render(&"[".repeat(262_144), Some(80));
    assert_eq!(shown.len(), 262_145);
}

#[test]
fn a_document_cannot_move_the_cursor() {
    check("a\x1b[2J", "a\\u{1b}[2J\n");
    check("a &#27;[2J `\u{9b}`", "a \\u{1b}[2J <c>\\u{9b}</>\n");
    check("```\n\x1b[2J\n```", "  <c>\\u{1b}[2J</>\n");
    check("[a](\u{202e}b)", "<u>a</> <d>(\\u{202e}b)</>\n");
}
