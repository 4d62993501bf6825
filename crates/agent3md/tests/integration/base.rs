//! The base format, rule by rule.

use agent3md::{Document, ParseError, js_number};

fn pairs(fields: &agent3md::Fields<'_>) -> String {
    let pair = |f: &agent3md::Field<'_>| format!(" {}={:?}", f.key, f.value);
    fields.iter().map(pair).collect::<Vec<_>>().concat()
}

/// A document on one line.
fn shown(source: &str) -> String {
    match Document::parse(source) {
        Err(error) => format!("{} at {}", error.kind(), error.at()),
        Ok(document) => {
            let plane = |plane: &agent3md::Plane<'_>| {
                let label = plane
                    .label
                    .as_ref()
                    .map(|l| format!(" {l:?}"))
                    .unwrap_or_default();
                let xy = [("x", plane.x), ("y", plane.y)];
                let xy = xy.map(|(k, v)| {
                    v.map(|v| format!(" {k}={}", js_number(v)))
                        .unwrap_or_default()
                });
                let more = pairs(&plane.attributes);
                format!(
                    "z={}{}{}{label}{more} {:?}",
                    js_number(plane.z),
                    xy[0],
                    xy[1],
                    plane.body
                )
            };
            let preamble = document.preamble.iter().map(|text| format!("pre {text:?}"));
            let planes = document.planes.iter().map(plane);
            preamble.chain(planes).collect::<Vec<_>>().join("; ")
        }
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(shown(source), expected, "for {source:?}");
}

/// Checks the text below a front matter of three lines.
#[track_caller]
fn below(body: &str, expected: &str) {
    check(&format!("---\n3md: 1.0\n---\n{body}"), expected);
}

/// Checks `version axis title metadata` of a front matter.
#[track_caller]
fn head(lines: &str, expected: &str) {
    let source = format!("---\n{lines}---\n");
    let got = match Document::parse(&source) {
        Err(error) => format!("{} at {}", error.kind(), error.at()),
        Ok(d) => {
            let more = pairs(&d.metadata);
            format!("{} {} {:?}{more}", d.version, d.axis, d.title)
        }
    };
    assert_eq!(got, expected, "for {lines:?}");
}

