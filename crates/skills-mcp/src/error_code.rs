//! JSON-RPC error codes for errors of the registry.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;
use skills_core::{Error, Kind};

/// The code for a kind of error.
pub const fn code(kind: Kind) -> ErrorCode {
    match kind {
        Kind::Invalid | Kind::NotFound | Kind::Forbidden | Kind::Conflict => {
            ErrorCode::INVALID_PARAMS
        }
        Kind::Failed | Kind::Unavailable | Kind::TimedOut | Kind::Broken => {
            ErrorCode::INTERNAL_ERROR
        }
    }
}

/// An error of the registry as a JSON-RPC error.
pub fn error(error: &Error) -> ErrorData {
    with_code(code(error.kind()), error)
}

/// The same for a resource. Before 2026-07-28 a resource that is not found has a code of its own;
/// the SDK replaces it for newer clients.
pub fn resource_error(error: &Error, uri: &str) -> ErrorData {
    let code = match error.kind() {
        Kind::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        kind => code(kind),
    };
    let mut error = with_code(code, error);
    if let Some(serde_json::Value::Object(data)) = &mut error.data {
        data.insert("uri".into(), uri.into());
    }
    error
}

/// A request with invalid parameters.
pub fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(
        message.into(),
        Some(json!({ "kind": Kind::Invalid.name() })),
    )
}

fn with_code(code: ErrorCode, error: &Error) -> ErrorData {
    let mut data = json!({ "kind": error.kind().name() });
    if let Some(hint) = error.hint() {
        data["hint"] = hint.into();
    }
    if let Error::Conflict { current, .. } = error {
        let digest = current.digest().map(|digest| digest.to_string());
        data["current_digest"] = digest.into();
    }
    ErrorData::new(code, error.to_text(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_resource_has_its_own_code_and_its_uri() {
        let missing = Error::NoSuchSkill {
            id: "a".parse().unwrap(),
            nearest: Some("b".into()),
        };
        let got = resource_error(&missing, "iii://a");
        assert_eq!(got.code, ErrorCode::RESOURCE_NOT_FOUND);
        let data = json!({ "kind": "not_found", "hint": "did you mean `b`?", "uri": "iii://a" });
        assert_eq!(got.data, Some(data));
        assert_eq!(error(&missing).code, ErrorCode::INVALID_PARAMS);
    }
}
