//! Folders that are served without a pattern.

use std::path::PathBuf;

use super::*;
use crate::Folders;

const SKILL: &str = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n";
const AGENT: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";

fn sources(disk: &Disk, named: &[&str], places: &[&str]) -> Sources {
    let paths = |names: &[&str]| names.iter().map(|name| disk.path(name)).collect::<Vec<_>>();
    let folders = Folders {
        named: paths(named),
        places: paths(places),
    };
    Sources::with_folders(&disk.path(""), [&[]; 3], &folders)
}

fn served(sources: &Sources) -> Vec<(String, PathBuf)> {
    let report = block_on(sources.report()).unwrap();
    let skills = report.folder.unwrap_or_default().skills.into_iter();
    let mut served: Vec<_> = skills.map(|skill| (skill.name, skill.path)).collect();
    let documents = report.agents.unwrap_or_default().documents.into_iter();
    served.extend(documents.map(|agent| (agent.agent, agent.path)));
    served
}

fn ids(sources: &Sources) -> Vec<String> {
    served(sources).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn a_folder_has_skill_folders_markdown_and_documents() {
    let disk = Disk::with(&[]);
    disk.write("docs/pdf/SKILL.md", SKILL);
    disk.write("docs/pdf/scripts/run.py", "print()");
    disk.write("docs/house/style.md", "# Style");
    disk.write("docs/dev.3md", AGENT);
    disk.write("docs/pdf/agents/other.3md", AGENT);
    disk.write("docs/.git/x.md", "# Hidden");
    disk.write("docs/node_modules/x/readme.md", "# Package");
    disk.write("docs/README.md", "# About the folder");
    disk.write("docs/THIRD_PARTY-2.md", "# Notices");
    let all = sources(&disk, &["docs"], &[]);
    let report = block_on(all.report()).unwrap();
    assert_eq!(report.folder.unwrap().skipped, []);
    assert_eq!(ids(&all), ["house/style", "pdf", "dev"]);
    let read = |id: &str| block_on(all.skill(&id.parse().unwrap())).unwrap();
    assert_eq!(read("pdf").as_deref(), Some("# PDF\n"));
    assert_eq!(read("house/style").as_deref(), Some("# Style"));
    assert_eq!(read("node_modules/x/readme"), None);
    // A folder that is a skill has its name as id, and a document is served alone.
    assert_eq!(ids(&sources(&disk, &["docs/pdf"], &[])), ["pdf"]);
    assert_eq!(ids(&sources(&disk, &["docs/dev.3md"], &[])), ["dev"]);
}

#[test]
fn the_first_folder_wins_and_the_others_are_reported() {
    let disk = Disk::with(&[]);
    for folder in ["z", "a", "b"] {
        disk.write(
            &format!("{folder}/pdf/SKILL.md"),
            format!("{SKILL}{folder}"),
        );
    }
    let all = sources(&disk, &["z"], &["a", "b"]);
    assert_eq!(
        served(&all),
        [("pdf".to_owned(), disk.path("z/pdf/SKILL.md"))]
    );
    let body = block_on(all.skill(&"pdf".parse().unwrap())).unwrap();
    assert!(body.unwrap().ends_with('z'));
    let skipped = block_on(all.report()).unwrap().folder.unwrap().skipped;
    let places: Vec<_> = skipped.iter().map(|skipped| &*skipped.place).collect();
    let expected = ["a", "b"].map(|at| disk.path(&format!("{at}/pdf/SKILL.md")));
    assert_eq!(places, expected.map(|path| path.display().to_string()));
    let first = disk.path("z/pdf/SKILL.md").display().to_string();
    assert!(skipped[0].reason.contains(&first), "{skipped:?}");
}

#[test]
fn a_place_has_skill_folders_only_and_need_not_exist() {
    let disk = Disk::with(&[]);
    disk.write("a/pdf/SKILL.md", SKILL);
    disk.write("a/notes.md", "# Notes");
    let all = sources(&disk, &[], &["a", "none"]);
    assert_eq!(ids(&all), ["pdf"]);
    let report = block_on(all.report()).unwrap().folder.unwrap();
    assert_eq!(report.skipped, []);
    let patterns: Vec<_> = report.skill_patterns.iter().map(|m| m.files).collect();
    assert_eq!(patterns, [1], "a place that does not exist is not shown");
    disk.write("none/new/SKILL.md", SKILL);
    assert_eq!(ids(&all), ["pdf", "new"]);
}

#[cfg(unix)]
#[test]
fn a_link_from_one_place_to_another_is_no_problem() {
    use std::os::unix::fs::symlink;
    let disk = Disk::with(&[]);
    disk.write("a/pdf/SKILL.md", SKILL);
    disk.write("b/own/SKILL.md", SKILL);
    disk.write("elsewhere/x/SKILL.md", SKILL);
    symlink(disk.path("a/pdf"), disk.path("b/pdf")).unwrap();
    symlink(disk.path("elsewhere/x"), disk.path("b/x")).unwrap();
    symlink(disk.path("a"), disk.path("c")).unwrap();
    let all = sources(&disk, &[], &["a", "b", "c"]);
    assert_eq!(ids(&all), ["pdf", "own"]);
    let skipped = block_on(all.report()).unwrap().folder.unwrap().skipped;
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert!(skipped[0].place.ends_with("b/x"), "{skipped:?}");
}
