//! `skills export --format agent-skills`: folders with a `SKILL.md` that other agents load.
//!
//! Every file is what the registry has at its `skill://` address: the files of a skill folder
//! unchanged, and the generated `SKILL.md` of any other skill. Who serves the export serves the
//! same skills.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::json;
use skills_api::documents::{DOCUMENTS, Document, Documents, File, Folder};
use skills_core::{FILE_SCHEME, FilePath, Kind, SKILL_MD, agent_skill};

use super::super::CliError;
use super::super::batch::{self, Outcome, Summary};
use super::super::connection::Connection;
use super::super::list::{Entry, listing};
use super::super::read::content;
use super::{Mode, write_in_background};

/// The files to write, by their paths.
type Items = BTreeMap<String, (FilePath, Mode)>;

/// Writes every skill, or those of one origin.
pub async fn export(
    connection: &Connection,
    dir: &Path,
    origin: Option<&str>,
    force: bool,
) -> Result<Summary, CliError> {
    let listing = listing(connection, origin).await?;
    let documents: Documents = connection.call(&DOCUMENTS, &json!({})).await?;
    let folder = |document: Document| Some((document.id, document.folder?));
    let folders: HashMap<_, _> = documents.skills.into_iter().filter_map(folder).collect();
    let mut summary = Summary::default();
    for row in listing.damaged {
        summary.add(row.place, Outcome::Damaged(row.reason));
    }
    // A skill owns the files of the skills below it: each is written once.
    let mut items = Items::new();
    for Entry { id, .. } in listing.skills {
        if let Err(reason) = add(&mut items, &id, folders.get(&id)) {
            summary.add(id, Outcome::Skipped(reason));
        }
    }
    let items = items
        .into_iter()
        .map(|(name, item)| (name.clone(), (name, item)));
    let work = |(name, (path, mode))| write(connection, dir, name, path, mode, force);
    batch::run(connection, "exporting", items.collect(), summary, work).await
}

/// Adds the files of a skill; fails with the reason why some are left out.
fn add(items: &mut Items, id: &str, folder: Option<&Folder>) -> Result<(), String> {
    let mut add_file = |path: &str, mode: Mode| {
        let name = format!("{id}/{path}");
        let parsed = name.parse().map_err(|error| format!("`{name}`: {error}"))?;
        items.insert(name, (parsed, mode));
        Ok::<_, String>(())
    };
    let Some(folder) = folder else {
        let name = id.rsplit('/').next().unwrap_or_default();
        if !agent_skill::is_name(name) {
            return Err(agent_skill::no_name_reason(name));
        }
        return add_file(SKILL_MD, Mode::Plain);
    };
    if folder.files.is_empty() {
        add_file(SKILL_MD, Mode::Plain)?;
        return Err("its files are not served; `skills doctor` says why".into());
    }
    let mode = |file: &File| {
        if file.executable {
            Mode::Executable
        } else {
            Mode::Plain
        }
    };
    let mut files = folder.files.iter();
    files.try_for_each(|file| add_file(&file.path, mode(file)))
}

async fn write(
    connection: &Connection,
    dir: &Path,
    name: String,
    path: FilePath,
    mode: Mode,
    force: bool,
) -> Result<Outcome, CliError> {
    let uri = format!("{FILE_SCHEME}{}", path.encoded());
    let bytes = match content(connection, &uri).await {
        Ok(content) => content.bytes()?,
        // Removed since the list was made.
        Err(error) if error.kind == Kind::NotFound => return Ok(Outcome::Skipped(error.message)),
        Err(error) if error.kind == Kind::Broken => return Ok(Outcome::Damaged(error.message)),
        Err(error) => return Err(error),
    };
    write_in_background(dir, name, bytes, mode, force).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_written_once_and_what_is_left_out_has_a_reason() {
        let folder = |paths: &[&str]| -> Folder {
            let file = |path: &&str| json!({ "path": path, "bytes": 1, "executable": true });
            let files: Vec<_> = paths.iter().map(file).collect();
            let folder = json!({ "front_matter": {}, "files": files }).to_string();
            serde_json::from_str(&folder).unwrap()
        };
        let mut items = Items::new();
        let mut add =
            |id: &str, paths: Option<&[&str]>| add(&mut items, id, paths.map(folder).as_ref());
        add("a", Some(&["SKILL.md", "b/SKILL.md", "run.py"])).unwrap();
        add("a/b", Some(&["SKILL.md"])).unwrap();
        add("note", None).unwrap();
        // A registered skill hides the folder below `c`.
        add("c", Some(&["SKILL.md", "d/SKILL.md"])).unwrap();
        add("c/d", None).unwrap();
        let reason = add("x/a_b", None).unwrap_err();
        assert!(reason.contains("such as `a-b`"), "{reason}");
        let reason = add("huge", Some(&[])).unwrap_err();
        assert!(reason.contains("`skills doctor`"), "{reason}");
        assert_eq!(items["c/d/SKILL.md"].1, Mode::Plain);
        assert_eq!(items["a/run.py"].1, Mode::Executable);
        let files: Vec<_> = items.keys().map(String::as_str).collect();
        assert_eq!(
            files,
            [
                "a/SKILL.md",
                "a/b/SKILL.md",
                "a/run.py",
                "c/SKILL.md",
                "c/d/SKILL.md",
                "huge/SKILL.md",
                "note/SKILL.md"
            ]
        );
    }
}
