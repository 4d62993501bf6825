//! `tools/call`: calls a built-in tool or a function on the engine, and converts what it returns.

use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, LoggingLevel, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Error, Failure, Kind, check_call, nearest};
use tokio::time::{Instant, interval_at};

use super::builtin_tools::{self, BUILTIN_TOOLS};
use super::engine_tools::EngineTools;
use super::{RegistryServer, error_code};

/// Calls a tool. A failed call is a result for the model to read, with its kind in `failure`; an
/// unknown tool is an error.
pub async fn call(
    server: &RegistryServer,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    failure: &OnceLock<Kind>,
) -> Result<CallToolResult, ErrorData> {
    let shared = &server.shared;
    let (name, arguments) = (&*request.name, request.arguments.unwrap_or_default());
    let interval = shared.progress_interval;
    let called = if let Some(builtin) = builtin_tools::find(name) {
        let work = builtin.call(&shared.registry, arguments);
        with_progress(context, name, interval, work).await
    } else {
        let tools = &shared.engine_tools;
        let found = tools.find(name).await;
        let Some((function, schema)) = found.map_err(|e| error_code::error(&e))? else {
            return Err(unknown_tool(tools, name).await);
        };
        let arguments = Value::Object(arguments);
        let work = async {
            check_call(&function, &schema, &arguments)?;
            let payload = to_raw_value(&arguments).expect("a value is JSON");
            tools.call(&function, payload).await
        };
        let output = with_progress(context, name, interval, work).await;
        let version = context.protocol_version();
        output.map(|output| readable(result(output.as_deref()), version.as_ref()))
    };
    match called {
        Ok(result) => {
            if result.is_error == Some(true) {
                let _ = failure.set(Kind::Failed);
            }
            Ok(result)
        }
        // The function was unregistered after `find`.
        Err(Error::Function {
            cause: Failure::Absent,
            ..
        }) => Err(unknown_tool(&shared.engine_tools, name).await),
        Err(error) => {
            let _ = failure.set(error.kind());
            let text = format!("{}: {}", error.kind().name(), error.to_text());
            let message = format!("tool `{name}`: {text}");
            let log = server.session.log(context, LoggingLevel::Warning, message);
            log.await;
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
    }
}

async fn unknown_tool(engine_tools: &EngineTools, name: &str) -> ErrorData {
    let tools = engine_tools.tools().await.unwrap_or_default();
    let builtin = BUILTIN_TOOLS.iter().map(|builtin| &builtin.tool);
    let names = tools.iter().chain(builtin).map(|tool| &*tool.name);
    let shown: String = name.chars().take(128).collect();
    error_code::invalid(match nearest(name, names) {
        Some(near) => format!("Unknown tool: {shown} (did you mean `{near}`?)"),
        None => format!("Unknown tool: {shown} (tools/list names all tools)"),
    })
}

/// Awaits `work`, and meanwhile notifies a client that sent a progress token.
async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    name: &str,
    interval: Duration,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    let mut work = pin!(work);
    let start = Instant::now();
    let mut ticks = interval_at(start + interval, interval);
    loop {
        tokio::select! {
            output = &mut work => return output,
            _ = ticks.tick() => {
                let seconds = start.elapsed().as_secs_f64();
                let message = format!("{name} has been running for {seconds:.0} s");
                let progress = ProgressNotificationParam::new(token.clone(), seconds);
                // Fails only if the client has disconnected.
                let _ = context.peer.notify_progress(progress.with_message(message)).await;
            }
        }
    }
}

/// The output of a function as a result. A string is text, and a result of the protocol passes
/// through. Any other value becomes JSON text, and structured content too if it is an object.
fn result(output: Option<&RawValue>) -> CallToolResult {
    let raw = output.map_or("null", RawValue::get);
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

/// Adds the fields that every result must have.
fn completed(passed: CallToolResult) -> CallToolResult {
    let mut result = CallToolResult::success(passed.content);
    result.is_error = passed.is_error.or(result.is_error);
    result.structured_content = passed.structured_content;
    result.meta = passed.meta;
    result
}

/// Replaces content types that the client's version does not have by text.
fn readable(mut result: CallToolResult, version: Option<&ProtocolVersion>) -> CallToolResult {
    let before = |than: &ProtocolVersion| version.is_some_and(|v| v.as_str() < than.as_str());
    for block in &mut result.content {
        let text = match block {
            ContentBlock::Audio(audio) if before(&ProtocolVersion::V_2025_03_26) => {
                format!("(audio of type {})", audio.mime_type)
            }
            ContentBlock::ResourceLink(link) if before(&ProtocolVersion::V_2025_06_18) => {
                format!("[{}]({})", link.name, link.uri)
            }
            _ => continue,
        };
        *block = ContentBlock::text(text);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(output: &Value, expected: &Value) {
        let raw = to_raw_value(output).unwrap();
        let mut got = serde_json::to_value(result(Some(&raw))).unwrap();
        got.as_object_mut().unwrap().remove("resultType");
        assert_eq!(&got, expected, "for {output}");
    }

    #[test]
    fn old_clients_get_text_for_unknown_content_types() {
        let output = json!({ "content": [
            { "type": "resource_link", "uri": "iii://a", "name": "A" },
            { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
        ] });
        let raw = to_raw_value(&output).unwrap();
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
    fn outputs_of_functions() {
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
