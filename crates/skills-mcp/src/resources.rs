//! `resources/list`, `resources/templates/list` and `resources/read`: skills as resources.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role,
};
use skills_core::{ContentData, Mime, Registry, ResourceUri, TEMPLATES};

use super::error_code;
use super::pagination::paginate;

/// Priorities of entries: the index covers the whole registry, a top-level skill those below it.
const INDEX_PRIORITY: f32 = 1.0;
const TOP_LEVEL_PRIORITY: f32 = 0.8;
const NESTED_PRIORITY: f32 = 0.5;

/// The index and every skill.
pub async fn list(
    registry: &Registry,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let resources = registry
        .resources()
        .await
        .map_err(|e| error_code::error(&e))?;
    let (found, next) = paginate(request, resources, |resource| match &resource.uri {
        ResourceUri::Skill(id) => id.to_string(),
        // Sorts before every id.
        ResourceUri::Index | ResourceUri::File(_) | ResourceUri::Section(_) => String::new(),
    })?;
    let mut result = ListResourcesResult::with_all_items(found.iter().map(entry).collect());
    result.next_cursor = next;
    Ok(result)
}

fn entry(resource: &skills_core::Resource) -> Resource {
    let priority = match &resource.uri {
        ResourceUri::Index => INDEX_PRIORITY,
        ResourceUri::Skill(id) if id.depth() == 0 => TOP_LEVEL_PRIORITY,
        ResourceUri::Skill(_) | ResourceUri::File(_) | ResourceUri::Section(_) => NESTED_PRIORITY,
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
