//! The findings for people: in groups, with paths below the current directory as relative ones.

use std::path::{MAIN_SEPARATOR, Path};

use skills_api::doctor::{DoctorOutput, FindingEntry};
use skills_core::{FindingGroup, escape_control};

use crate::app::{Checkup, Subject};
use crate::cli::humanize::count;

/// The groups with their findings, then what was examined.
pub fn report(checkup: &Checkup) -> String {
    let Checkup { subject, output } = checkup;
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let mut text = String::new();
    for group in FindingGroup::ALL {
        let entries = output.findings.iter().chain(&output.well);
        let mut entries = entries
            .filter(|entry| entry.group == group.as_str())
            .peekable();
        if entries.peek().is_none() {
            continue;
        }
        text.push_str(group.title());
        text.push('\n');
        for FindingEntry { place, reason, .. } in entries {
            let line = format!("{place}: {reason}");
            let line = here
                .as_ref()
                .map_or(line.clone(), |here| relative(&line, here));
            text.push_str("  ");
            text.push_str(&escape_control(&line));
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str(&escape_control(&summary(subject, output)));
    text.push('\n');
    text
}

fn summary(subject: &Subject, output: &DoctorOutput) -> String {
    let problems = match output.problems {
        0 => "no problem".to_owned(),
        problems => count(problems, "problem"),
    };
    let counted = |number: Option<usize>, what: &str| match number {
        Some(number) => count(number, what),
        None => format!("{what}s that cannot be counted"),
    };
    let skills = counted(output.skills, "skill");
    let prompts = counted(output.prompts, "prompt");
    let checked = match subject {
        Subject::Registry(url) => format!("the registry at {url}"),
        Subject::Engine(url) => format!("the files here, and the rows of the engine at {url}"),
        Subject::Directory { url, dir } => {
            let dir = dir
                .as_deref()
                .map_or(Path::new("no data directory"), |dir| dir);
            let idle = url.as_ref().map(|url| format!(" (no registry at {url})"));
            let idle = idle.unwrap_or_default();
            format!("the files here, and {}{idle}", dir.display())
        }
    };
    format!("{problems}; {skills}, {prompts}; checked: {checked}")
}

/// A line with the paths below a directory as relative ones.
fn relative(line: &str, here: &Path) -> String {
    // Below the root every path would lose its first separator.
    if here.parent().is_none() {
        return line.to_owned();
    }
    line.replace(&format!("{}{MAIN_SEPARATOR}", here.display()), "")
}
