//! Where front matter ends, how it is read and repaired, and what it may cost.

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

#[track_caller]
fn text(yaml: &str, expected: &str, repaired: bool) {
    let matter = FrontMatter::parse(yaml).unwrap();
    assert_eq!(matter.text("a"), Ok(Some(expected)), "for {yaml:?}");
    assert_eq!(matter.warning.is_some(), repaired, "{:?}", matter.warning);
}

#[test]
fn texts() {
    text("a: Opens a PR.\n", "Opens a PR.", false);
    text("b: x\r\na: y\r\n", "y", false);
    text("a: \"x: y\"\n", "x: y", false);
    text("a: |\n  x: y\n", "x: y\n", false);
    text("a: >-\n  x\n  y\n", "x y", false);
    text("# a comment\na: x # more\n", "x", false);
    text("a: yes\n", "yes", false);
}

#[test]
fn plain_values_that_yaml_cannot_read_are_quoted_with_a_warning() {
    text("a: Use this: now\n", "Use this: now", true);
    text("a: It's: so\n", "It's: so", true);
    text(
        "a: Use: this\n  and that\nb: x\n",
        "Use: this and that",
        true,
    );
    text("a: Uses: x # why\n", "Uses: x", true);
    text("a: `x` does y\n", "`x` does y", true);
    text("a: @me does y\r\n", "@me does y", true);
    text("a: x\nb: - 2\n", "x", true);
    let warning = FrontMatter::parse("a: b: c\n").unwrap().warning.unwrap();
    assert!(warning.starts_with("`a` in the front matter"), "{warning}");
}

#[track_caller]
fn refused(yaml: &str, expected: &str) {
    let matter = FrontMatter::parse(yaml);
    let reason = matter.and_then(|matter| matter.text("a").map(|text| format!("{text:?}")));
    let reason = reason.unwrap_err();
    assert!(reason.contains(expected), "for {yaml:?}: {reason}");
}

#[test]
fn unreadable_front_matter_is_an_error_with_a_reason() {
    refused("", "is not a map");
    refused("just words\n", "is not a map");
    refused("- a\n- b\n", "is not a map");
    refused("a: 5\n", "`a` in its front matter that is a number");
    refused("a: true\n", "that is true or false");
    refused("a: [x]\n", "that is a list");
    refused("a: {x: y}\n", "that is a map");
    refused(
        "b: x\nb: y\n",
        "cannot be read: line 2 column 1: duplicate mapping key: b",
    );
    refused("a: x: y\na: z\n", "cannot be read");
    refused("a: [x\n", "cannot be read");
    refused("a: 'x\n", "cannot be read");
}

/// 355 bytes of this took half a second.
#[test]
fn anchors_and_aliases_are_refused() {
    let line = |n: usize| {
        let uses = format!("*a{n},").repeat(9);
        format!("a{}: &a{} [{uses}]\n", n + 1, n + 1)
    };
    let lines: String = (0..12).map(line).collect();
    let bomb = format!("a0: &a0 [x, x]\n{lines}a: x\n");
    refused(&bomb, "an anchor or an alias (`&name`, `*name`); write");
    refused("a: &x y\n", "an anchor or an alias");
    refused("b: &x {a: y}\n<<: *x\n", "an anchor or an alias");
    // In quotes they are words.
    text("a: '&x *y'\n", "&x *y", false);
}

#[test]
fn large_front_matter_is_refused() {
    let comment = |bytes: usize| format!("a: x\n#{}", "x".repeat(bytes - 6));
    text(&comment(65_536), "x", false);
    refused(&comment(65_537), "more than 65536 bytes; shorten it");
    let list = |values: usize| format!("a: x\nb: [{}]\n", "x,".repeat(values - 5));
    text(&list(4_096), "x", false);
    refused(&list(4_097), "more than 4096 values; shorten it");
    let nested = |n: usize| format!("a: x\nb: {}{}\n", "[".repeat(n), "]".repeat(n));
    text(&nested(15), "x", false);
    refused(&nested(16), "more than 16 levels; flatten it");
    refused(&format!("a: {}\n", "[".repeat(30_000)), "front matter");
    assert!(FrontMatter::parse(&format!("triggers: a\n{}", list(4_096))).is_err());
}

#[track_caller]
fn phrases(yaml: &str, expected: &[&str]) {
    let parsed = FrontMatter::parse(yaml).ok();
    let got = parsed
        .and_then(|matter| matter.triggers())
        .unwrap_or_default();
    let got: Vec<&str> = got.iter().map(|phrase| &**phrase).collect();
    assert_eq!(got, expected, "for {yaml:?}");
}

