//! The rules about the form of a skill.

use super::{Case, Files, body, files, folder, front};

const GOOD: &str = "description: Reads PDF files. Use when a request names a PDF.";

fn case(code: &'static str, finds: Vec<Files>, ignores: Vec<Files>) -> Case {
    Case {
        code,
        finds,
        ignores,
    }
}

fn with(line: &str) -> Files {
    front(&format!("{GOOD}\n{line}"))
}

fn latin1(path: &str) -> Files {
    let mut all = folder("# PDF\n\nSee `a.txt`.", &[]);
    all.retain(|(name, _)| name != path);
    let start = b"---\nname: pdf\ndescription: Use when caf\xe9.\n---\nSee `a.txt`.".to_vec();
    all.push((path.into(), start));
    all
}

#[expect(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let long = "x".repeat(1_025);
    let lines = |count: usize| "line\n".repeat(count);
    vec![
        case(
            "F001",
            vec![
                files(&[("pdf/SKILL.md", "# PDF\n")]),
                files(&[("pdf/SKILL.md", "---\nname: [pdf\n---\n# PDF\n")]),
                files(&[("pdf/SKILL.md", "---\n- a\n---\n# PDF\n")]),
                files(&[("x.md", "---\nname: [x\n---\n# X\n\nText.")]),
                files(&[("pdf/SKILL.md", "")]),
            ],
            vec![
                with("license: MIT"),
                body("Text."),
                files(&[("x.md", "---\n---\n# X\n\nText.")]),
            ],
        ),
        case(
            "F002",
            vec![
                files(&[("pdf/SKILL.md", &format!("---\nname: PDF\n{GOOD}\n---\nx"))]),
                files(&[("pdf/SKILL.md", &format!("---\nname: other\n{GOOD}\n---\nx"))]),
                files(&[("pdf/SKILL.md", &format!("---\n{GOOD}\n---\nx"))]),
                files(&[("pdf/SKILL.md", &format!("---\nname: 7\n{GOOD}\n---\nx"))]),
            ],
            vec![
                with(""),
                files(&[("x.md", "---\nname: X Y\n---\n# X\n\nText.")]),
            ],
        ),
        case(
            "F003",
            vec![
                front("license: MIT"),
                front("description: ''"),
                front(&format!("description: {long}")),
                front("description: [a, b]"),
            ],
            vec![with(""), front(&format!("description: {}", &long[..1_024]))],
        ),
        case(
            "F004",
            vec![
                with("metadata: {version: 1.0}"),
                with("license: 5"),
                with("metadata: x"),
                with(&format!("compatibility: {}", &long[..501])),
            ],
            vec![
                with("metadata: {version: '1.0'}"),
                with("license: MIT\nallowed-tools: Read"),
                with(&format!("compatibility: {}", &long[..500])),
            ],
        ),
        case(
            "F005",
            vec![
                with("licence: MIT"),
                with("unknown_field: should not be here"),
                with("\"Metadata\": {a: 'b'}"),
                with("allowed_tools: Read"),
            ],
            vec![
                with("version: 1.0.0\ntriggers: [pdf form]\nmodel: x"),
                with("argument-hint: x\ndisable-model-invocation: true"),
                with("metadata:\n  licence: 'x'"),
                files(&[("x.md", "---\nanything: x\n---\n# X\n\nText.")]),
            ],
        ),
        case(
            "F006",
            vec![
                front("description: Use this: when now"),
                front("description: `x` when"),
                files(&[(
                    "pdf/SKILL.md",
                    "---\nname: pdf\ndescription: When x.\n\n# PDF\n",
                )]),
                files(&[("x.md", "---\ntitle: a: b\n---\n# X\n\nText.")]),
            ],
            vec![
                front("description: 'Use this: when now'"),
                with(""),
                body("a: b: c"),
            ],
        ),
        case(
            "F007",
            vec![
                with("metadata:\n\tauthor: me"),
                with("metadata:\n\ta: b\n\tc: d"),
            ],
            vec![
                with("metadata:\n  author: me"),
                with("license: a\tb"),
                body("\tcode"),
            ],
        ),
        case(
            "F008",
            vec![
                files(&[(
                    "pdf/SKILL.md",
                    &format!("\u{feff}---\nname: pdf\n{GOOD}\n---\nx"),
                )]),
                folder("`a.sh`", &[("pdf/a.sh", "\u{feff}#!/bin/sh\n")]),
            ],
            vec![
                body("Text."),
                folder("`a.sh`", &[("pdf/a.sh", "#!/bin/sh\n")]),
                folder(
                    "`a.xsd`",
                    &[("pdf/a.xsd", "\u{feff}<?xml version=\"1.0\"?>")],
                ),
            ],
        ),
        case(
            "F009",
            vec![
                body("a\r\nb"),
                folder("`a.sh`", &[("pdf/a.sh", "#!/bin/sh\r\n")]),
            ],
            vec![
                body("a\nb"),
                folder("`a.bat`", &[("pdf/a.bat", "@echo off\r\n")]),
                body("a\rb"),
            ],
        ),
        case(
            "F010",
            vec![
                files(&[("x.md", "Text.")]),
                files(&[("x.md", "## Two\n\nText.")]),
            ],
            vec![
                body(""),
                files(&[("x.md", "---\ntitle: X\n---\nText.")]),
                with(""),
            ],
        ),
        case(
            "F011",
            vec![
                files(&[("x.md", "# X\n\n- a\n- b")]),
                files(&[("x.md", "# X\n")]),
            ],
            vec![
                body(""),
                files(&[("x.md", "---\ndescription: d\n---\n# X")]),
            ],
        ),
        case(
            "F012",
            vec![
                front("description: PDF tools."),
                front("description: Reads and writes PDF files."),
            ],
            vec![
                with(""),
                front("description: Helps with PDF forms."),
                front("description: PDF 양식을 채우고 텍스트를 추출합니다."),
            ],
        ),
        case(
            "F013",
            vec![folder(&lines(501), &[]), body(&lines(600))],
            vec![
                folder(&lines(500), &[]),
                folder("# PDF", &[("pdf/a.md", &lines(600))]),
            ],
        ),
        case(
            "F014",
            vec![
                folder(&"word ".repeat(4_001), &[]),
                body(&"é".repeat(20_001)),
            ],
            vec![
                folder(&"word ".repeat(3_999), &[]),
                body(&"é".repeat(19_000)),
            ],
        ),
        case(
            "F015",
            vec![
                folder("[a](a.md)", &[("pdf/a.md", "[b](b.md)"), ("pdf/b.md", "B")]),
                folder(
                    "[a](r/a.md)",
                    &[("pdf/r/a.md", "[c](sub/c.md)"), ("pdf/r/sub/c.md", "C")],
                ),
            ],
            vec![
                folder(
                    "[a](a.md) [b](b.md)",
                    &[("pdf/a.md", "[b](b.md)"), ("pdf/b.md", "B")],
                ),
                folder(
                    "[a](a.md) and `b.md`",
                    &[("pdf/a.md", "[b](b.md)"), ("pdf/b.md", "B")],
                ),
                folder("[a](a.md)", &[("pdf/a.md", "[up](SKILL.md)")]),
            ],
        ),
        case(
            "F016",
            vec![
                folder("# PDF", &[("pdf/scripts/old.py", "x = 1")]),
                folder(
                    "See a.md.",
                    &[("pdf/a.md", "A"), ("pdf/b.md", "Names b.md itself.")],
                ),
            ],
            vec![
                folder(
                    "Run `scripts/fill.py`.",
                    &[("pdf/scripts/fill.py", "x = 1")],
                ),
                folder("Everything in `assets/`.", &[("pdf/assets/a.png", "x")]),
                folder(
                    "`run.py`",
                    &[("pdf/run.py", "import fill"), ("pdf/fill.py", "x = 1")],
                ),
                folder(
                    "# PDF",
                    &[("pdf/LICENSE.txt", "MIT"), ("pdf/README.md", "x")],
                ),
            ],
        ),
        case(
            "F017",
            vec![
                folder("`run.sh`", &[("pdf/scripts/run.sh", "set -e\n")]),
                folder("`run`", &[("pdf/scripts/run", "echo\n")]),
            ],
            vec![
                folder(
                    "`run.sh`",
                    &[("pdf/scripts/run.sh", "#!/usr/bin/env bash\n")],
                ),
                folder("`run.py`", &[("pdf/scripts/run.py", "print()\n")]),
                folder("`common.sh`", &[("pdf/scripts/common.sh", "f() { :; }\n")]),
            ],
        ),
        case(
            "F018",
            vec![
                folder("# PDF", &[("pdf/.env", "A=b")]),
                folder("# PDF", &[("pdf/keys/id_rsa", "x")]),
                folder("# PDF", &[("pdf/.env.production", "A=b")]),
            ],
            vec![
                folder("# PDF", &[("pdf/.env.example", "A=")]),
                folder("`env.md`", &[("pdf/env.md", "x")]),
                folder("`deck.key`", &[("pdf/deck.key", "x")]),
            ],
        ),
        case(
            "F020",
            vec![latin1("pdf/SKILL.md"), latin1("pdf/a.txt")],
            vec![body("café"), latin1("pdf/image.png")],
        ),
        case(
            "F021",
            vec![
                body("<!-- skills-lint-allow T008 -->"),
                body("<!-- skills-lint-allow T999: because -->"),
                folder("`a.py`", &[("pdf/a.py", "# skills-lint-allow T011:\n")]),
            ],
            vec![
                body("<!-- skills-lint-allow T008: quotes an attack -->"),
                body("Write `skills-lint-allow CODE: reason` in a comment."),
                folder(
                    "`a.py`",
                    &[("pdf/a.py", "# skills-lint-allow T011: pinned\n")],
                ),
            ],
        ),
        case(
            "F022",
            vec![
                files(&[("dev.3md", "no front matter")]),
                files(&[("dev.3md", &document("[[z=9]]"))]),
            ],
            vec![files(&[("dev.3md", &document("[[z=0]]"))]), body("[[z=9]]")],
        ),
        case(
            "F023",
            vec![
                files(&[("dev.3md", &document("x").replace(" triggers=find", ""))]),
                files(&[(
                    "dev.3md",
                    &document("x").replace("triggers=find", "triggers=!!"),
                )]),
            ],
            vec![
                files(&[("dev.3md", &document("x"))]),
                body("@plane z=1 label=a"),
            ],
        ),
    ]
}

fn document(text: &str) -> String {
    format!(
        "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n@plane z=1 label=find triggers=find\n{text}\n"
    )
}
