//! Finds scenarios that would not run.
//!
//! The parser takes a mistyped `Scenario:` and the steps below it for a description, and an
//! outline without examples for one scenario.

use std::path::Path;

use cucumber::gherkin::{Feature, GherkinEnv, Scenario};

/// The problems of the feature files in a folder. A file that cannot be parsed is reported by the
/// run.
pub fn lint_features(folder: &Path) -> Vec<String> {
    let files = folder
        .read_dir()
        .expect("the folder of features can be read");
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let mut problems = Vec::new();
    for path in paths {
        let Ok(feature) = Feature::parse_path(&path, GherkinEnv::default()) else {
            continue;
        };
        let found = problems_of(&feature);
        problems.extend(
            found
                .into_iter()
                .map(|problem| format!("{}: {problem}", path.display())),
        );
    }
    problems
}

fn problems_of(feature: &Feature) -> Vec<String> {
    let in_rules = feature.rules.iter().flat_map(|rule| &rule.scenarios);
    let scenarios: Vec<&Scenario> = feature.scenarios.iter().chain(in_rules).collect();
    let mut problems = Vec::new();
    if scenarios.is_empty() {
        problems.push("no scenario".to_owned());
    }
    for scenario in &scenarios {
        let rows = |examples: &cucumber::gherkin::Examples| {
            examples
                .table
                .as_ref()
                .map_or(0, |table| table.rows.len().saturating_sub(1))
        };
        if scenario.keyword.ends_with("Outline") && !scenario.examples.iter().any(|e| rows(e) > 0) {
            problems.push(format!("`{}` has no examples", scenario.name));
        }
    }
    let prose = [feature.description.as_deref()]
        .into_iter()
        .chain(feature.rules.iter().map(|rule| rule.description.as_deref()))
        .chain(
            scenarios
                .iter()
                .map(|scenario| scenario.description.as_deref()),
        );
    let lines = prose.flatten().flat_map(str::lines).map(str::trim);
    let step = |line: &&str| {
        ["Given ", "When ", "Then "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    problems.extend(
        lines
            .filter(step)
            .map(|line| format!("not a step of any scenario: {line}")),
    );
    problems
}
