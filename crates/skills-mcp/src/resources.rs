//! `resources/list`, `resources/templates/list` and `resources/read`: skills as resources.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role,
};
use skills_core::{
    ContentData, FILE_SCHEME, Mime, Registry, ResourceUri, SKILL_MD, SkillId, TEMPLATES,
};

use super::error_code;
use super::pagination::paginate;

/// Priorities of entries: the index covers the whole registry, a top-level skill those below it.
const INDEX_PRIORITY: f32 = 1.0;
const TOP_LEVEL_PRIORITY: f32 = 0.8;
const NESTED_PRIORITY: f32 = 0.5;

/// One entry of the list: a resource of the registry, or the `SKILL.md` of its folder.
struct Listed {
    resource: skills_core::Resource,
    is_skill_md: bool,
}

impl Listed {
    /// The position in the list: the index, the skills, then the files.
    fn key(&self) -> String {
        match &self.resource.uri {
            // `~` sorts after every id.
            ResourceUri::Skill(id) if self.is_skill_md => format!("~{id}"),
            ResourceUri::Skill(id) => id.to_string(),
            _ => String::new(),
        }
    }
}

/// The index and every skill, then the `SKILL.md` of every folder at its `skill://` address, where
/// clients of Agent Skills look for it.
pub async fn list(
    registry: &Registry,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let resources = registry
        .resources()
        .await
        .map_err(|e| error_code::error(&e))?;
    let is_folder = |resource: &&skills_core::Resource| resource.skill_md_bytes.is_some();
    let folders: Vec<_> = resources.iter().filter(is_folder).cloned().collect();
    let listed = |is_skill_md| {
        move |resource| Listed {
            resource,
            is_skill_md,
        }
    };
    let resources = resources.into_iter().map(listed(false));
    let all = resources.chain(folders.into_iter().map(listed(true)));
    let (found, next) = paginate(request, all.collect(), Listed::key)?;
    let mut result = ListResourcesResult::with_all_items(found.iter().map(entry).collect());
    result.next_cursor = next;
    Ok(result)
}

fn entry(
    Listed {
        resource,
        is_skill_md,
    }: &Listed,
) -> Resource {
    if let (true, ResourceUri::Skill(id)) = (is_skill_md, &resource.uri) {
        return skill_md_entry(id, resource);
    }
    let priority = match &resource.uri {
        ResourceUri::Index => INDEX_PRIORITY,
        ResourceUri::Skill(id) if id.depth() == 0 => TOP_LEVEL_PRIORITY,
        _ => NESTED_PRIORITY,
    };
    let mut annotations = Annotations::default()
        .with_audience(vec![Role::Assistant])
        .with_priority(priority);
    annotations.last_modified = resource.modified.as_deref().map(str::to_owned);
    let mut entry = Resource::new(resource.uri.to_string(), &*resource.name)
        .with_title(&*resource.name)
        .with_mime_type(Mime::Markdown.as_str())
        .with_annotations(annotations);
    entry.description = resource.description.as_deref().map(str::to_owned);
    entry.size = resource.bytes.map(|bytes| bytes as u64);
    entry
}

/// The `SKILL.md` of a folder. Its name is the last segment of the id, as the extension demands.
fn skill_md_entry(id: &SkillId, resource: &skills_core::Resource) -> Resource {
    let uri = format!("{FILE_SCHEME}{id}/{SKILL_MD}");
    let name = id.as_str().rsplit('/').next().unwrap_or_default();
    let mut annotations = Annotations::default()
        .with_audience(vec![Role::Assistant])
        .with_priority(NESTED_PRIORITY);
    annotations.last_modified = resource.modified.as_deref().map(str::to_owned);
    let mut entry = Resource::new(uri, name)
        .with_title(&*resource.name)
        .with_mime_type(Mime::Markdown.as_str())
        .with_annotations(annotations);
    entry.description = resource.description.as_deref().map(str::to_owned);
    entry.size = resource.skill_md_bytes;
    entry
}

/// The templates of addresses.
pub fn templates(
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    let template = |template: &skills_core::ResourceTemplate| {
        ResourceTemplate::new(template.uri_template, template.name)
            .with_title(template.name)
            .with_description(template.description)
            .with_mime_type(Mime::Markdown.as_str())
    };
    let all: Vec<_> = TEMPLATES.iter().map(template).collect();
    let (found, next) = paginate(request, all, |template| template.name.clone())?;
    let mut result = ListResourceTemplatesResult::with_all_items(found);
    result.next_cursor = next;
    Ok(result)
}

/// The content of an address.
pub async fn read(
    registry: &Registry,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = request.uri;
    let error = |e| error_code::resource_error(&e, &uri);
    let address = uri.parse::<ResourceUri>().map_err(error)?;
    let content = registry.read(&address).await.map_err(error)?;
    let mime = content.mime.as_str();
    let contents = match content.data {
        ContentData::Text(text) => ResourceContents::text(&*text, uri),
        ContentData::Bytes(bytes) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri),
    };
    Ok(ReadResourceResult::new(vec![contents.with_mime_type(mime)]))
}
