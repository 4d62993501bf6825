//! Requests that are no request of the protocol: unknown methods, and known ones whose
//! parameters cannot be understood.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error_code;

/// What is wrong with a method's parameters; none where they are fine.
type Why = fn(Option<Value>) -> Option<String>;

/// The methods that end up here only with parameters nobody can read.
const METHODS: &[(&str, Why)] = &[
    ("initialize", why::<InitializeRequestParams>),
    ("ping", why_optional::<PaginatedRequestParams>),
    ("server/discover", why_optional::<PaginatedRequestParams>),
    ("tools/list", why_optional::<PaginatedRequestParams>),
    ("tools/call", why::<CallToolRequestParams>),
    ("resources/list", why_optional::<PaginatedRequestParams>),
    (
        "resources/templates/list",
        why_optional::<PaginatedRequestParams>,
    ),
    ("resources/read", why::<ReadResourceRequestParams>),
    ("resources/subscribe", why::<SubscribeRequestParams>),
    ("resources/unsubscribe", why::<UnsubscribeRequestParams>),
    ("prompts/list", why_optional::<PaginatedRequestParams>),
    ("prompts/get", why::<GetPromptRequestParams>),
    ("completion/complete", why::<CompleteRequestParams>),
    ("logging/setLevel", why::<SetLevelRequestParams>),
    (
        "subscriptions/listen",
        why::<SubscriptionsListenRequestParams>,
    ),
];

/// The methods that 2026-07-28 did away with.
const REMOVED: &[&str] = &[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The error for such a request of a client that speaks `version`.
pub fn refuse(request: CustomRequest, version: Option<ProtocolVersion>) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let is_modern = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let removed = is_modern && REMOVED.contains(&&*method);
    let known = METHODS.iter().find(|(known, _)| *known == method);
    let Some((_, why)) = known.filter(|_| !removed) else {
        let shown: String = method.chars().take(80).collect();
        let message = format!("Method not found: {shown}");
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
    };
    let reason = why(params).unwrap_or_else(|| "cannot be understood".into());
    error_code::invalid(format!("{method}: params: {reason}"))
}

fn why<T: DeserializeOwned>(params: Option<Value>) -> Option<String> {
    match params {
        None => Some("missing".into()),
        Some(params) if !params.is_object() => Some("must be an object".into()),
        Some(params) => serde_path_to_error::deserialize::<_, T>(params)
            .err()
            .map(|error| match error.path().to_string().as_str() {
                "." => error.inner().to_string(),
                field => format!("`{field}`: {}", error.inner()),
            }),
    }
}

fn why_optional<T: DeserializeOwned>(params: Option<Value>) -> Option<String> {
    params.and_then(|params| why::<T>(Some(params)))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        check("foo/bar", None, -32601, "Method not found: foo/bar");
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
    fn methods_that_are_gone() {
        let newest = Some(ProtocolVersion::V_2026_07_28);
        for method in REMOVED {
            let error = refuse(CustomRequest::new(*method, None), newest.clone());
            assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND, "for {method}");
        }
        let error = refuse(CustomRequest::new("tools/call", None), newest);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    }
}
