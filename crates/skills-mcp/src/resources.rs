//! Skills as resources.

use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role,
};
use skills_core::{Mime, Registry, ResourceUri, TEMPLATES};

use super::error_code;
use super::pagination::paginate;

/// How much of the registry an entry stands for: the index for all of it, a skill at
/// the top for those below.
const INDEX: f32 = 1.0;
const TOP: f32 = 0.8;
const BELOW: f32 = 0.5;

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
        // Before any id.
        ResourceUri::Index | ResourceUri::Section(_) => String::new(),
    })?;
    let mut result = ListResourcesResult::with_all_items(found.iter().map(entry).collect());
    result.next_cursor = next;
    Ok(result)
}

fn entry(resource: &skills_core::Resource) -> Resource {
    let priority = match &resource.uri {
        ResourceUri::Index => INDEX,
        ResourceUri::Skill(id) if id.depth() == 0 => TOP,
        ResourceUri::Skill(_) | ResourceUri::Section(_) => BELOW,
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

/// The two families of addresses.
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

/// What an address serves.
pub async fn read(
    registry: &Registry,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = request.uri;
    let failed = |e| error_code::resource_error(&e, &uri);
    let address = uri.parse::<ResourceUri>().map_err(failed)?;
    let content = registry.read(&address).await.map_err(failed)?;
    let text = ResourceContents::text(&*content.text, uri);
    let text = text.with_mime_type(content.mime.as_str());
    Ok(ReadResourceResult::new(vec![text]))
}
