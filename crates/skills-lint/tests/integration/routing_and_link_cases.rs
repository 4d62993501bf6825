//! The rules about links and about how requests find a skill.

use super::{Case, Files, body, files, folder};

fn case(code: &'static str, finds: Vec<Files>, ignores: Vec<Files>) -> Case {
    Case {
        code,
        finds,
        ignores,
    }
}

fn triggers(list: &str) -> Files {
    files(&[("x.md", &format!("---\ntriggers: {list}\n---\n# X\n\nText."))])
}

fn two(first: &str, second: &str) -> Files {
    let text = |text: &str| format!("# Title\n\n{text}\n");
    files(&[("a.md", &text(first)), ("b.md", &text(second))])
}

/// Skills with the trigger `notes`, and one without.
fn notes(last: &str) -> Files {
    let texts = [
        (
            "daily",
            "# Daily notes\n\nWrites daily notes of meetings into the notes file.",
        ),
        (
            "weekly",
            "# Weekly notes\n\nCollects notes of a week: notes by day, notes by person.",
        ),
        (
            "search",
            "# Search notes\n\nFinds notes by a word in notes and in the titles of notes.",
        ),
        (
            "share",
            "# Share notes\n\nShares notes with others: notes by mail, notes by link.",
        ),
    ];
    let mut all: Files = Vec::new();
    for (id, text) in texts {
        let text = format!("---\ntriggers: [notes]\n---\n{text}");
        all.push((format!("{id}.md"), text.into()));
    }
    all.push(("last.md".into(), last.into()));
    all
}

#[expect(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let api = &[("pdf/references/api.md", "# API")];
    vec![
        case(
            "L001",
            vec![
                body("[a](iii://gone)"),
                two("[b](iii://bb)", "B."),
                body("<iii://no/such>"),
                body("[a](iii://gone@1)"),
                body("[a](iii://@files/gone)"),
            ],
            vec![
                two("[b](iii://b)", "B."),
                // Which versions there are is not known from files.
                two("[b](iii://b@99) [c](iii://@agents/b)", "B."),
                body("`[a](iii://gone)`"),
                body("[i](iii://skills)"),
            ],
        ),
        case(
            "L002",
            vec![
                folder("[api](references/gone.md)", api),
                folder("![form](assets/form.png)", api),
                folder("[x](skill://pdf/gone.md)", api),
            ],
            vec![
                folder("[api](references/api.md#part)", api),
                folder("[dir](references/)", api),
                folder("[text](url) and [x](https://example.org)", api),
                folder("```\n[x](gone.md)\n```", api),
                body("[x](gone.md)"),
            ],
        ),
        case(
            "L003",
            vec![
                folder("[api](references/API.md)", api),
                folder("[api](./References/api.md)", api),
            ],
            vec![
                folder("[api](references/api.md)", api),
                folder("[api](references/apis.md)", api),
            ],
        ),
        case(
            "L004",
            vec![folder("[x](../../../x.md)", &[]), body("[bad](iii://Bad)")],
            vec![
                folder("[x](references/api.md)", api),
                body("[ok](https://example.org/../x)"),
            ],
        ),
        case(
            "L005",
            vec![
                body("[o](iii://fn/shop/gone)"),
                body("[o](iii://fn/none/orders)"),
            ],
            vec![
                body("[o](iii://fn/shop/orders)"),
                body("`iii://fn/shop/gone`"),
            ],
        ),
        case(
            "L006",
            vec![
                two("[b](iii://b)", "[a](iii://a)"),
                files(&[
                    ("a.md", "# A\n\n[b](iii://b)"),
                    ("b.md", "# B\n\n[c](iii://c)"),
                    ("c.md", "# C\n\n[a](iii://a)"),
                ]),
            ],
            vec![
                two("[b](iii://b)", "B."),
                two("[a](iii://a)", "B."),
                // The older text is another one.
                two("[b](iii://b@1)", "[a](iii://a)"),
            ],
        ),
        case(
            "R001",
            vec![
                triggers("[the]"),
                triggers("'how to, !!'"),
                triggers("[pdf, please help me]"),
            ],
            vec![triggers("[fill a form]"), triggers("pdf"), body("Text.")],
        ),
        case(
            "R002",
            vec![
                two("Reads files.", "reads FILES"),
                files(&[
                    (
                        "a/SKILL.md",
                        "---\nname: a\ndescription: Use when x.\n---\n# A",
                    ),
                    (
                        "b/SKILL.md",
                        "---\nname: b\ndescription: Use when x.\n---\n# B",
                    ),
                ]),
            ],
            vec![two("Reads PDF files.", "Reads CSV files."), two("", "")],
        ),
        case(
            "R003",
            vec![
                two(
                    "Draws bar charts of numbers in tables.",
                    "Draws bar charts of numbers from tables.",
                ),
                two(
                    "Renames photos by date and camera.",
                    "Renames photos by camera and date taken.",
                ),
            ],
            vec![
                two(
                    "Draws bar charts of numbers in tables.",
                    "Sends mail to customers on Mondays.",
                ),
                two(
                    "Reads PDF forms.",
                    "Compiles Rust programs for embedded boards.",
                ),
            ],
        ),
        case(
            "R004",
            vec![
                notes("# Last\n\nThe last notes."),
                notes("# How\n\nWhat to do."),
            ],
            vec![
                notes("# Invoices\n\nPrints invoices for customers."),
                two(
                    "Reads PDF forms.",
                    "Compiles Rust programs for embedded boards.",
                ),
            ],
        ),
    ]
}
