//! The methods of the protocol: how their parameters are decoded, and the error for a request with
//! an unknown method or bad parameters.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, ClientRequest, CompleteRequest, CustomRequest, DiscoverRequest, GetMeta,
    GetPromptRequest, InitializeRequest, JsonObject, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams,
    PingRequest, ProtocolVersion, ReadResourceRequest, RequestMetaObject, RequestOptionalParam,
    SetLevelRequest, SubscribeRequest, SubscriptionsListenRequest, UnsubscribeRequest,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{error_code, jsonrpc};

/// Characters of an unknown method's name that the error repeats.
const METHOD_SHOWN_MAX: usize = 80;

/// Methods that 2026-07-28 removed.
const REMOVED: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Decodes the parameters of a method; `None` for a method that the protocol does not have.
fn decode_params(method: &str, params: &str) -> Option<Result<ClientRequest, String>> {
    Some(match method {
        "completion/complete" => required(params, CompleteRequest::new),
        "initialize" => required(params, InitializeRequest::new),
        "logging/setLevel" => required(params, SetLevelRequest::new),
        "ping" => optional(params, |_: Option<JsonObject>| PingRequest::default()),
        "prompts/get" => required(params, GetPromptRequest::new),
        "prompts/list" => list(params, ListPromptsRequest::default()),
        "resources/list" => list(params, ListResourcesRequest::default()),
        "resources/read" => required(params, ReadResourceRequest::new),
        "resources/subscribe" => required(params, SubscribeRequest::new),
        "resources/templates/list" => list(params, ListResourceTemplatesRequest::default()),
        "resources/unsubscribe" => required(params, UnsubscribeRequest::new),
        "server/discover" => required(params, |_: JsonObject| DiscoverRequest::default()),
        "subscriptions/listen" => required(params, SubscriptionsListenRequest::new),
        "tools/call" => required(params, CallToolRequest::new),
        "tools/list" => list(params, ListToolsRequest::default()),
        _ => return None,
    })
}

/// The request that a method and its parameters, as JSON text, stand for. An unknown method becomes
/// a custom request: a method of an [extension](super::extension), or one that the handler refuses.
pub fn decode(method: &str, params: Option<&str>) -> Result<ClientRequest, ErrorData> {
    let params = params.unwrap_or("null");
    let meta = serde_json::from_str(params)
        .ok()
        .and_then(|params: Option<Meta>| params?.meta)
        .unwrap_or_default();
    let mut request = match decode_params(method, params) {
        Some(Ok(request)) => request,
        Some(Err(problem)) => return Err(bad_params(method, &problem, meta.protocol_version())),
        None => CustomRequest::new(method, serde_json::from_str(params).ok()).into(),
    };
    *request.get_meta_mut() = meta;
    Ok(request)
}

/// The error for a custom request of protocol `version`: the method is unknown, or the SDK could not
/// decode the parameters.
pub fn refuse(request: CustomRequest, version: Option<ProtocolVersion>) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let params = params.unwrap_or_default().to_string();
    match decode_params(&method, &params) {
        Some(Err(problem)) => bad_params(&method, &problem, version),
        Some(Ok(_)) => bad_params(&method, "cannot be decoded", version),
        None => method_not_found(&method),
    }
}

/// The error for parameters with a problem.
pub fn bad_params(method: &str, problem: &str, version: Option<ProtocolVersion>) -> ErrorData {
    let is_modern = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if is_modern && REMOVED.contains(&method) {
        return method_not_found(method);
    }
    error_code::invalid(format!("{method}: params: {problem}"))
}

fn method_not_found(method: &str) -> ErrorData {
    let shown: String = method.chars().take(METHOD_SHOWN_MAX).collect();
    jsonrpc::method_not_found(&shown)
}

/// `_meta` of any parameters.
#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
}

fn required<P: DeserializeOwned, R: Into<ClientRequest>>(
    params: &str,
    request: fn(P) -> R,
) -> Result<ClientRequest, String> {
    if params == "null" {
        return Err("missing".into());
    }
    let params = serde_json::from_str(params).map_err(|_| explain::<P>(parse(params)))?;
    Ok(request(params).into())
}

fn optional<P: DeserializeOwned, R: Into<ClientRequest>>(
    params: &str,
    request: impl FnOnce(Option<P>) -> R,
) -> Result<ClientRequest, String> {
    let params = serde_json::from_str(params).map_err(|_| explain::<P>(parse(params)))?;
    Ok(request(params).into())
}

fn list<M>(
    params: &str,
    mut request: RequestOptionalParam<M, PaginatedRequestParams>,
) -> Result<ClientRequest, String>
where
    RequestOptionalParam<M, PaginatedRequestParams>: Into<ClientRequest>,
{
    optional(params, |params| {
        request.params = params;
        request
    })
}

fn parse(params: &str) -> Value {
    serde_json::from_str(params).unwrap_or_default()
}

/// Why parameters cannot be decoded, with the path of the member at fault.
pub fn explain<P: DeserializeOwned>(params: Value) -> String {
    if !params.is_object() {
        return "must be an object".into();
    }
    let error = serde_path_to_error::deserialize::<_, P>(params).err();
    error.map_or_else(String::new, |error| {
        match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            member => format!("`{member}`: {}", error.inner()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;
    use serde_json::json;

    #[track_caller]
    fn check(method: &str, params: Option<Value>, code: i32, part: &str) {
        let error = refuse(CustomRequest::new(method, params), None);
        assert_eq!(error.code.0, code, "for {method}");
        assert!(
            error.message.contains(part),
            "for {method}: {}",
            error.message
        );
    }

    #[test]
    fn refusals() {
        check("foo/bar", None, -32601, "method not found: foo/bar");
        check("tools/call", None, -32602, "tools/call: params: missing");
        check(
            "tools/call",
            Some(json!({})),
            -32602,
            "missing field `name`",
        );
        check("tools/call", Some(json!([])), -32602, "must be an object");
        let odd = json!({ "name": "x", "arguments": [] });
        check("tools/call", Some(odd), -32602, "`arguments`: invalid type");
        check(
            "resources/read",
            Some(json!({ "uri": 5 })),
            -32602,
            "`uri`: invalid type",
        );
        check(
            "tools/list",
            Some(json!({ "cursor": 5 })),
            -32602,
            "`cursor`",
        );
        let level = json!({ "level": "loud" });
        check(
            "logging/setLevel",
            Some(level),
            -32602,
            "unknown variant `loud`",
        );
    }

    #[test]
    fn removed_methods_are_not_found() {
        let newest = Some(ProtocolVersion::V_2026_07_28);
        for method in REMOVED {
            let error = refuse(CustomRequest::new(method, None), newest.clone());
            assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND, "for {method}");
        }
        let error = refuse(CustomRequest::new("tools/call", None), newest);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    }
}
