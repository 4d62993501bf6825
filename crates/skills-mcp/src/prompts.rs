//! `prompts/list` and `prompts/get`.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage,
};
use serde_json::value::RawValue;
use skills_core::{Kind, PromptMenuEntry, PromptName, Registry};

use super::error_code;
use super::pagination::paginate;

/// Every prompt with its arguments.
pub async fn list(
    registry: &Registry,
    request: Option<PaginatedRequestParams>,
) -> Result<ListPromptsResult, ErrorData> {
    let menu = registry
        .prompt_menu()
        .await
        .map_err(|e| error_code::error(&e))?;
    let (found, next) = paginate(request, menu, |entry| entry.name.to_string())?;
    let mut result = ListPromptsResult::with_all_items(found.iter().map(prompt).collect());
    result.next_cursor = next;
    Ok(result)
}

fn prompt(entry: &PromptMenuEntry) -> Prompt {
    let argument = |argument: &skills_core::PromptArgument| {
        let mut shown = PromptArgument::new(&*argument.name).with_required(argument.required);
        shown.description = argument.description.as_deref().map(str::to_owned);
        shown
    };
    let arguments: Vec<_> = entry.arguments.iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(entry.name.as_str(), Some(&*entry.description), arguments)
}

/// A prompt, rendered with the given arguments.
pub async fn get(
    registry: &Registry,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let name: PromptName = request.name.parse().map_err(|e| error_code::error(&e))?;
    let given = request.arguments.unwrap_or_default();
    let rendered = registry.render_prompt_strictly(&name, &given).await;
    let rendered = rendered.map_err(|e| error_code::error(&e))?;
    let message = |raw: &RawValue| {
        serde_json::from_str::<PromptMessage>(raw.get()).map_err(|e| {
            let message = format!("prompt `{name}`: its handler returned an invalid message: {e}");
            ErrorData::new(error_code::code(Kind::Broken), message, None)
        })
    };
    let messages = rendered
        .messages
        .iter()
        .map(|raw| message(raw))
        .collect::<Result<_, _>>()?;
    Ok(GetPromptResult::new(messages).with_description(rendered.description))
}
