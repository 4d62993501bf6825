//! `skills/list` and `skills/get`: skills with their front matter and the digests of their files.

use rmcp::ErrorData;
use rmcp::model::{JsonObject, PaginatedRequestParams};
use serde_json::Value;
use skills_core::{PublishedFile, PublishedSkill, Registry, ResourceUri, SKILL_MD, SkillId};

use super::error_code;
use super::extension::GetParams;
use super::pagination::paginate;

/// The skills that every client accepts.
pub async fn list(
    registry: &Registry,
    page: Option<PaginatedRequestParams>,
) -> Result<JsonObject, ErrorData> {
    let published = registry.published().await;
    let published = published.map_err(|e| error_code::error(&e))?;
    let listed: Vec<_> = published.listed().collect();
    let (found, next) = paginate(page, listed, |skill| skill.id().to_string())?;
    let skills: Vec<Value> = found.iter().map(entry).collect();
    let mut result = JsonObject::new();
    result.insert("skills".into(), skills.into());
    if let Some(next) = next {
        result.insert("nextCursor".into(), next.into());
    }
    Ok(result)
}

/// One skill, listed or not.
pub async fn get(registry: &Registry, request: GetParams) -> Result<JsonObject, ErrorData> {
    let uri = request.uri;
    let error = |e| error_code::error(&e);
    let address = uri.parse::<ResourceUri>().map_err(error)?;
    let Some(id) = skill_of(&address) else {
        let problem =
            format!("address `{uri}` is not that of a skill; write `skill://id/{SKILL_MD}`");
        return Err(error_code::invalid(problem));
    };
    let published = registry.published().await.map_err(error)?;
    let skill = published.get(&id).map_err(error)?;
    let mut result = JsonObject::new();
    result.insert("skill".into(), entry(&skill));
    Ok(result)
}

/// The skill whose `SKILL.md` has this address.
fn skill_of(address: &ResourceUri) -> Option<SkillId> {
    let ResourceUri::File(path) = address else {
        return None;
    };
    let (id, path) = path.splits().next()?;
    (path.as_str() == SKILL_MD).then_some(id)
}

fn entry(skill: &PublishedSkill<'_>) -> Value {
    let files = skill.files();
    let resources: Vec<Value> = files.iter().map(resource).collect();
    let front_matter = serde_json::from_str(skill.front_matter());
    let mut entry = JsonObject::new();
    entry.insert("uri".into(), skill.uri().into());
    entry.insert(
        "frontmatter".into(),
        front_matter.expect("front matter is kept as JSON"),
    );
    entry.insert("resources".into(), resources.into());
    entry.into()
}

fn resource(file: &PublishedFile<'_>) -> Value {
    let mut resource = JsonObject::new();
    resource.insert("uri".into(), file.uri().into());
    resource.insert("digest".into(), file.digest.to_string().into());
    resource.insert("size".into(), file.bytes.into());
    resource.into()
}
