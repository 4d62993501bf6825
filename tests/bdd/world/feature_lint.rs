//! Finds scenarios that would silently not run.
//!
//! To a parser a mistyped `Scenario:` is prose, and so are the steps below it; an
//! outline without examples is one scenario about nothing.

use std::path::Path;

use cucumber::gherkin::{Feature, GherkinEnv, Scenario};

/// What is wrong with the feature files of a folder. A file that cannot be parsed
/// is left to the run, which reports it.
pub fn lint_features(folder: &Path) -> Vec<String> {
    let files = folder
        .read_dir()
        .expect("the folder of features can be read");
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let mut faults = Vec::new();
    for path in paths {
        let Ok(feature) = Feature::parse_path(&path, GherkinEnv::default()) else {
            continue;
        };
        let found = faults_of(&feature);
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("{}: {fault}", path.display())),
        );
    }
    faults
}

fn faults_of(feature: &Feature) -> Vec<String> {
    let in_rules = feature.rules.iter().flat_map(|rule| &rule.scenarios);
    let scenarios: Vec<&Scenario> = feature.scenarios.iter().chain(in_rules).collect();
    let mut faults = Vec::new();
    if scenarios.is_empty() {
        faults.push("there is no scenario".to_owned());
    }
    for scenario in &scenarios {
        let rows = |examples: &cucumber::gherkin::Examples| {
            examples
                .table
                .as_ref()
                .map_or(0, |table| table.rows.len().saturating_sub(1))
        };
        if scenario.keyword.ends_with("Outline") && !scenario.examples.iter().any(|e| rows(e) > 0) {
            faults.push(format!("`{}` has no examples", scenario.name));
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
    faults.extend(
        lines
            .filter(step)
            .map(|line| format!("not a step of any scenario: {line}")),
    );
    faults
}
