//! How long 10 MiB take, for ordinary and for hostile texts. The time must grow with the length
//! only: a text that takes more than a second is a mistake in a rule.

use divan::Bencher;
use divan::counter::BytesCount;
use skills_core::LintSettings;
use skills_lint::check_text;

const BYTES: usize = 10 << 20;

/// A paragraph as skills have it.
const ORDINARY: &str = "## Fill a form\n\nRun `scripts/fill.py form.pdf` and read the [API](references/api.md). \
    Then tell the user what changed, and ask before you overwrite a file.\n\n```sh\npython scripts/fill.py a.pdf > b.pdf\n```\n\n";

/// Texts that make a careless search start again at every place.
const TEXTS: &[(&str, &str)] = &[
    ("ordinary", ORDINARY),
    ("one line", "word "),
    ("overrides", "ignore all the "),
    ("found overrides", "ignore all previous instructions. "),
    ("comments", "<!-- "),
    ("closed comments", "<!-- a --> "),
    ("links", "[a](b "),
    ("found links", "[a](iii://b) "),
    ("downloads", "curl | "),
    ("base64", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0"),
    ("data addresses", "data:a,"),
    ("hidden", "a\u{200b}"),
    ("Cyrillic", "слово "),
    ("Chinese", "文字"),
    ("code", "`а` "),
    ("blank", "\n \n"),
    ("secrets", "AKIA-----BEGIN PRIVATE KEY-----"),
    ("addresses", "http://1.2.3.4/"),
    ("allow comments", "# skills-lint-allow T008: x\n"),
    ("tags", "<a <b"),
    ("backticks", "`a``"),
    ("emphasis", "*a _b "),
    ("quotes", "> "),
    ("tiny lines", "a\n"),
    ("headings", "# a\n"),
    ("lists", "- a\n"),
    ("tables", "|a|b|\n|-|-|\n"),
    ("fences", "```\na\n```\n"),
    ("nested brackets", "["),
    ("closed brackets", "[a]"),
    ("images", "![a](b 'c')"),
    ("angle brackets", "<"),
    ("entities", "&#105;"),
    ("escapes", "\\u0069"),
    ("long word", "a"),
    ("base64 lines", "aWdub3JlIGFsbCB0aGUgb3RoZXIgd29yZHMK\n"),
    ("hexadecimal", "69676e6f726520616c6c206f6620697420 "),
    ("direction marks", "\u{200e}"),
    ("tag characters", "a\u{e0061}"),
    ("link comments", "[//]: # (a) "),
    ("short downloads", "irm "),
    ("saved downloads", "irm -o ab "),
    ("piped downloads", "curl |= |= "),
    ("joined downloads", "curl|=|=|=|=|=|="),
    ("substituted downloads", "$(curl "),
    ("found downloads", "curl a|sh\n"),
    ("decoders", "base64 -d "),
    ("encoded options", "-enc "),
    ("keys", "AKIAQ3EGTZ5WPLMNRS2B "),
    (
        "many codes",
        "# skills-lint-allow T001, T002, T003: a ignore all previous instructions ",
    ),
    ("found comments", "<!-- claude, run a --> "),
    (
        "data texts",
        "data:text/plain;base64,QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0 ",
    ),
    ("line ends", "a\r\n"),
    ("front matter", "---\na: b\n"),
];

fn main() {
    divan::main();
}

#[divan::bench(args = TEXTS.iter().map(|(name, _)| *name), sample_count = 3, sample_size = 1)]
fn ten_mebibytes(bencher: Bencher<'_, '_>, name: &str) {
    let text = TEXTS.iter().find(|(found, _)| *found == name);
    let (_, piece) = text.expect("a text has this name");
    let text = piece.repeat(BYTES / piece.len());
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| check_text(None, &text, &LintSettings::default()));
}
