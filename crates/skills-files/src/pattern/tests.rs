//! What patterns match, where they start and which folders they leave out.

use super::*;

#[track_caller]
fn check(text: &str, root: &str, matching: &[&str], other: &[&str]) {
    let pattern = Pattern::parse(text, Path::new("/base"), ".md").unwrap();
    assert_eq!(pattern.root, Path::new(root), "for {text}");
    for path in matching {
        assert!(pattern.matches(Path::new(path)), "{text} misses {path}");
        let mut parents = Path::new(path).ancestors().skip(1);
        assert!(
            parents.all(|parent| pattern.may_match_below(parent)),
            "{text} prunes a folder of {path}"
        );
    }
    for path in other {
        assert!(!pattern.matches(Path::new(path)), "{text} matches {path}");
    }
}

#[test]
fn patterns() {
    check(
        "my-skills/**/*.md",
        "/base/my-skills",
        &["foo.md", "foo/bar.md", "foo/bar/baz.md"],
        &["foo.txt"],
    );
    check("*.md", "/base", &["top.md"], &["a/top.md"]);
    check("docs/team-a.md", "/base/docs", &["team-a.md"], &["x.md"]);
    check("/abs/d?cs/*.md", "/abs", &["docs/a.md"], &["dcs/a.md"]);
    check("/**", "/", &["a", "a/b.md"], &[]);
    check("x/{a,b}/[cd].md", "/base/x", &["a/c.md"], &["a/e.md"]);
    check("x/{a/b,c}.md", "/base/x", &["a/b.md", "c.md"], &["a.md"]);
    check("x/{a,**}/y.md", "/base/x", &["a/y.md"], &[]);
    check("x/[!a].md", "/base/x", &["b.md"], &["a.md", "bb.md"]);
    check("x//y/**//z.md", "/base/x/y", &["a/z.md", "z.md"], &[]);
    check("a/b*/c.md", "/base/a", &["bb/c.md"], &["c.md", "b/d/c.md"]);
    check("../up/*.md", "/base/../up", &["a.md"], &[]);
}

#[test]
fn the_ending_decides_as_the_glob_does() {
    let names = [
        "a.md", ".md", "md", "a.MD", "a.mdx", "x/a.md", "x/.md", "x/y/a.md", "x.md/y", "b/a",
        "a]b.md", "a b.md",
    ];
    for text in [
        "*.md",
        "**/*.md",
        "*",
        "**/*",
        "**",
        "*/*.md",
        "a*.md",
        "**/a.md",
        "{a,b}.md",
        "[ab].md",
        "?.md",
        "x/**/*.md",
        "**/x/*",
        "{**/a,b}*.md",
        "a[]]b.md",
    ] {
        // A folder without wildcards in front would become the root.
        let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
        for name in names {
            let (name, glob) = (Path::new(name), &pattern.glob);
            assert_eq!(
                pattern.matches(name),
                glob.is_match(name),
                "{text} {name:?}"
            );
        }
    }
    let ending_only = |text| {
        Pattern::parse(text, Path::new(""), ".md")
            .unwrap()
            .ending_only
    };
    assert_eq!(ending_only("docs/**/*.md"), Some(EndingOnly::AnyDepth));
    assert_eq!(ending_only("docs/*.md"), Some(EndingOnly::TopLevel));
    assert_eq!(ending_only("docs/a*.md"), None);
}

#[test]
fn folders_that_cannot_hold_a_match_are_not_entered() {
    let may_match = |text: &str, folder: &str| {
        let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
        pattern.may_match_below(Path::new(folder))
    };
    assert!(!may_match("*.md", "a"));
    assert!(may_match("a*/*.md", "ab"));
    assert!(!may_match("a*/*.md", "b"));
    assert!(!may_match("a*/*.md", "ab/c"));
    assert!(may_match("a*/**/x.md", "ab/c/d"));
    assert!(!may_match("a*/**/x.md", "b/c/d"));
    assert!(may_match("{a/b,c}/*.md", "anything"));
}

#[test]
fn an_invalid_pattern_has_a_reason() {
    let check = |text: &str, expected: &str| {
        let reason = Pattern::parse(text, Path::new(""), ".md").unwrap_err();
        assert!(reason.contains(expected), "for {text:?}: {reason}");
    };
    check("", "is empty");
    check("  ", "is empty");
    check("docs/", "names a folder; write `docs/**/*.md`");
    check(
        "docs/[a",
        "is not a valid pattern: unclosed character class",
    );
    check("docs/{a", "is not a valid pattern");
    check("docs/a}*", "is not a valid pattern");
}

/// 250 nested braces made the regex of a glob panic.
#[test]
fn a_pattern_has_few_braces_and_bytes() {
    let parse = |text: &str| Pattern::parse(text, Path::new(""), ".md");
    let nested = |n: usize| format!("docs/{}a{}.md", "{".repeat(n), "}".repeat(n));
    let braces = format!("docs/{}.md", "{a,b}".repeat(32));
    assert!(parse(&nested(32)).unwrap().matches(Path::new("a.md")));
    assert!(
        parse(&braces)
            .unwrap()
            .matches(Path::new(&format!("{}.md", "ab".repeat(16))))
    );
    for n in [33, 250, 2_000] {
        let reason = parse(&nested(n)).unwrap_err();
        let expected = format!("has {n} braces `{{`, at most 32; write several patterns");
        assert_eq!(reason, expected);
    }
    // Braces in a class do not close.
    assert!(parse(&"{[}]".repeat(100)).is_err());
    for long in ["a", "?", "*", "[a-z]", "[!a]", "é", "**/"] {
        let longest = long
            .repeat(4_096 / long.len())
            .trim_end_matches('/')
            .to_owned();
        let parsed = parse(&longest).map(drop);
        assert!(parsed.is_ok(), "{long}: {parsed:?}");
    }
    let reason = parse(&"a".repeat(4_097)).unwrap_err();
    assert!(
        reason.starts_with("is too long: 4097 bytes, at most 4096"),
        "{reason}"
    );
    let patterns = Patterns::new(Path::new(""), &[nested(250)], ".md");
    let place = &patterns.invalid[0].place;
    assert!(
        place.starts_with("pattern `docs/{{{{") && place.len() < 100,
        "{place}"
    );
}
