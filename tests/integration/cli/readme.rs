//! The session in the README, replayed.
#![cfg(unix)]

use super::mistakes::shell;
use super::transcript::Transcript;

#[test]
fn the_session_in_the_readme_is_what_the_program_prints() {
    let readme = include_str!("../../../README.md");
    let section = readme.split("\n## The command line\n").nth(1).unwrap();
    let block = section.split("```console\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    let s = Transcript::new();
    let mut replayed = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        // One stream, in the order in which a terminal shows both.
        let output = shell(&s, &format!("{{ {line}; }} 2>&1"));
        replayed.extend(["$ ", line, "\n", &output.stdout]);
    }
    assert!(replayed.lines().count() > 20, "the session was found");
    snapbox::assert_data_eq!(replayed, snapbox::Data::text(block).raw());
}
