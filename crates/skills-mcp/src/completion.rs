//! `completion/complete`: variables of the address templates, and prompt arguments with declared
//! values or well-known names.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use skills_core::{Error, ResourceUri, TEMPLATES};

use super::{Shared, error_code};

/// Values that match what was typed so far.
pub async fn complete(
    shared: &Shared,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let argument = &request.argument;
    let candidates = match &request.r#ref {
        Reference::Resource(resource) => match (resource.uri.as_str(), argument.name.as_str()) {
            ("iii://{skill_id}", "skill_id") => skill_ids(shared).await,
            ("iii://fn/{function_path}", "function_path") => function_paths(shared).await,
            (template, variable) => {
                let shown = |text: &str| text.chars().take(80).collect::<String>();
                let known: Vec<_> = TEMPLATES.iter().map(|known| known.uri_template).collect();
                let message = if known.contains(&template) {
                    format!(
                        "template `{template}` has no variable `{}`",
                        shown(variable)
                    )
                } else {
                    format!(
                        "unknown template `{}`; the templates are {}",
                        shown(template),
                        known.join(", ")
                    )
                };
                return Err(error_code::invalid(message));
            }
        },
        Reference::Prompt(prompt) => argument_values(shared, &prompt.name, &argument.name).await,
        _ => Ok(Vec::new()),
    };
    let candidates = candidates.map_err(|e| error_code::error(&e))?;
    Ok(CompleteResult::new(matching(candidates, &argument.value)))
}

/// The values that a prompt declares for an argument, or else those of a well-known name.
async fn argument_values(
    shared: &Shared,
    prompt: &str,
    argument: &str,
) -> Result<Vec<String>, Error> {
    if let Ok(name) = prompt.parse() {
        let choices = shared.registry.argument_choices(&name, argument).await?;
        if !choices.is_empty() {
            return Ok(choices);
        }
    }
    match argument {
        "skill" | "skill_id" | "id" => skill_ids(shared).await,
        "uri" | "address" | "skill_uri" => {
            let ids = skill_ids(shared).await?;
            Ok(ids.iter().map(|id| format!("iii://{id}")).collect())
        }
        "prompt" | "prompt_name" => prompt_names(shared).await,
        _ => Ok(Vec::new()),
    }
}

async fn skill_ids(shared: &Shared) -> Result<Vec<String>, Error> {
    let resources = shared.registry.resources().await?;
    let id = |resource: &skills_core::Resource| match &resource.uri {
        ResourceUri::Skill(id) => Some(id.to_string()),
        ResourceUri::Index
        | ResourceUri::IndexPart(_)
        | ResourceUri::SkillFrom(..)
        | ResourceUri::Version(..)
        | ResourceUri::File(_)
        | ResourceUri::Section(_)
        | ResourceUri::Part { .. } => None,
    };
    Ok(resources.iter().filter_map(id).collect())
}

async fn prompt_names(shared: &Shared) -> Result<Vec<String>, Error> {
    let prompts = shared.registry.prompts().await?.entries;
    Ok(prompts
        .iter()
        .map(|prompt| prompt.name.to_string())
        .collect())
}

/// The paths of the functions that have an address.
async fn function_paths(shared: &Shared) -> Result<Vec<String>, Error> {
    let functions = shared.engine_tools.callable().await?;
    let address = |path: &String| format!("iii://fn/{path}").parse::<ResourceUri>().is_ok();
    let mut paths: Vec<_> = functions
        .iter()
        .map(skills_core::FunctionId::path)
        .collect();
    paths.retain(address);
    paths.sort_unstable();
    Ok(paths)
}

/// The candidates that begin with what was typed, then those that contain it.
fn matching(candidates: Vec<String>, typed: &str) -> CompletionInfo {
    let (begin, others): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|value| value.starts_with(typed));
    let contain = others.into_iter().filter(|value| value.contains(typed));
    let mut values: Vec<String> = begin.into_iter().chain(contain).collect();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.values = values;
    info.total = u32::try_from(total).ok();
    info.has_more = Some(total > CompletionInfo::MAX_VALUES);
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_the_prefix_come_first_and_at_most_a_hundred() {
        let all = ["brain", "resend", "resend/email", "x/resend"].map(str::to_owned);
        let found = matching(all.to_vec(), "resend");
        assert_eq!(found.values, ["resend", "resend/email", "x/resend"]);
        assert_eq!((found.total, found.has_more), (Some(3), Some(false)));
        let many: Vec<_> = (0..250).map(|n| format!("s{n}")).collect();
        let found = matching(many, "s");
        assert_eq!(found.values.len(), 100);
        assert_eq!((found.total, found.has_more), (Some(250), Some(true)));
    }
}
