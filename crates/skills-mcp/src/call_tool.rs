//! Calling a tool, and what becomes of its answer.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, LoggingLevel, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Error, Failure, nearest};
use tokio::time::{Instant, interval_at};

use super::engine_tools::EngineTools;
use super::{RegistryServer, builtin_tools, error_code};

/// Calls a tool. One that fails is an answer for the model to read; one that is not
/// there is an error.
pub async fn call(
    handler: &RegistryServer,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let shared = &handler.shared;
    let (name, given) = (&*request.name, request.arguments.unwrap_or_default());
    let called = if let Some(builtin) = builtin_tools::find(name) {
        let work = builtin.call(&shared.registry, given);
        ticking(context, name, shared.tick, work).await
    } else {
        let functions = &shared.functions;
        let found = functions
            .named(name)
            .await
            .map_err(|e| error_code::error(&e))?;
        let Some(function) = found else {
            return Err(unknown(functions, name).await);
        };
        let payload = to_raw_value(&given).expect("a map of values is JSON");
        let work = functions.call(&function, payload);
        let answer = ticking(context, name, shared.tick, work).await;
        let version = context.protocol_version();
        answer.map(|answer| readable(result(answer.as_deref()), version.as_ref()))
    };
    match called {
        // It went away since we looked.
        Err(Error::Function {
            cause: Failure::Absent,
            ..
        }) => Err(unknown(&shared.functions, name).await),
        Err(error) => {
            let text = format!("{}: {}", error.kind().name(), error.to_text());
            let message = format!("tool `{name}`: {text}");
            let conversation = &handler.session;
            conversation
                .say(context, LoggingLevel::Warning, message)
                .await;
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
        Ok(result) => Ok(result),
    }
}

async fn unknown(functions: &EngineTools, name: &str) -> ErrorData {
    let tools = functions.tools().await.unwrap_or_default();
    let builtin = builtin_tools::BUILTIN_TOOLS
        .iter()
        .map(|builtin| &*builtin.tool.name);
    let names = tools.iter().map(|tool| &*tool.name).chain(builtin);
    let shown: String = name.chars().take(128).collect();
    error_code::invalid(match nearest(name, names) {
        Some(near) => format!("Unknown tool: {shown} (did you mean `{near}`?)"),
        None => format!("Unknown tool: {shown} (tools/list names those there are)"),
    })
}

/// Does the work; a client that gave a token hears now and then that it goes on.
async fn ticking<T>(
    context: &RequestContext<RoleServer>,
    name: &str,
    tick: Duration,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    let start = Instant::now();
    let mut ticks = interval_at(start + tick, tick);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => {
                let seconds = start.elapsed().as_secs_f64();
                let message = format!("{name} has been at work for {seconds:.0} s");
                let progress = ProgressNotificationParam::new(token.clone(), seconds);
                // A client that is gone need not hear it.
                let _ = context.peer.notify_progress(progress.with_message(message)).await;
            }
        }
    }
}

/// A function's answer: a string is text, content of the protocol passes through,
/// anything else is shown as JSON, and given as data too if it is an object.
fn result(answer: Option<&RawValue>) -> CallToolResult {
    let raw = answer.map_or("null", RawValue::get);
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::String(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Ok(value) => {
            if value["content"].is_array()
                && let Ok(passed) = serde_json::from_value::<CallToolResult>(value.clone())
            {
                return completed(passed);
            }
            let pretty = serde_json::to_string_pretty(&value).unwrap_or_else(|_| raw.to_owned());
            let mut result = CallToolResult::success(vec![ContentBlock::text(pretty)]);
            result.structured_content = value.is_object().then_some(value);
            result
        }
        Err(_) => CallToolResult::success(vec![ContentBlock::text(raw)]),
    }
}

/// Passed through, with what every answer must say.
fn completed(passed: CallToolResult) -> CallToolResult {
    let mut result = CallToolResult::success(passed.content);
    result.is_error = passed.is_error.or(result.is_error);
    result.structured_content = passed.structured_content;
    result.meta = passed.meta;
    result
}

/// The result with every sort of content that the client's version does not know yet
/// said in words.
fn readable(mut result: CallToolResult, version: Option<&ProtocolVersion>) -> CallToolResult {
    let before = |than: &ProtocolVersion| version.is_some_and(|v| v.as_str() < than.as_str());
    for block in &mut result.content {
        let words = match block {
            ContentBlock::Audio(audio) if before(&ProtocolVersion::V_2025_03_26) => {
                format!("(a sound of type {})", audio.mime_type)
            }
            ContentBlock::ResourceLink(link) if before(&ProtocolVersion::V_2025_06_18) => {
                format!("[{}]({})", link.name, link.uri)
            }
            _ => continue,
        };
        *block = ContentBlock::text(words);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(answer: &Value, expected: &Value) {
        let raw = to_raw_value(answer).unwrap();
        let mut got = serde_json::to_value(result(Some(&raw))).unwrap();
        got.as_object_mut().unwrap().remove("resultType");
        assert_eq!(&got, expected, "for {answer}");
    }

    #[test]
    fn old_clients_get_words_for_what_they_do_not_know() {
        let answer = json!({ "content": [
            { "type": "resource_link", "uri": "iii://a", "name": "A" },
            { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
        ] });
        let raw = to_raw_value(&answer).unwrap();
        let types = |version: ProtocolVersion| {
            let readable = readable(result(Some(&raw)), Some(&version));
            let content = serde_json::to_value(readable.content).unwrap();
            [0, 1].map(|n| content[n]["type"].as_str().unwrap().to_owned())
        };
        assert_eq!(types(ProtocolVersion::V_2024_11_05), ["text", "text"]);
        assert_eq!(types(ProtocolVersion::V_2025_03_26), ["text", "audio"]);
        assert_eq!(
            types(ProtocolVersion::V_2026_07_28),
            ["resource_link", "audio"]
        );
    }

    #[test]
    fn answers_of_functions() {
        let text =
            |text: &str| json!({ "content": [{ "type": "text", "text": text }], "isError": false });
        check(&json!("# Hi"), &text("# Hi"));
        check(&json!(null), &text("null"));
        check(&json!([1]), &text("[\n  1\n]"));
        let mut object = text("{\n  \"ok\": true\n}");
        object["structuredContent"] = json!({ "ok": true });
        check(&json!({ "ok": true }), &object);
        let shaped = json!({
            "content": [
                { "type": "image", "data": "aGk=", "mimeType": "image/png" },
                { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
                { "type": "resource", "resource": { "uri": "test://x", "mimeType": "text/plain", "text": "hi" } },
            ],
            "isError": true,
        });
        check(&shaped, &shaped);
        let odd = json!({ "content": [{ "type": "hologram" }] });
        let raw = to_raw_value(&odd).unwrap();
        assert_eq!(result(Some(&raw)).structured_content, Some(odd));
    }
}
