//! `docs/lint.md` is written from the table of rules.

use std::path::Path;

use skills_lint::rules_document;
use snapbox::{Assert, Data};

#[test]
fn the_page_is_written_from_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lint.md");
    let page = Data::read_from(&path, None).raw();
    let text = page.to_string();
    // What people write is before the rules.
    let (head, _) = text
        .split_once("## Format\n")
        .expect("the page lists the rules");
    Assert::new().action_env("SNAPSHOTS").eq(
        Data::text(format!("{head}{}", rules_document())).raw(),
        page,
    );
}
