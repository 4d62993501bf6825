//! Tables in the README equal tables in the code.

use skills::functions::{FUNCTIONS, TRIGGER_TYPES};

/// The first cells of the table under a heading, without code marks.
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
    let readme = include_str!("../README.md");
    let functions: Vec<_> = FUNCTIONS.iter().map(|function| function.id).collect();
    assert_eq!(first_cells(readme, "### Functions"), functions);
    let types: Vec<_> = TRIGGER_TYPES.iter().map(|kind| kind.id).collect();
    assert_eq!(first_cells(readme, "### Trigger types"), types);
}
