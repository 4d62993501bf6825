//! Large documents that would be slow with a quadratic algorithm: each test only has to end.

use std::fmt::Write as _;

use agent3md::tool_text::{list_skills, resolve_skill};
use agent3md::{Agent, Document, Rule, Template, Values, rewrite_links, validate};

const HEAD: &str = "---\n3md: 1\nagent: a\n---\n@plane z=0 kind=identity\n";
const CAP: usize = 5 * 1024 * 1024;

fn numbered(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().concat()
}

/// Calls every function on a document.
fn exercise(source: &str) -> Agent {
    let agent = Agent::parse(source).expect("the source is an agent");
    validate(source);
    list_skills(&agent);
    agent.route("find the code");
    if let Some(skill) = agent.skills().next() {
        resolve_skill(&agent, skill.z).expect("it is listed");
        rewrite_links(&skill.body, |_| Some(String::new()));
    }
    agent
}

#[test]
fn a_hundred_thousand_planes() {
    let mut source = HEAD.to_owned();
    for z in 1..=100_000 {
        writeln!(
            source,
            "@plane z={z} label=s{z} triggers=\"find, t{z}\"\n[[z={}]] x",
            z + 1
        )
        .unwrap();
    }
    assert!(source.len() > CAP);
    let agent = exercise(&source);
    assert_eq!(agent.skills().len(), 100_000);
    assert_eq!(agent.route("find").len(), 100_000);
    assert_eq!(agent.resolve("s1").unwrap().len(), 100_000);
}

#[test]
fn a_chain_and_a_ring_of_fifty_thousand_links() {
    let mut source = HEAD.to_owned();
    for z in 1..=50_000 {
        writeln!(
            source,
            "@plane z={z} label=s{z} triggers=t\n[[z={}]]",
            z % 50_000 + 1
        )
        .unwrap();
    }
    let agent = exercise(&source);
    assert_eq!(agent.resolve("s1").unwrap().len(), 50_000);
    let report = validate(&source);
    assert_eq!(
        report
            .errors()
            .map(|finding| finding.rule)
            .collect::<Vec<_>>(),
        [Rule::Cycle]
    );
}

#[test]
fn many_unclosed_links() {
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=t\n{}",
        "[[z=1|".repeat(80_000)
    ));
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=t\n{}]",
        "[[z=1|".repeat(80_000)
    ));
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=t\n[[z={}",
        "1".repeat(CAP)
    ));
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=t\n{}",
        "[[z=1.".repeat(CAP / 6)
    ));
}

#[test]
fn a_hundred_thousand_dead_links_on_one_line() {
    let source = format!("{HEAD}{}", "[[z=9]]".repeat(300_000));
    let report = validate(&source);
    assert_eq!(report.findings.len(), 300_000);
    assert_eq!(report.findings[299_999].at.column, 299_999 * 7 + 1);
}

#[test]
fn one_line_of_five_mebibytes() {
    for line in ["x", " ", "a ", "é", "\r", "`", "搜", "[", "{a", "\u{A0}"] {
        exercise(&format!(
            "{HEAD}@plane z=1 label=a triggers=t\n{}",
            line.repeat(CAP / line.len())
        ));
    }
    let spaces = " ".repeat(CAP);
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=\"x{spaces}y\" tool=\"a{spaces}b\""
    ));
    exercise(&format!("{HEAD}@plane z=1 label=a{spaces}triggers=t"));
    exercise(&format!(
        "{HEAD}@plane z=1 label=\"{}\" triggers=t",
        "\\\"".repeat(CAP / 2)
    ));
    exercise(&format!("---\n3md: 1\nagent: x{spaces}y\n---\n@plane z=0"));
}

#[test]
fn a_directive_of_five_mebibytes() {
    let attributes = numbered(400_000, |n| format!(" k{n}=1"));
    exercise(&format!("{HEAD}@plane z=1 label=a{attributes}"));
    exercise(&format!(
        "{HEAD}@plane z=1 label=a triggers=\"{}\"",
        "find, ".repeat(CAP / 6)
    ));
    let inputs = numbered(300_000, |n| format!("i{n}:x,"));
    let placeholders = numbered(300_000, |n| format!("{{i{n}}}"));
    exercise(&format!(
        "{HEAD}@plane z=1 label=a inputs=\"{inputs}\" tool=\"rg {placeholders}\""
    ));
    Document::parse(&format!("{HEAD}@plane z=1 {}", "k".repeat(CAP))).unwrap_err();
    Document::parse(&format!("{HEAD}@plane z=1 k=\"{}", "k".repeat(CAP))).unwrap_err();
    Document::parse(&format!("{HEAD}@plane z={}", "1".repeat(CAP))).unwrap_err();
}

#[test]
fn a_request_or_a_template_of_five_mebibytes() {
    let agent = Agent::parse(&format!("{HEAD}@plane z=1 label=a triggers=\"find code\"")).unwrap();
    assert_eq!(agent.route(&"code find ".repeat(CAP / 10)).len(), 1);
    let values = Values::from([("a".to_owned(), "'".repeat(1000))]);
    Template::parse(&"{a".repeat(CAP / 2))
        .line(&values)
        .unwrap();
    Template::parse(&"{a}".repeat(1000)).argv(&values).unwrap();
}
