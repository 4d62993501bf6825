//! Paths of `skills serve`, `skills mcp` and `skills doctor`: folders and `.3md` documents that exist.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use skills_core::{Kind, SKILL_MD};
use skills_files::agents::file::is_document;

use super::CliError;

/// The paths, once each of them can be served.
pub fn check_paths(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    paths.iter().map(|path| check(path)).collect()
}

fn check(path: &Path) -> Result<PathBuf, CliError> {
    let shown = path.display();
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if is_pattern(path) => CliError::invalid(
            format!("{shown} is not a folder"),
            "name a folder; patterns belong in config.yaml, under `skills:`",
        ),
        io::ErrorKind::NotFound => CliError::not_found(
            format!("there is no folder {shown}"),
            "name a folder that holds skills; `skills new NAME` creates a skill",
        ),
        _ => unreadable(path, &error),
    })?;
    if metadata.is_dir() {
        drop(fs::read_dir(path).map_err(|error| unreadable(path, &error))?);
        return Ok(path.to_owned());
    }
    if metadata.is_file() && is_document(path) {
        return Ok(path.to_owned());
    }
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).display();
    let what = match path.file_name() {
        Some(name) if name == SKILL_MD => "the folder of the skill",
        _ => "the folder that it is in",
    };
    Err(CliError::invalid(
        format!("{shown} is not a folder and not a `.3md` document"),
        format!("name {what}: {parent}"),
    ))
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    let message = format!("cannot read {}: {error}", path.display());
    CliError::new(Kind::Broken, message).with_hint("name a folder that this user can read")
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_cannot_be_served_is_an_error_with_the_fix() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("pdf")).unwrap();
        for file in ["pdf/SKILL.md", "a.md", "dev.3md"] {
            fs::write(path(file), "# A").unwrap();
        }
        for good in ["pdf", "dev.3md"] {
            assert_eq!(check(&path(good)).unwrap(), path(good));
        }
        let pdf = path("pdf").display().to_string();
        for (bad, hint) in [
            ("none", "`skills new NAME`"),
            ("pdf/*.md", "config.yaml"),
            ("pdf/SKILL.md", &format!("the folder of the skill: {pdf}")),
            ("a.md", "the folder that it is in"),
        ] {
            let error = check(&path(bad)).unwrap_err();
            assert!(error.message.contains(bad), "{}", error.message);
            let found = error.hint.unwrap();
            assert!(found.contains(hint), "for {bad}: {found}");
        }
    }
}
