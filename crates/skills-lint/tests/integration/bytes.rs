//! Any bytes end in findings, without a panic and in limited time.

use proptest::prelude::*;
use skills_core::LintSettings;
use skills_lint::{check, check_text};

use super::collection;

/// Pieces from which rules are made, so that random texts reach them.
const PIECES: &[&str] = &[
    "---\n",
    "name: ",
    "description: ",
    "\t",
    "\r\n",
    "\u{feff}",
    "<!--",
    "-->",
    "data:text/html,",
    "base64,",
    "curl ",
    "| sh",
    "$(",
    "`",
    "```\n",
    "[a](",
    ")",
    "iii://",
    "skill://",
    "://1.2.3.4",
    "ignore ",
    "all ",
    "previous ",
    "instructions",
    "\u{200b}",
    "\u{202e}",
    "\u{e0041}",
    "\u{fe01}",
    "&#105;",
    "\\u{69",
    "%6",
    "<b",
    "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM=",
    "AKIA",
    "-----BEGIN PRIVATE KEY-----",
    "skills-lint-allow ",
    "T008",
    ": ",
    "\n",
    "é",
    "а",
    "\0",
    "allowed-tools: ",
    "Bash(",
    "@plane z=0\n",
    "[[z=1]]",
    "-o x ",
    "./x",
    "[//]:",
    "triggers: [",
    "]",
    "'",
    "\"",
    "://",
    "[",
    "0x",
    "3md: 1.0\n",
];

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_end_in_findings(document in pieces(), bundled in pieces()) {
        for main in ["a/SKILL.md", "a.md", "a.3md"] {
            let files = vec![
                (main.to_owned(), document.clone()),
                ("a/b.md".to_owned(), bundled.clone()),
                ("a/c.sh".to_owned(), bundled.clone()),
            ];
            let collection = collection(&files);
            for finding in check(&collection, &LintSettings::default()).all {
                prop_assert!(finding.at.line > 0 && finding.at.column > 0);
                prop_assert!(!finding.message.contains('\n'), "{}", finding.message);
                let safe = skills_core::escape_control(&finding.message);
                prop_assert_eq!(&*safe, &*finding.message);
            }
        }
    }

    #[test]
    fn any_text_can_be_registered(text in ".{0,200}") {
        check_text(None, &text, &LintSettings::default());
    }
}

#[test]
fn control_characters_of_a_text_are_escaped_in_messages() {
    let text = "---\nname: a\nallo\twed: Read Bash: Write\n---\n# A\n";
    let found = check_text(None, text, &LintSettings::default()).all;
    let quoting = found.iter().find(|finding| finding.message.contains("wed"));
    let message = &quoting.expect("the key is a finding").message;
    assert!(message.contains(r"allo\twed"), "{message}");
}
