//! One scope of an engine's state: the calls of `state::*` on it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::{Engine, Failure, Json};

pub(crate) struct StateScope {
    pub engine: Arc<dyn Engine>,
    pub name: String,
    timeout: Duration,
}

/// The input of the engine's `state::*` functions.
#[derive(Default, Serialize)]
struct StateInput<'a> {
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ops: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Expected<'a>>,
}

/// The value that a row must have for a write to happen; none: there must be no row. The embedded
/// engine compares it; other engines do not know it and write in any case.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Expected<'a>(pub Option<&'a RawValue>);

impl StateScope {
    pub(crate) fn new(engine: Arc<dyn Engine>, name: String, timeout: Duration) -> Self {
        Self {
            engine,
            name,
            timeout,
        }
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The value of a key.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<Json>, Failure> {
        let value = self.call("state::get", Some(key)).await?;
        Ok(value.filter(|value| value.get() != "null"))
    }

    /// Stores a value under a key.
    pub(crate) async fn set(&self, key: &str, value: &RawValue) -> Result<Replaced, Failure> {
        self.set_if(key, value, None).await
    }

    /// The same, if the row has the expected value.
    pub(crate) async fn set_if(
        &self,
        key: &str,
        value: &RawValue,
        expected: Option<Expected<'_>>,
    ) -> Result<Replaced, Failure> {
        let input = StateInput {
            scope: &self.name,
            key: Some(key),
            value: Some(value),
            expected,
            ..StateInput::default()
        };
        self.send("state::set", &input).await.map(Replaced)
    }

    /// Applies a list of operations to the value of a key, in one step.
    pub(crate) async fn update(&self, key: &str, ops: &RawValue) -> Result<Option<Json>, Failure> {
        let input = StateInput {
            scope: &self.name,
            key: Some(key),
            ops: Some(ops),
            ..StateInput::default()
        };
        self.send("state::update", &input).await
    }

    /// Removes a key. Returns whether it had a value.
    pub(crate) async fn delete(&self, key: &str) -> Result<bool, Failure> {
        Ok(self.take_if(key, None).await?.is_some())
    }

    /// Removes a key if its row has the expected value. Returns the value that it had.
    pub(crate) async fn take_if(
        &self,
        key: &str,
        expected: Option<Expected<'_>>,
    ) -> Result<Option<Json>, Failure> {
        let input = StateInput {
            scope: &self.name,
            key: Some(key),
            expected,
            ..StateInput::default()
        };
        let old = self.send("state::delete", &input).await?;
        Ok(old.filter(|old| old.get() != "null"))
    }

    /// The values of all keys, as one JSON list.
    pub(crate) async fn list(&self) -> Result<Option<Json>, Failure> {
        self.call("state::list", None).await
    }

    async fn call(&self, function: &str, key: Option<&str>) -> Result<Option<Json>, Failure> {
        let input = StateInput {
            scope: &self.name,
            key,
            ..StateInput::default()
        };
        self.send(function, &input).await
    }

    async fn send(&self, function: &str, input: &StateInput<'_>) -> Result<Option<Json>, Failure> {
        let payload = to_raw_value(input).expect("an input of strings is JSON");
        self.engine.call(function, payload, self.timeout).await
    }
}

/// The answer of `state::set` or `state::update`, decoded only if it is needed.
pub(crate) struct Replaced(pub Option<Json>);

#[derive(Default, Deserialize)]
struct Values<'a> {
    #[serde(default, borrow)]
    old_value: Option<&'a RawValue>,
    #[serde(default, borrow)]
    new_value: Option<&'a RawValue>,
}

impl Replaced {
    /// The value that was replaced.
    pub(crate) fn value(&self) -> Option<&RawValue> {
        let old = self.values().old_value;
        old.filter(|value| value.get() != "null")
    }

    /// The value that replaced it.
    pub(crate) fn new_value(&self) -> Option<&RawValue> {
        let new = self.values().new_value;
        new.filter(|value| value.get() != "null")
    }

    fn values(&self) -> Values<'_> {
        let answer = self.0.as_deref().map(RawValue::get);
        let values = answer.and_then(|answer| serde_json::from_str(answer).ok());
        values.unwrap_or_default()
    }
}
