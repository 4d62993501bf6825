//! Tables in the README equal tables in the code.

use std::path::Path;

use skills::config::Config;
use skills_api::TRIGGER_TYPES;
use skills_files::{Sources, places};

/// The first cells of the table under a heading, without backticks.
fn first_cells(readme: &str, heading: &str) -> Vec<String> {
    let section = readme
        .split(&format!("\n{heading}\n"))
        .nth(1)
        .expect("the README has the heading");
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.filter_map(|row| row.split('|').nth(1))
        .map(|cell| cell.trim().replace('`', ""))
        .collect()
}

#[test]
fn the_readme_lists_every_function_and_trigger_type() {
    let readme = include_str!("../../README.md");
    let functions: Vec<_> = skills_api::functions()
        .map(|function| function.id)
        .collect();
    assert_eq!(first_cells(readme, "### Functions"), functions);
    let types: Vec<_> = TRIGGER_TYPES.iter().map(|kind| kind.id).collect();
    assert_eq!(first_cells(readme, "### Trigger types"), types);
}

#[test]
fn the_readme_lists_every_document() {
    let readme = include_str!("../../README.md");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = std::fs::read_dir(docs).unwrap().map(|file| file.unwrap());
    // Pictures are part of documents.
    let files = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "md"));
    let mut names: Vec<_> = files
        .map(|file| file.file_name().into_string().unwrap())
        .collect();
    names.sort();
    let listed = first_cells(readme, "## More").into_iter();
    let mut listed: Vec<_> = listed
        .filter_map(|cell| {
            Some(
                cell.split_once("](docs/")?
                    .1
                    .trim_end_matches(')')
                    .to_owned(),
            )
        })
        .collect();
    listed.sort();
    assert_eq!(listed, names);
}

#[test]
fn the_readme_lists_every_place_where_agents_keep_skills() {
    let readme = include_str!("../../README.md");
    let row = |scope: &str| {
        let start = format!("| {scope} | ");
        let row = readme.lines().find_map(|line| line.strip_prefix(&start));
        let cells = row.expect("the README has the row").trim_end_matches(" |");
        cells.replace('`', "")
    };
    let all = places(Path::new("project"), Some(Path::new("home")));
    for (scope, folder) in [("project", "project"), ("home directory", "home")] {
        let below = all
            .iter()
            .filter_map(|place| place.strip_prefix(folder).ok());
        let shown = below.map(|place| place.display().to_string().replace('\\', "/"));
        assert_eq!(row(scope), shown.collect::<Vec<_>>().join(", "));
    }
}

#[tokio::test]
async fn every_file_of_the_example_folder_is_served() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/folder/config.yaml");
    let loaded = Config::load(&path);
    assert_eq!(loaded.warnings, [""; 0]);
    let config = loaded.config;
    let sources = Sources::new(&loaded.base, &config.skills, &config.prompts, &[]);
    let report = sources.report().await.expect("the disk can be read");
    let report = report.folder.expect("there are patterns");
    let skills: Vec<_> = report.skills.iter().map(|file| &*file.name).collect();
    assert_eq!(skills, ["house", "house/style"]);
    assert_eq!(report.prompts[0].name, "open-pr");
    assert_eq!(report.prompts[0].warnings, [""; 0]);
    assert_eq!(report.skipped, []);
}

#[test]
fn the_example_agent_is_valid() {
    let text = include_str!("../../examples/agent.3md");
    assert_eq!(agent3md::validate(text).findings, []);
}
