//! `docs/limits.md` equals the table of limits, and the table names every limit and setting.

use std::fs;
use std::path::Path;

use skills::config::Config;
use skills::limits::{LIMITS, to_markdown};
use snapbox::{Assert, Data};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_page_is_written_from_the_table() {
    let page = Data::read_from(&root().join("docs/limits.md"), None).raw();
    Assert::new()
        .action_env("SNAPSHOTS")
        .eq(Data::text(to_markdown()).raw(), page);
}

#[test]
fn the_table_names_every_constant() {
    let table = include_str!("../../src/limits.rs");
    let mut count = 0;
    for package in fs::read_dir(root().join("crates")).unwrap() {
        let path = package.unwrap().path().join("src/limits.rs");
        let Ok(constants) = fs::read_to_string(&path) else {
            continue;
        };
        for line in constants.lines() {
            let Some(rest) = line.strip_prefix("pub const ") else {
                continue;
            };
            let (name, _) = rest.split_once(':').unwrap();
            let named = table.contains(&format!("::{name}"));
            assert!(named, "{} is not in src/limits.rs: {name}", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "only {count} constants were found");
}

#[test]
fn the_table_names_every_setting_and_no_other() {
    let config = serde_json::to_value(Config::default()).unwrap();
    let settings = config["limits"].as_object().unwrap().keys();
    let settings = settings.map(|name| format!("limits.{name}"));
    let index = config["index"].as_object().unwrap().keys();
    let index = index.map(|name| format!("index.{name}"));
    let settings: Vec<_> = index.chain(settings).collect();
    let limits = LIMITS.iter().flat_map(|(_, limits)| *limits);
    let mut named: Vec<_> = limits
        .filter_map(|limit| limit.setting)
        .map(|name| name.split(' ').next().unwrap().to_owned())
        .collect();
    named.sort();
    assert_eq!(named, settings);
}
