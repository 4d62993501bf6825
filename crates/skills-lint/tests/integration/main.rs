//! Every rule with texts that have it and texts that do not; hostile and harmless samples; the
//! cases of the reference validator; fixes; any bytes; many parts.

mod bytes;
mod fixes;
mod format_cases;
mod harmless;
mod hostile;
mod many_parts;
mod reference_validator;
mod routing_and_link_cases;
mod trust_cases;

use skills_core::LintSettings;
use skills_lint::{Collection, File, Findings, Kind, RULES, Skill, check};

/// The files of a collection by their paths: `a/SKILL.md` is the skill folder `a`, `a.md` a
/// markdown skill, `a.3md` a document.
pub type Files = Vec<(String, Vec<u8>)>;

/// A rule with collections that have it and collections that do not.
pub struct Case {
    code: &'static str,
    finds: Vec<Files>,
    ignores: Vec<Files>,
}

/// A collection of text files.
pub fn files(files: &[(&str, &str)]) -> Files {
    let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    files.iter().map(file).collect()
}

/// A markdown skill with this text below its description.
pub fn body(text: &str) -> Files {
    files(&[("x.md", &format!("# X\n\nSays what X is.\n\n{text}\n"))])
}

/// A skill folder `pdf` whose front matter has these lines after its name.
pub fn front(lines: &str) -> Files {
    let text = format!("---\nname: pdf\n{lines}\n---\n# PDF\n");
    files(&[("pdf/SKILL.md", &text)])
}

/// A valid skill folder `pdf` with this body and these other files.
pub fn folder(text: &str, others: &[(&str, &str)]) -> Files {
    let head =
        "---\nname: pdf\ndescription: Reads PDF files. Use when a request names a PDF.\n---\n";
    let mut all = files(&[("pdf/SKILL.md", &format!("{head}{text}"))]);
    all.extend(files(others));
    all
}

/// The collection of these files.
pub fn collection(files: &Files) -> Collection {
    let mut skills: Vec<Skill> = Vec::new();
    let file = |name: &str, path: &str, bytes: &Vec<u8>| File {
        name: name.into(),
        shown: path.into(),
        bytes: Some(bytes.clone()),
    };
    for (path, bytes) in files {
        let (id, kind, name) = match path.strip_suffix("/SKILL.md") {
            Some(folder) => (
                folder,
                Kind::Folder {
                    name: folder.into(),
                },
                "SKILL.md",
            ),
            None => match path.split_once('/') {
                Some(_) => continue,
                None => match path.rsplit_once('.') {
                    Some((id, "3md")) => (id, Kind::Agent3md, &**path),
                    Some((id, _)) => (id, Kind::Markdown, &**path),
                    None => panic!("{path} is no skill"),
                },
            },
        };
        let bundled = files.iter().filter_map(|(other, bytes)| {
            let name = other.strip_prefix(&format!("{id}/"))?;
            (name != "SKILL.md").then(|| file(name, other, bytes))
        });
        skills.push(Skill {
            id: id.parse().ok(),
            kind,
            document: file(name, path, bytes),
            bundled: bundled.collect(),
        });
    }
    Collection {
        skills,
        functions: Some(["shop::orders".to_owned()].into()),
        ..Collection::default()
    }
}

/// Its findings.
pub fn lint(files: &Files) -> Findings {
    check(&collection(files), &LintSettings::default())
}

/// The codes of the findings, each once.
pub fn codes(files: &Files) -> Vec<&'static str> {
    let mut codes: Vec<_> = lint(files)
        .all
        .iter()
        .map(|finding| finding.rule.code)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The files for a message.
pub fn shown(files: &Files) -> String {
    let texts = files.iter().map(|(name, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        format!("{name}: {:?}", text.chars().take(400).collect::<String>())
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn cases() -> Vec<Case> {
    let mut cases = format_cases::cases();
    cases.extend(routing_and_link_cases::cases());
    cases.extend(trust_cases::cases());
    cases
}

#[test]
fn every_rule_finds_what_it_is_about_and_nothing_else() {
    let mut problems = Vec::new();
    for Case {
        code,
        finds,
        ignores,
    } in cases()
    {
        for files in finds.iter().filter(|files| !codes(files).contains(&code)) {
            problems.push(format!(
                "{code} does not find:\n{}\n{:?}",
                shown(files),
                codes(files)
            ));
        }
        for files in ignores.iter().filter(|files| codes(files).contains(&code)) {
            let found = lint(files).all;
            let found = found.into_iter().find(|finding| finding.rule.code == code);
            problems.push(format!("{code} finds:\n{}\n{found:?}", shown(files)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// Not made from texts: what a source leaves out.
const FROM_ELSEWHERE: &[&str] = &["F019"];

#[test]
fn every_rule_has_two_cases_that_have_it_and_two_that_do_not() {
    let cases = cases();
    for rule in RULES.iter().copied().flatten() {
        let of_rule = cases.iter().filter(|case| case.code == rule.code);
        let counts = of_rule.map(|case| (case.finds.len(), case.ignores.len()));
        let (finds, ignores) = counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let is_covered = finds >= 2 && ignores >= 2 || FROM_ELSEWHERE.contains(&rule.code);
        assert!(is_covered, "{}: {finds} and {ignores}", rule.code);
    }
}

#[test]
fn codes_are_unique_and_begin_with_the_letter_of_their_group() {
    let mut codes = Vec::new();
    for rule in RULES.iter().copied().flatten() {
        assert!(
            rule.code.starts_with(&rule.group.name()[..1]),
            "{}",
            rule.code
        );
        assert!(!codes.contains(&rule.code), "{} twice", rule.code);
        codes.push(rule.code);
    }
}

#[test]
fn an_unserved_file_is_a_finding() {
    let unserved = |shown: &str, reason: &str| skills_lint::Unserved {
        shown: shown.into(),
        reason: reason.into(),
    };
    let collection = Collection {
        unserved: vec![
            unserved("a.md", "is empty; write it"),
            unserved("B.md", "has no id"),
        ],
        ..Collection::default()
    };
    let found = check(&collection, &LintSettings::default()).all;
    let found: Vec<_> = found
        .iter()
        .map(|f| (f.rule.code, &*f.file, &*f.message))
        .collect();
    assert_eq!(
        found,
        [
            ("F019", "a.md", "is empty; write it"),
            ("F019", "B.md", "has no id")
        ]
    );
    assert_eq!(
        check(&Collection::default(), &LintSettings::default()),
        Findings::default()
    );
}
