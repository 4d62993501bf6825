//! Tells the program of every request that was served, for its metrics.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;
use skills_core::Kind;

/// A request that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// The method, or the operation of a built-in tool. Never a name that a client chose.
    pub operation: &'static str,
    /// How long it took.
    pub duration: Duration,
    /// How it failed.
    pub failure: Option<Kind>,
}

/// A function that is told of every request. It must be quick.
pub type RequestObserver = Arc<dyn Fn(ServedRequest) + Send + Sync>;

/// The observer, if the program has set one.
#[derive(Default)]
pub(crate) struct Observer(OnceLock<RequestObserver>);

impl Observer {
    /// Only the first observer is told.
    pub(crate) fn set(&self, observer: RequestObserver) {
        let _ = self.0.set(observer);
    }

    pub(crate) fn served(&self, request: ServedRequest) {
        if let Some(observer) = self.0.get() {
            observer(request);
        }
    }
}

/// The kind of an error response, which has it in its data if the registry made the error.
pub(crate) fn kind(error: &ErrorData) -> Kind {
    let data = error.data.as_ref().and_then(|data| data.get("kind"));
    let name = data.and_then(Value::as_str);
    let known = name.and_then(|name| Kind::ALL.into_iter().find(|kind| kind.name() == name));
    known.unwrap_or(match error.code {
        ErrorCode::INTERNAL_ERROR => Kind::Broken,
        ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::METHOD_NOT_FOUND => Kind::NotFound,
        _ => Kind::Invalid,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kind_of_an_error_is_in_its_data_or_follows_from_its_code() {
        let with = |code, kind: Option<&str>| {
            let data = kind.map(|kind| json!({ "kind": kind }));
            super::kind(&ErrorData::new(code, "", data))
        };
        assert_eq!(
            with(ErrorCode::INVALID_PARAMS, Some("conflict")),
            Kind::Conflict
        );
        assert_eq!(with(ErrorCode::INTERNAL_ERROR, None), Kind::Broken);
        assert_eq!(with(ErrorCode::METHOD_NOT_FOUND, None), Kind::NotFound);
        assert_eq!(with(ErrorCode::INVALID_PARAMS, Some("?")), Kind::Invalid);
    }
}
