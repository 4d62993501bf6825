//! Executing calls: functions that a test offers, and `state::*`.

use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_core::{Failure, Json};

use super::{Inner, Outcome, update};

#[derive(Deserialize)]
struct StateInput {
    scope: String,
    #[serde(default)]
    key: String,
    value: Option<Json>,
    #[serde(default)]
    ops: Vec<update::Op>,
    #[serde(default, deserialize_with = "value_or_null")]
    expected: Option<Value>,
}

/// A field that is present: null is not the same as absent.
fn value_or_null<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Value>, D::Error> {
    Deserialize::deserialize(field).map(Some)
}

impl Inner {
    /// Executes a call.
    pub(crate) fn execute(&mut self, function: &str, payload: Json) -> Outcome {
        if let Some(handler) = self.functions.get(function) {
            return handler(payload);
        }
        let Some(verb) = function.strip_prefix("state::") else {
            return Err(Failure::Absent);
        };
        let StateInput {
            scope,
            key,
            value,
            ops,
            expected,
        } = serde_json::from_str(payload.get()).map_err(|e| Failure::Failed {
            code: "deserialization_error".into(),
            message: e.to_string(),
        })?;
        if let Some(expected) = expected.filter(|_| self.compares) {
            let row = self.rows.get(&(scope.clone(), key.clone()));
            let row = row.map_or(Value::Null, |row| {
                serde_json::from_str(row.get()).expect("rows are JSON")
            });
            if row != expected {
                return Err(Failure::Failed {
                    code: "VALUE_CHANGED".into(),
                    message: format!("`{key}` does not have the expected value"),
                });
            }
        }
        match verb {
            "get" => Ok(self.rows.get(&(scope, key)).cloned()),
            "list" => {
                let rows = self.rows.iter().filter(|((s, _), _)| *s == scope);
                let rows: Vec<&RawValue> = rows.map(|(_, value)| &**value).collect();
                Ok(Some(to_raw_value(&rows).expect("rows are JSON")))
            }
            "set" => {
                let value = value.unwrap_or_else(|| RawValue::NULL.to_owned());
                let old = self
                    .rows
                    .insert((scope.clone(), key.clone()), value.clone());
                self.publish_event(&scope, &key, old.as_deref(), Some(&value));
                let answer = json!({ "old_value": old, "new_value": value });
                Ok(Some(to_raw_value(&answer).expect("rows are JSON")))
            }
            "update" => {
                let place = (scope.clone(), key.clone());
                let old = self.rows.get(&place).cloned();
                let (new, errors) = update::apply(old.as_deref(), ops);
                self.rows.insert(place, new.clone());
                self.publish_event(&scope, &key, old.as_deref(), Some(&new));
                let answer = json!({ "old_value": old, "new_value": new, "errors": errors });
                Ok(Some(to_raw_value(&answer).expect("rows are JSON")))
            }
            "delete" => {
                let old = self.rows.remove(&(scope.clone(), key.clone()));
                self.publish_event(&scope, &key, old.as_deref(), None);
                Ok(old)
            }
            _ => Err(Failure::Absent),
        }
    }

    fn publish_event(
        &mut self,
        scope: &str,
        key: &str,
        old: Option<&RawValue>,
        new: Option<&RawValue>,
    ) {
        let kind = match (old, new) {
            (_, None) => "state:deleted",
            (None, Some(_)) => "state:created",
            (Some(_), Some(_)) => "state:updated",
        };
        let event = json!({
            "type": "state", "event_type": kind, "scope": scope, "key": key,
            "old_value": old, "new_value": new,
        });
        let event = to_raw_value(&event).expect("rows are JSON");
        for connection in self
            .connections
            .iter_mut()
            .filter(|connection| !connection.down)
        {
            connection.inbox.push(event.clone());
        }
    }
}