#[test]
fn one_byte_order_mark_is_removed() {
    check("\u{FEFF}---\n3md: 1\n---\nx", r#"z=0 "x""#);
    check(
        "\u{FEFF}\u{FEFF}---\n3md: 1\n---\nx",
        "missingFrontmatter at 1:1",
    );
}

#[test]
fn crlf_is_lf_and_a_lone_cr_is_a_character() {
    check(
        "---\r\n3md: 1\r\n---\r\n@plane z=1\r\na\r\nb\r\n",
        r#"z=1 "a\nb""#,
    );
    below("@plane z=1\ra\rb", "invalidPlaneDirective at 4:8");
    below("@plane z=1\rfoo", "invalidPlaneDirective at 4:8");
    below("@plane\rz=1", r#"z=0 "@plane\rz=1""#);
    below("@plane z=1\na\r\r\nb\r", r#"z=1 "a\r\nb\r""#);
}

#[test]
fn front_matter_must_be_first_and_closed() {
    check("", "missingFrontmatter at 1:1");
    check("\n \t\n --- \n3md: 1\n\t---\nx", r#"z=0 "x""#);
    check("hello\n---\n3md: 1\n---\n", "missingFrontmatter at 1:1");
    check("----\n3md: 1\n---\n", "missingFrontmatter at 1:1");
    check("\n---\n3md: 1\n", "invalidFrontmatter at 2:1");
    check("---\n3md: 1\nno colon\n---\n", "invalidFrontmatter at 3:1");
    check("---\n---\n", "missingVersion at 1:1");
    check("---\n3md:\n---\n", "missingVersion at 2:1");
    check("---\n3md: \"\"\n---\n", "missingVersion at 2:1");
}

#[test]
fn front_matter_entries() {
    head("3md: 1\n", "1 layer None");
    head("3MD: anything at all\n", "anything at all layer None");
    head("3md: 1\nAXIS:  Time \nTitle: T\n", r#"1 time Some("T")"#);
    head("3md: 1\ntitle:\n", r#"1 layer Some("")"#);
    head("3md: 1\n# note: x\n\n  # more\n", "1 layer None");
    head("3md: 1\n: v\n", r#"1 layer None ="v""#);
    head(
        "3md: 1\nAgent: a\nagent: b\n",
        r#"1 layer None Agent="a" agent="b""#,
    );
    head("3md: 1\nk: a\nk: b\n", r#"1 layer None k="b""#);
    head("3md: 1\nk: a: b\n", r#"1 layer None k="a: b""#);
    head(
        "3md: 1\nk: \" q \\\" \\n \"\n",
        r#"1 layer None k=" q \" n ""#,
    );
    head("3md: 1\nk: 'x\\'\n", r#"1 layer None k="x\\""#);
    head("3md: 1\ntrue: 12\n", r#"1 layer None true="12""#);
    head(
        "3md: 1\n__proto__: x\nconstructor: y\n",
        r#"1 layer None __proto__="x" constructor="y""#,
    );
}

#[test]
fn a_directive_is_exact_and_in_the_first_column() {
    below("@plane z=1", r#"z=1 """#);
    below("@plane\tz=1", r#"z=1 """#);
    below("@planex z=1", r#"z=0 "@planex z=1""#);
    below("@PLANE z=1", r#"z=0 "@PLANE z=1""#);
    below(" @plane z=1", r#"z=0 " @plane z=1""#);
    below("@plane", "missingPlanePosition at 4:1");
}

#[test]
fn attributes_of_a_directive() {
    below("@plane z=1 label=\"a b\" K=v", r#"z=1 "a b" k="v" """#);
    below("@plane z=1 a\"b c\"d=e", r#"z=1 a"b c"d="e" """#);
    below("@plane z=1 k=a\"b c\"d", r#"z=1 k="a\"b c\"d" """#);
    below(r#"@plane z=1 k="a\"b \\ c\n""#, r#"z=1 k="a\"b \\ cn" """#);
    below("@plane z=1 k='it\"s'", r#"z=1 k="it\"s" """#);
    below("@plane z=1 k=a=b", r#"z=1 k="a=b" """#);
    below("@plane z=1 k=", r#"z=1 k="" """#);
    below("@plane z=1 ÉΣ=1", r#"z=1 éς="1" """#);
    below("@plane z=1 k=1 K=2", r#"z=1 k="2" """#);
    below("@plane z=1 __proto__=x", r#"z=1 __proto__="x" """#);
    below("@plane Z=\"1\" X=2 y=-.5", r#"z=1 x=2 y=-0.5 """#);
}

#[test]
fn the_error_of_a_malformed_directive_points_at_the_token() {
    below("@plane z=1 label=\"open", "invalidPlaneDirective at 4:18");
    below("@plane z=1 k='a\\'", "invalidPlaneDirective at 4:14");
    below("@plane z=1 é word", "invalidPlaneDirective at 4:12");
    below("@plane z=1 k=1 word", "invalidPlaneDirective at 4:16");
    below("@plane z=1 =v", "invalidPlaneDirective at 4:12");
    below("@plane z= 1", "invalidPlaneDirective at 4:11");
    below("@plane z=", "invalidPlaneDirective at 4:8");
    below("@plane z=one", "invalidPlaneDirective at 4:8");
    below("@plane z=1e400", "invalidPlaneDirective at 4:8");
    below("@plane z=1 x=a", "invalidPlaneDirective at 4:12");
    below("@plane z=1 y=0x1", "invalidPlaneDirective at 4:12");
    below("@plane label=a", "missingPlanePosition at 4:1");
}

#[test]
fn no_two_planes_share_a_position() {
    below("@plane z=1\n@plane z=1.0", "duplicatePlane at 5:1");
    below("@plane z=0\n\n@plane z=-0", "duplicatePlane at 6:1");
    below(
        "@plane z=1\n@plane z=1 x=bad",
        "invalidPlaneDirective at 5:12",
    );
    below(
        "@plane z=1\n@plane z=1\n@plane bad",
        "duplicatePlane at 5:1",
    );
    below("@plane\n@plane bad", "missingPlanePosition at 4:1");
    below("@plane z=-1\n@plane z=1", r#"z=-1 ""; z=1 """#);
}

#[test]
fn bodies_lose_only_the_blank_lines_around_them() {
    below(
        "@plane z=1\n\n \t\n  a \n\n b\t\n\n\t\n@plane z=2\n",
        r#"z=1 "  a \n\n b\t"; z=2 """#,
    );
    below("@plane z=1\n\u{A0}\n", "z=1 \"\\u{a0}\"");
}

#[test]
fn text_before_the_first_plane_is_the_preamble() {
    below("\nhello\n\n@plane z=1\nx", r#"pre "hello"; z=1 "x""#);
    below("\n \n@plane z=1\nx", r#"z=1 "x""#);
}

#[test]
fn text_without_planes_is_one_plane() {
    below("\n hello \n", r#"z=0 " hello ""#);
    below("\n \t\n", "");
    below("", "");
}

#[test]
fn fences_hide_directives() {
    below(
        "@plane z=1\n```\n@plane z=2\n```\n@plane z=3",
        "z=1 \"```\\n@plane z=2\\n```\"; z=3 \"\"",
    );
    below(
        "@plane z=1\n  ~~~x\n@plane z=2\n~~~~ y\n@plane z=3",
        "z=1 \"  ~~~x\\n@plane z=2\\n~~~~ y\"; z=3 \"\"",
    );
    below(
        "@plane z=1\n````\n```\n@plane z=2",
        "z=1 \"````\\n```\"; z=2 \"\"",
    );
    below(
        "@plane z=1\n```\n~~~\n@plane z=2",
        "z=1 \"```\\n~~~\\n@plane z=2\"",
    );
    below("@plane z=1\n``\n@plane z=2", "z=1 \"``\"; z=2 \"\"");
    below(
        "```\n@plane z=1\n```\n@plane z=2",
        "pre \"```\\n@plane z=1\\n```\"; z=2 \"\"",
    );
}

#[test]
fn an_unclosed_fence_is_recorded_with_the_directive_it_hides() {
    let source = "---\n3md: 1\n---\n@plane z=1\n```\ncode\n@plane z=2\n@plane z=3\n";
    let document = Document::parse(source).unwrap();
    let unclosed_fence = document.unclosed_fence.clone().unwrap();
    assert_eq!(document.locate(unclosed_fence.fence).to_string(), "5:1");
    assert_eq!(document.locate(unclosed_fence.directive).to_string(), "7:1");
    for harmless in [
        "```\n@plane z=2\n```\n",
        "```\ncode\n",
        "```\n@plane z=2\n```\n```\n",
    ] {
        let source = format!("---\n3md: 1\n---\n@plane z=1\n{harmless}");
        assert_eq!(
            Document::parse(&source).unwrap().unclosed_fence,
            None,
            "{harmless:?}"
        );
    }
}

#[test]
fn an_error_has_a_kind_a_position_a_message_and_a_hint() {
    let source = "---\r\n3md: 1\r\n---\r\n@plane z=1\r\n\r\n@plane z=1.0\r\n";
    let error = Document::parse(source).unwrap_err();
    assert_eq!(
        error.to_string(),
        "6:1: z=1 is already taken by the plane on line 4"
    );
    assert_eq!(error.hint(), "give each plane a z of its own");
    assert_eq!(&source[error.at().bytes.clone()], "@plane z=1.0");
    let ParseError::DuplicatePlane { first, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(&source[first.bytes], "@plane z=1");
}

#[test]
fn an_excerpt_in_a_message_is_short_and_on_one_line() {
    let source = format!("---\n3md: 1\n---\n@plane {}", "\u{1}x".repeat(100_000));
    assert!(Document::parse(&source).unwrap_err().to_string().len() < 300);
}