#[test]
fn phrases_are_a_list_or_one_text_with_commas() {
    phrases("triggers: find code, grep\n", &["find code", "grep"]);
    phrases(
        "a: 1\r\ntriggers: \"find code, grep\"\r\n",
        &["find code", "grep"],
    );
    phrases(
        "triggers: don't panic, it's fine\n",
        &["don't panic", "it's fine"],
    );
    phrases(
        "triggers: [find code, 'a, b', \"c\"]\n",
        &["find code", "a, b", "c"],
    );
    phrases("triggers: [it's, 'b']\n", &["it's", "b"]);
    phrases("triggers: [\n  one,\n  two,\n]\nb: 2\n", &["one", "two"]);
    phrases(
        "triggers:\n  - one\n  # no\n\n  - \"two, three\"\nb: - 2\n",
        &["one", "two, three"],
    );
    phrases("triggers:\n- one\n- ''\n- ' two '\n", &["one", "two"]);
    phrases(
        "triggers: [on, 'yes', no, 404]\n",
        &["on", "yes", "no", "404"],
    );
    phrases("triggers: \"caf\\u00e9\"\n", &["café"]);
    phrases("description: Use: it\ntriggers: a\n", &["a"]);
    phrases("x:\n  triggers: nested\n", &[]);
    phrases("triggers:\n", &[]);
    phrases("triggers: ,,\n", &[]);
    phrases("triggers: [never closed\n", &[]);
    phrases("triggers: [']\n", &[]);
    phrases("", &[]);
}

#[track_caller]
fn document(text: &str, json: Option<&str>, body: &str, report: &str) {
    let document = Document::parse(text);
    let matter = document.front_matter.as_ref();
    assert_eq!(matter.map(FrontMatter::json), json, "for {text:?}");
    assert_eq!(document.body, body, "for {text:?}");
    let warning = matter.and_then(|matter| matter.warning.clone());
    let found = document.problem.or(warning).unwrap_or_default();
    assert!(found.contains(report), "{found:?} has no {report:?}");
    assert_eq!(found.is_empty(), report.is_empty(), "{found:?}");
}

#[test]
fn a_document_loses_nothing() {
    document("# A", None, "# A", "");
    document("---\n---\n# A", Some("{}"), "# A", "");
    document(
        "---\nb: 1\na: x\n---\n# A",
        Some(r#"{"b":1,"a":"x"}"#),
        "# A",
        "",
    );
    let nested = "---\nz: {y: [1, 2.5, true, null, ''], x: b}\n---\n# A";
    let json = r#"{"z":{"y":[1,2.5,true,null,""],"x":"b"}}"#;
    document(nested, Some(json), "# A", "");
    document(
        "---\r\na: x\r\n---\r\n# A\r\n",
        Some(r#"{"a":"x"}"#),
        "# A\r\n",
        "",
    );
    let marked = "\u{feff}---\na: x\n---\n# A";
    document(marked, Some(r#"{"a":"x"}"#), "# A", "a byte order mark");
    document("\u{feff}# A", None, "# A", "");
    let tabs = "---\na:\n\tb: x\n\tc: Use: it\n---\n# A";
    document(tabs, None, tabs, "cannot be read");
    let tabs = "---\na:\n\tb: x\nc: Use: it\n---\n# A";
    let json = r#"{"a":{"b":"x"},"c":"Use: it"}"#;
    document(
        tabs,
        Some(json),
        "# A",
        "use spaces; `c` in the front matter",
    );
    for broken in [
        "---\n[\n---\n# A",
        "---\nwords\n---\n# A",
        "---\na: &x y\n---\n# A",
    ] {
        document(broken, None, broken, "has front matter");
    }
}

#[test]
fn front_matter_without_an_end_is_recovered_if_it_is_plain() {
    let json = Some(r#"{"name":"a"}"#);
    let closing = "end it with a line `---`";
    document("---\nname: a\n\nText", json, "\nText", closing);
    document("---\nname: a\n# A", json, "# A", closing);
    for text in [
        "---\nname: a\n",
        "---\r\nname: a\r\n",
        "---\nname: a\nText",
        "---\nowner: a\n\nText",
        "---\nallowed-tools:\n  - Read\nText",
    ] {
        document(text, None, text, "is not closed; add a line `---` after");
    }
}

#[test]
fn a_thematic_break_is_no_front_matter() {
    for text in [
        "---",
        "---\n",
        "---\n\nname: a\n\nText",
        "---\nText",
        "---\nTwo words: text",
        "---\nhttps://example.com",
        "---\n: x",
    ] {
        document(text, None, text, "");
    }
}
