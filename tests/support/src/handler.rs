//! Functions for a peer to register: each does the same for every call.

use std::future::{pending, ready};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::to_raw_value;
use skills_iii::ErrorBody;
use skills_iii::client::Handler;

/// Returns this value.
pub fn returns(value: Value) -> Handler {
    Arc::new(move |_| {
        let result = to_raw_value(&value).unwrap();
        Box::pin(ready(Ok(Some(result))))
    })
}

/// Returns the payload of the call.
pub fn echo() -> Handler {
    Arc::new(|payload| Box::pin(ready(Ok(Some(payload)))))
}

/// Fails with this error.
pub fn fails(code: &str, message: &str) -> Handler {
    let error = ErrorBody::new(code, message);
    Arc::new(move |_| Box::pin(ready(Err(error.clone()))))
}

/// Never returns.
pub fn hangs() -> Handler {
    Arc::new(|_| Box::pin(pending()))
}
