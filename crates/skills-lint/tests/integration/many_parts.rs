//! Texts of many parts, where a rule that reads something again for each part does not end.

use std::fmt::Write;

use super::{Files, folder, front, lint};

/// How many findings of a rule there are, those that are only counted included.
fn count(files: &Files, code: &str) -> usize {
    let found = lint(files).all;
    let found = found.iter().filter(|finding| finding.rule.code == code);
    let counts = found.map(|finding| {
        let rest = finding.message.strip_suffix(" more in this file");
        let more = rest.and_then(|rest| rest.rsplit(' ').next());
        1 + more.map_or(0, |more| more.parse::<usize>().expect("a number"))
    });
    counts.sum()
}

/// A text for each number, joined.
fn each(numbers: std::ops::Range<usize>, text: impl Fn(usize) -> String) -> String {
    numbers.fold(String::new(), |mut all, number| {
        let _ = write!(all, "{}", text(number));
        all
    })
}

#[test]
fn as_many_tools_as_lines() {
    let lines = "#\n".repeat(16_000);
    let tools = "* ".repeat(16_000);
    let files = front(&format!("{lines}allowed-tools: \"{tools}\""));
    assert_eq!(count(&files, "T014"), 16_000);
}

#[test]
fn a_title_of_many_words_that_every_skill_is_compared_with() {
    let title = each(0..30_000, |number| format!("w{number:06} "));
    let mut files: Files = vec![("long.md".into(), format!("# {title}\n\nText.").into())];
    for number in 0..500 {
        let text = format!("# w{number:06}\n\nFirst{number} second{number} third{number}.");
        files.push((format!("s{number}.md"), text.into()));
    }
    assert_eq!(count(&files, "R003"), 0);
}

#[test]
fn files_of_a_folder_that_all_lead_to_others() {
    let name = |number: usize| format!("{}{number:03}.md", "u".repeat(60));
    let links = each(0..250, |number| format!("[x]({})\n", name(number)));
    let linked = each(0..250, |number| format!("[x](linked{number}.md)\n"));
    let text = format!("{linked}{}", "u".repeat(220_000));
    let mut files = folder(&text, &[]);
    for number in 0..250 {
        files.push((format!("pdf/linked{number}.md"), links.clone().into()));
        files.push((format!("pdf/{}", name(number)), "Text.".into()));
    }
    assert_eq!(count(&files, "F015"), 250 * 250);
}
