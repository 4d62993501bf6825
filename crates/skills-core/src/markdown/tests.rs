//! Titles and descriptions, and where they come from.

use super::*;

#[track_caller]
fn check(document: &str, title: &str, description: &str) {
    let head = Head::of(document);
    let got = (
        head.title.as_deref().unwrap_or("-"),
        head.description.as_deref().unwrap_or("-"),
    );
    let opening: String = document.chars().take(80).collect();
    assert_eq!(got, (title, description), "for {opening:?}");
}

#[test]
fn heads() {
    check("", "-", "-");
    check("# Resend\n\nEmail provider.", "Resend", "Email provider.");
    check(
        "Resend\n======\n\nEmail provider.",
        "Resend",
        "Email provider.",
    );
    check(
        "# Resend #\nEmail\nprovider.\n\nMore.",
        "Resend",
        "Email provider.",
    );
    check("Intro first.\n\n# Late title", "Late title", "Intro first.");
    check("## Only a second level\n\nText.", "-", "Text.");
    check("#hashtag\n\nText", "-", "#hashtag");
    check("```\n# not a title\n```\n# Title\n\nText", "Title", "Text");
    check("    # indented code\n\n# Title", "Title", "-");
    check(
        "# A *bold* [link](iii://x) and `code`",
        "A bold link and code",
        "-",
    );
    check("# T\n\n![a cat](cat.png) sits", "T", "a cat sits");
    check("# T\n\n![](cat.png)\n\nWords", "T", "Words");
    check("# T\n\n<!-- a comment -->\n\nText", "T", "Text");
    check(
        "# T\n\nsome <b>bold</b> text<!-- x -->",
        "T",
        "some bold text",
    );
    check("---\nowner: x\n---\n# T\n\nText", "T", "Text");
    check("\u{feff}# T\r\n\r\nText\r\nmore\r\n", "T", "Text more");
    check("# T\n\n- a list\n- is no paragraph\n\nText", "T", "Text");
    check(
        "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nText",
        "T",
        "Text",
    );
    check("# T\n\n> quoted words", "T", "quoted words");
    check("> # not the document's\n\n# T", "T", "-");
    check("# T\n\nhard\\\nbreak  \nhere", "T", "hard break here");
    check("# T\n\na &amp; b &lt;c&gt;", "T", "a & b <c>");
    check(
        "# T\n\nsee [the guide][g]\n\n[g]: iii://g",
        "T",
        "see the guide",
    );
    check("# T\n\n[x] is not a link", "T", "[x] is not a link");
    check("# \n\n# Second", "Second", "-");
    check("# a\0b\n\nc\u{7}d", "a b", "c d");
    check("# a\u{200b}b\n\nc \u{e0041}\u{202e} d", "ab", "c d");
    check("# \u{200b}\n\n\u{2060}\n\nc", "-", "c");
}

#[test]
fn front_matter_decides() {
    check("---\ntitle: x\n---\n# T\n\nText", "x", "Text");
    check("---\nname: x\n---\n# T\n\nText", "T", "Text");
    check("---\nname: x\n---\nText", "x", "Text");
    check(
        "---\ndescription: |\n  a\n  b\n---\n# T\n\nText",
        "T",
        "a b",
    );
    check("---\ndescription: a: b\n---\nText", "-", "a: b");
    check(
        "---\ntitle: [x]\ndescription: ''\n---\n# T\n\nText",
        "T",
        "Text",
    );
    check("---\ntitle: 5\n---\n# T", "5", "-");
    check("---\ntitle: \"\u{200b}\"\n---\n# T", "T", "-");
    // It cannot be read, and the text after it still has a head.
    check("---\ntitle: [x\n---\n# T\n\nText", "T", "Text");
    // Not closed: plain, and not plain.
    check("---\nname: x\ndescription: y\n\n# T\n\nText", "T", "y");
    check("---\nowner: x\n\n# T\n\nText", "T", "owner: x");
    let text = |n: usize| format!("---\ndescription: {}\n---\nText", "é".repeat(n));
    check(&text(1024), "-", &"é".repeat(1024));
    check(&text(1025), "-", &format!("{}...", "é".repeat(1024)));
}

#[test]
fn a_description_is_cut_by_characters() {
    let text = |n: usize| format!("# T\n\n{}", "é".repeat(n));
    check(&text(140), "T", &"é".repeat(140));
    check(&text(141), "T", &format!("{}...", "é".repeat(140)));
}

#[test]
fn text_after_the_opening_is_considered() {
    let filler = "- item\n".repeat(2000);
    check(&format!("{filler}\n# Late\n\nText"), "Late", "Text");
    check(&format!("Text\n\n{filler}\nLate\n===\n"), "Late", "Text");
    check(&format!("Text\n\n{filler}\n> # quoted\n"), "-", "Text");
    check(&format!("# T\n\n{filler}"), "T", "-");
    for late in [
        "Text", "*Text*", "**Text**", "> Text", "`Text`", " Text", "3 Text", "+Text",
    ] {
        let plain = late.trim_matches([' ', '*', '>', '`']);
        check(&format!("# T\n\n{filler}\n{late}\n"), "T", plain);
    }
    let linked = format!("# T\n\nsee [the guide][g] first\n\n{filler}\n[G]: iii://g\n");
    check(&linked, "T", "see the guide first");
    let long = "word ".repeat(3000);
    check(
        &format!("# T\n\n{long}"),
        "T",
        &format!("{}...", &long[..140]),
    );
    // The paragraph continues after the opening, and its underline makes it a title.
    let setext = format!("{}\n{}\n===\n\nText", "a".repeat(1000), "b".repeat(1000));
    check(
        &setext,
        &format!("{} {}", "a".repeat(1000), "b".repeat(1000)),
        "Text",
    );
}

#[test]
fn hostile_documents_are_parsed() {
    for document in [
        "#".repeat(262_144),
        "# ".repeat(131_072),
        ">".repeat(100_000),
        "> ".repeat(100_000),
        "- ".repeat(100_000),
        "1. ".repeat(80_000),
        "[".repeat(262_144),
        "[a](".repeat(65_536),
        "*a ".repeat(80_000),
        "<!--".repeat(65_536),
        "`".repeat(262_144),
        "```\n# x".to_owned(),
        "\0".repeat(1000),
        "[a] ".repeat(60_000),
        "|a".repeat(100_000),
        "&".repeat(262_144),
        "\n".repeat(262_144),
        "a\n".repeat(131_072),
        "[^a]: ".repeat(40_000),
    ] {
        let head = Head::of(&document);
        assert!(
            head.description
                .is_none_or(|d| d.chars().count() <= DESCRIPTION_MAX + 3)
        );
    }
}
