//! Random texts that are almost documents, which is where parsers have defects.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Pieces with a meaning in the format, and near misses.
const PIECES: &[&str] = &[
    "---",
    "---\n",
    "\n---\n",
    "3md: 1.0\n",
    "3MD: 1\n",
    "axis: Time\n",
    "axis:\n",
    "title: \"A \\\"b\\\"\"\n",
    "title:\n",
    "Title: x\n",
    "agent: dev\n",
    "tools: rg, git\n",
    "entry: 1\n",
    "# note\n",
    ": empty key\n",
    "key\n",
    "@plane",
    "@plane z=1",
    "@plane z=2 label=\"search\"",
    "@plane z=1 kind=identity\n",
    "@plane z=3 triggers=\"find, Suche\" inputs=\"a:string, b?\" tool=\"rg {a} {b}\"\n",
    "\n@plane z=",
    "@planex z=1\n",
    "@PLANE z=1\n",
    " @plane z=1\n",
    "@plane\tz=4\n",
    "@plane\r\n",
    "z=",
    "x=1.5 ",
    "y=-.5e1 ",
    "Z=+7. ",
    "z=1e400 ",
    "z=-0 ",
    "z=0 ",
    "z=0.0 ",
    "label=",
    "LABEL='a b' ",
    "É=1 ",
    "İ=1 ",
    "Σ=2 ",
    "a\"b c\"d=1 ",
    "=1 ",
    "q=\"\\\"\" ",
    "'",
    "\"",
    "\\",
    "=",
    ":",
    "#",
    "```",
    "```\n",
    "````\n",
    "~~~\n",
    "  ```rust\n",
    "`",
    "~",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\u{FEFF}",
    "\u{A0}",
    "\u{85}",
    "\u{2028}",
    "\" =",
    "= \"",
    "=\t",
    "[[z=1]]",
    "[[z=2|see]]",
    "[[z=1|",
    "]]",
    "]",
    "|",
    "[[z=1.5]]",
    "[[z=-1]]",
    "{a}",
    "'{a}'",
    "\"{a}\"",
    "1",
    "0",
    "text",
    "é",
    "搜索",
    "😀",
    "\u{301}",
    "ΟΔΟΣ",
];

/// A document that uses most of the format, to be mutated.
const WHOLE: &str = "---\n3md: 1.0\ntitle: \"Dev\"\nagent: dev\ntools: rg, git\n---\n\npreamble\n\n\
    @plane z=0 label=\"me\" kind=identity\nI am.\n\n@plane z=1 label=\"search\" kind=skill \
    triggers=\"search, find code\" inputs=\"pattern:string, path:string?\" \
    tool=\"rg {pattern} {path}\" cost=low\n\n  Look.\n```\n@plane z=9\n```\nSee [[z=2|edit]].\n\n\
    @plane z=2.5 x=1 y=-2 label='edit'\nBack to [[z=1]].\n";

/// Random pieces, mutated documents, or arbitrary characters.
pub fn text() -> impl Strategy<Value = String> {
    let pieces = || vec(select(PIECES), 0..24).prop_map(|pieces| pieces.concat());
    let headed = pieces().prop_map(|rest| format!("---\n3md: 1.0\n---\n{rest}"));
    let titled =
        (pieces(), pieces()).prop_map(|(head, rest)| format!("---\n3md: 1\n{head}\n---\n{rest}"));
    let planes = vec((pieces(), pieces()), 0..5).prop_map(|planes| {
        let planes = planes.iter().enumerate();
        let planes: Vec<_> = planes
            .map(|(z, (a, b))| format!("@plane z={z} {a}\n{b}\n"))
            .collect();
        let text = planes.concat();
        format!("---\n3md: 1\n---\n{text}")
    });
    prop_oneof![
        1 => any::<String>(),
        2 => pieces(),
        4 => headed,
        3 => titled,
        4 => planes,
        4 => edited(),
    ]
}

/// The document with a few ranges replaced, duplicated or removed.
fn edited() -> impl Strategy<Value = String> {
    let edit = (
        any::<prop::sample::Index>(),
        0..12_usize,
        vec(select(PIECES), 0..3),
    );
    (vec(edit, 0..6), any::<bool>()).prop_map(|(edits, crlf)| {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (at, length, pieces) in edits {
            let start = at.index(text.len() + 1);
            let end = (start + length).min(text.len());
            text.splice(start..end, pieces.concat().chars());
        }
        let text: String = text.into_iter().collect();
        if crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    })
}
