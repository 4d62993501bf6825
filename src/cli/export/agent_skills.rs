//! `skills export --format agent-skills`: folders with a `SKILL.md` that other agents load.
//!
//! The files of a skill folder are written unchanged. Any other skill gets front matter in front
//! of its body, unless its body is a `SKILL.md` already. Who serves the export serves the same
//! skills.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use skills_api::skills::RESOURCES_LIST;
use skills_core::{Document, FILE_SCHEME, FilePath, Kind, SKILL_MD, agent_skill};

use super::super::CliError;
use super::super::batch::{self, Outcome, Summary};
use super::super::connection::Connection;
use super::super::list::{Entry, listing_with_paths};
use super::super::read::content;
use super::write_in_background;

/// What one file is made from.
enum Item {
    /// A file of a skill folder.
    File(FilePath),
    /// A skill that is not a folder.
    Body { id: String, description: String },
}

/// Writes every skill, or those of one origin.
pub async fn export(
    connection: &Connection,
    dir: &Path,
    origin: Option<&str>,
    force: bool,
) -> Result<Summary, CliError> {
    let listing = listing_with_paths(connection, origin).await?;
    let descriptions = descriptions(connection).await?;
    let mut summary = Summary::default();
    for row in listing.damaged {
        summary.add(row.place, Outcome::Damaged(row.reason));
    }
    // A skill owns the files of the skills below it: each is written once.
    let mut items = BTreeMap::new();
    for skill in listing.skills {
        if let Err(reason) = add(&mut items, &skill, &descriptions) {
            summary.add(skill.id, Outcome::Skipped(reason));
        }
    }
    let items = items
        .into_iter()
        .map(|(file, item)| (file.clone(), (file, item)));
    let work = |(file, item)| write(connection, dir, file, item, force);
    batch::run(connection, "exporting", items.collect(), summary, work).await
}

/// Adds the files of a skill; fails with the reason why some are left out.
fn add(
    items: &mut BTreeMap<String, Item>,
    skill: &Entry,
    descriptions: &HashMap<String, String>,
) -> Result<(), String> {
    let id = &skill.id;
    let skill_md = format!("{id}/{SKILL_MD}");
    let Some(files) = skill.files else {
        let name = id.rsplit('/').next().unwrap_or_default();
        if !agent_skill::is_name(name) {
            let near = agent_skill::nearest_name(name);
            let near = near
                .map(|near| format!(", such as `{near}`"))
                .unwrap_or_default();
            return Err(format!(
                "`{name}` cannot be the name of an Agent Skill; register it under another id{near}"
            ));
        }
        let description = descriptions.get(id).unwrap_or(id).clone();
        let id = id.clone();
        // It may hide a folder of the same id, whose file is among those of a skill above.
        items.insert(skill_md, Item::Body { id, description });
        return Ok(());
    };
    // In byte order of the ids, a skill comes after the one above it.
    let mut add_file = |path: &str| {
        let file = format!("{id}/{path}");
        let parsed = file.parse().map_err(|error| format!("`{file}`: {error}"))?;
        items.insert(file, Item::File(parsed));
        Ok::<_, String>(())
    };
    add_file(SKILL_MD)?;
    match &skill.paths {
        Some(paths) => paths.iter().try_for_each(|path| add_file(path))?,
        None => return Err("the skills worker does not list files; update it".into()),
    }
    match files {
        0 => Err("its files are not served; `skills doctor` says why".into()),
        _ => Ok(()),
    }
}

async fn write(
    connection: &Connection,
    dir: &Path,
    file: String,
    item: Item,
    force: bool,
) -> Result<Outcome, CliError> {
    let bytes = match read(connection, item).await {
        Ok(bytes) => bytes,
        // Removed since the list was made.
        Err(error) if error.kind == Kind::NotFound => return Ok(Outcome::Skipped(error.message)),
        Err(error) if error.kind == Kind::Broken => return Ok(Outcome::Damaged(error.message)),
        Err(error) => return Err(error),
    };
    write_in_background(dir, file, bytes, force).await
}

async fn read(connection: &Connection, item: Item) -> Result<Vec<u8>, CliError> {
    match item {
        Item::File(path) => {
            let uri = format!("{FILE_SCHEME}{}", path.encoded());
            content(connection, &uri).await?.bytes()
        }
        Item::Body { id, description } => {
            let body = content(connection, &format!("iii://{id}")).await?.text()?;
            Ok(skill_md(&id, &description, body).into_bytes())
        }
    }
}

/// The `SKILL.md` of a skill that is not a folder.
fn skill_md(id: &str, description: &str, body: String) -> String {
    let name = id.rsplit('/').next().unwrap_or_default();
    if agent_skill::rejections(&Document::parse(&body), name).is_empty() {
        return body;
    }
    agent_skill::skill_md(name, description, &body)
}

/// The descriptions of the skills by id; of one without, the title.
async fn descriptions(connection: &Connection) -> Result<HashMap<String, String>, CliError> {
    #[derive(Deserialize)]
    struct Resources {
        resources: Vec<Resource>,
    }
    #[derive(Deserialize)]
    struct Resource {
        uri: String,
        name: String,
        #[serde(default)]
        description: Option<String>,
    }
    let listed: Resources = connection.call(&RESOURCES_LIST, &json!({})).await?;
    let described = listed.resources.into_iter().filter_map(|resource| {
        let id = resource.uri.strip_prefix("iii://")?.to_owned();
        Some((id, resource.description.unwrap_or(resource.name)))
    });
    Ok(described.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_a_skill_md_stays_as_it_is() {
        let body = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n";
        assert_eq!(skill_md("docs/pdf", "other", body.into()), body);
        let other = skill_md("docs/pdf", "Reads: PDF", "---\na: b\n---\n# PDF".into());
        assert_eq!(
            other,
            "---\nname: \"pdf\"\ndescription: \"Reads: PDF\"\n---\n---\na: b\n---\n# PDF"
        );
    }

    #[test]
    fn each_file_is_written_once_and_what_is_left_out_has_a_reason() {
        let entry = |id: &str, paths: Option<&[&str]>| Entry {
            id: id.into(),
            bytes: 1,
            registered_at: String::new(),
            origin: "fs".into(),
            files: paths.map(<[_]>::len),
            paths: paths.map(|paths| paths.iter().map(ToString::to_string).collect()),
        };
        let mut items = BTreeMap::new();
        let mut add = |entry: Entry| add(&mut items, &entry, &HashMap::new());
        add(entry("a", Some(&["SKILL.md", "b/SKILL.md", "run.py"]))).unwrap();
        add(entry("a/b", Some(&["SKILL.md"]))).unwrap();
        add(entry("note", None)).unwrap();
        // A registered skill hides the folder below `c`.
        add(entry("c", Some(&["SKILL.md", "d/SKILL.md"]))).unwrap();
        add(entry("c/d", None)).unwrap();
        let reason = add(entry("x/a_b", None)).unwrap_err();
        assert!(reason.contains("such as `a-b`"), "{reason}");
        let reason = add(entry("huge", Some(&[]))).unwrap_err();
        assert!(reason.contains("`skills doctor`"), "{reason}");
        assert!(matches!(items["c/d/SKILL.md"], Item::Body { .. }));
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
