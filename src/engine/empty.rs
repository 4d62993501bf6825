//! The [`Engine`] port without state: what `skills doctor` uses for files when there is no store,
//! because opening one would create it.

use std::time::Duration;

use skills_core::{Engine, Failure, Json, Pending, StoredRow};

/// An engine with no rows and no functions.
pub struct EmptyEngine;

impl Engine for EmptyEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        _: Json,
        _: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        let result = match function {
            "state::list" => Ok(Some(json("[]"))),
            "state::get" => Ok(Some(json("null"))),
            _ => Err(Failure::Absent),
        };
        Box::pin(std::future::ready(result))
    }

    fn for_each_row(
        &self,
        _: &str,
        _: &mut dyn FnMut(StoredRow<'_>),
    ) -> Option<Result<(), Failure>> {
        Some(Ok(()))
    }

    fn send(&self, _: &str, _: Json) {}
}

fn json(text: &str) -> Json {
    serde_json::value::RawValue::from_string(text.into()).expect("a constant is JSON")
}
