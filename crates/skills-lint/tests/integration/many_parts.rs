//! Texts of many parts, where a rule that reads something again for each part does not end.

use std::fmt::Write;

use skills_core::LintSettings;
use skills_lint::{Collection, File, Findings, Kind, Skill, check};

use super::{Files, files, folder, front, lint};

/// How many findings of a rule there are, those that are only counted included.
fn count(files: &Files, code: &str) -> usize {
    count_in(&lint(files), code)
}

fn count_in(findings: &Findings, code: &str) -> usize {
    let found = findings
        .all
        .iter()
        .filter(|finding| finding.rule.code == code);
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

#[test]
fn a_chain_of_skills_whose_last_links_to_all_before_it() {
    let skills = 5_000;
    let mut chain = Collection::default();
    for number in 0..skills {
        let links = if number + 1 < skills {
            format!("[x](iii://s{})", number + 1)
        } else {
            each(0..number, |number| {
                format!("[x](iii://s{number})\n").repeat(20)
            })
        };
        let text = format!("# Title\n\n{links}\n");
        chain.skills.push(Skill {
            id: format!("s{number}").parse().ok(),
            kind: Kind::Markdown,
            document: File::new("a.md", &text),
            bundled: Vec::new(),
        });
    }
    let findings = check(&chain, &LintSettings::default());
    assert_eq!(count_in(&findings, "L006"), skills - 1);
}

#[test]
fn a_link_of_a_cycle_that_is_written_twice_is_reported_once() {
    let files = files(&[
        ("a.md", "# A\n\n[b](iii://b) [b](iii://b)"),
        ("b.md", "# B\n\n[a](iii://a) [a](iii://a)"),
    ]);
    assert_eq!(count(&files, "L006"), 1);
}

#[test]
fn a_folder_of_dead_links_with_long_names() {
    let name = |letters: &str, number: usize| format!("{}{number:05}.md", letters.repeat(55));
    let files = (0..200).map(|file| {
        let links = each(0..50, |link| format!("[x]({})\n", name("ab", link)));
        (format!("pdf/{}", name("ba", file)), links.into())
    });
    let mut files: Files = files.collect();
    files.extend(folder("# PDF", &[]));
    assert_eq!(count(&files, "L002"), 200 * 50);
}

#[test]
fn images_inside_each_other_in_the_wrong_case() {
    let images = format!("{}a{}", "![".repeat(50_000), "](&#65;.md)".repeat(50_000));
    let files = folder(&images, &[("pdf/a.md", "Text.")]);
    assert_eq!(count(&files, "L003"), 50_000);
}
