//! `resources/directory/read`: what is directly in a folder of a skill.

use rmcp::ErrorData;
use rmcp::model::{Annotations, JsonObject, Resource, Role};
use skills_core::{FolderEntry, FolderUri, PublishedFile, PublishedSkill, Registry};

use super::error_code;
use super::extension::DirectoryParams;
use super::pagination::paginate;

/// The media type of a folder.
const FOLDER: &str = "inode/directory";

/// Priorities as the working group of the extension proposes them.
const SKILL_MD_PRIORITY: f32 = 0.8;
const FILE_PRIORITY: f32 = 0.3;

/// The files and folders directly in a folder, in byte order of their names.
pub async fn read(registry: &Registry, request: DirectoryParams) -> Result<JsonObject, ErrorData> {
    let error = |e| error_code::error(&e);
    let uri: FolderUri = request.uri.parse().map_err(error)?;
    let published = registry.published().await.map_err(error)?;
    let entries = published.folder(&uri).map_err(error)?;
    let entries: Vec<_> = entries.into_iter().collect();
    let (found, next) = paginate(Some(request.page), entries, |(name, _)| (*name).to_owned())?;
    let resources: Vec<_> = found
        .into_iter()
        .map(|(name, entry)| resource(uri.child(name), name, entry))
        .collect();
    let mut result = JsonObject::new();
    let resources = serde_json::to_value(resources).expect("a resource is JSON");
    result.insert("resources".into(), resources);
    if let Some(next) = next {
        result.insert("nextCursor".into(), next.into());
    }
    Ok(result)
}

fn resource(uri: String, name: &str, entry: FolderEntry<'_>) -> Resource {
    match entry {
        FolderEntry::Folder => Resource::new(uri, name).with_mime_type(FOLDER),
        FolderEntry::File(file, Some(skill)) => skill_md(uri, &skill, &file),
        FolderEntry::File(file, None) => {
            let annotations = Annotations::default()
                .with_audience(vec![Role::Assistant])
                .with_priority(FILE_PRIORITY);
            let mut resource = Resource::new(uri, name)
                .with_mime_type(file.media_type())
                .with_annotations(annotations);
            resource.size = Some(file.bytes);
            resource
        }
    }
}

fn skill_md(uri: String, skill: &PublishedSkill<'_>, file: &PublishedFile<'_>) -> Resource {
    let mut annotations = Annotations::default()
        .with_audience(vec![Role::Assistant])
        .with_priority(SKILL_MD_PRIORITY);
    annotations.last_modified = Some(skill.modified().to_string());
    let mut resource = Resource::new(uri, skill.name())
        .with_mime_type(file.media_type())
        .with_annotations(annotations);
    resource.description = skill.description().map(ToString::to_string);
    resource.size = Some(file.bytes);
    resource
}
