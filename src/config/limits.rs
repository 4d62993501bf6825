//! The section `limits:` of the configuration: the limits that an operator can set.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

/// The limits that an operator can set. `docs/limits.md` says what happens beyond each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitSettings {
    /// Bytes of one message of a worker.
    pub message_bytes: usize,
    /// Bytes of one message of the engine that a worker is connected to.
    pub engine_message_bytes: usize,
    /// Bytes that wait for one worker.
    pub queue_bytes: usize,
    /// Bytes that wait for all workers.
    pub all_queues_bytes: usize,
    /// Calls of one worker without a result.
    pub open_calls: usize,
    /// Bytes of one value of state.
    pub value_bytes: usize,
    /// Bytes that wait to be written to state.
    pub write_queue_bytes: usize,
    /// Connections of workers.
    pub worker_connections: usize,
    /// HTTP connections.
    pub http_connections: usize,
    /// Bytes of the body of one HTTP request.
    pub http_body_bytes: usize,
    /// Open MCP sessions over HTTP.
    pub http_sessions: usize,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            message_bytes: skills_iii::limits::MAX_MESSAGE_BYTES,
            engine_message_bytes: skills_iii::limits::MAX_ENGINE_MESSAGE_BYTES,
            queue_bytes: skills_iii::limits::MAX_QUEUED_BYTES,
            all_queues_bytes: skills_iii::limits::MAX_QUEUED_BYTES_OF_ALL,
            open_calls: skills_iii::limits::MAX_OPEN_CALLS,
            value_bytes: skills_iii::limits::MAX_VALUE_BYTES,
            write_queue_bytes: skills_iii::limits::MAX_QUEUED_WRITE_BYTES,
            worker_connections: skills_iii::limits::MAX_WORKER_CONNECTIONS,
            http_connections: skills_mcp::limits::MAX_HTTP_CONNECTIONS,
            http_body_bytes: skills_mcp::limits::LINE_MAX,
            http_sessions: skills_mcp::limits::MAX_SESSIONS,
        }
    }
}

/// The registry needs messages with the largest body, written as JSON with every byte escaped.
const BYTES: RangeInclusive<usize> = (2 << 20)..=(1 << 30);
/// At least one, so that no setting closes a server to everyone.
const COUNT: RangeInclusive<usize> = 1..=1_000_000;
/// Enough for the calls that one client makes at the same time.
const CALLS: RangeInclusive<usize> = 64..=1_000_000;

impl LimitSettings {
    /// A setting, and the values that it can have.
    fn setting(&mut self, name: &str) -> Option<(&mut usize, RangeInclusive<usize>)> {
        Some(match name {
            "message_bytes" => (&mut self.message_bytes, BYTES),
            "engine_message_bytes" => (&mut self.engine_message_bytes, BYTES),
            "queue_bytes" => (&mut self.queue_bytes, BYTES),
            "all_queues_bytes" => (&mut self.all_queues_bytes, BYTES),
            "open_calls" => (&mut self.open_calls, CALLS),
            "value_bytes" => (&mut self.value_bytes, BYTES),
            "write_queue_bytes" => (&mut self.write_queue_bytes, BYTES),
            "worker_connections" => (&mut self.worker_connections, COUNT),
            "http_connections" => (&mut self.http_connections, COUNT),
            "http_body_bytes" => (&mut self.http_body_bytes, BYTES),
            "http_sessions" => (&mut self.http_sessions, COUNT),
            _ => return None,
        })
    }

    /// Applies the settings of a file; returns a warning for each that is not valid.
    pub(super) fn apply(&mut self, given: BTreeMap<String, Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, value) in given {
            let Some((limit, range)) = self.setting(&name) else {
                warnings.push(format!("`limits.{name}` is not a setting; ignored"));
                continue;
            };
            let number = value.as_u64().and_then(|number| number.try_into().ok());
            match number.filter(|number| range.contains(number)) {
                Some(number) => *limit = number,
                None => warnings.push(format!(
                    "`limits.{name}` must be a number from {} to {}, not {value}; {limit} applies",
                    range.start(),
                    range.end()
                )),
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: Value, change: impl FnOnce(&mut LimitSettings), warning: &str) {
        let mut expected = LimitSettings::default();
        change(&mut expected);
        let mut limits = LimitSettings::default();
        let warnings = limits.apply(serde_json::from_value(given).unwrap());
        assert_eq!(limits, expected);
        assert_eq!(warnings.join("\n"), warning);
    }

    #[test]
    fn settings() {
        check(json!({}), |_| {}, "");
        check(
            json!({ "http_sessions": 2, "queue_bytes": 4_194_304 }),
            |limits| (limits.http_sessions, limits.queue_bytes) = (2, 4 << 20),
            "",
        );
        check(
            json!({ "http_sessions": 0 }),
            |_| {},
            "`limits.http_sessions` must be a number from 1 to 1000000, not 0; 1024 applies",
        );
        check(
            json!({ "value_bytes": "64 MiB" }),
            |_| {},
            "`limits.value_bytes` must be a number from 2097152 to 1073741824, not \"64 MiB\"; 67108864 applies",
        );
        check(
            json!({ "queue": 5 }),
            |_| {},
            "`limits.queue` is not a setting; ignored",
        );
    }

    #[test]
    fn every_limit_can_be_set_and_its_default_is_valid() {
        let mut limits = LimitSettings::default();
        let defaults = serde_json::to_value(&limits).unwrap();
        for name in defaults.as_object().unwrap().keys() {
            let (limit, range) = limits.setting(name).unwrap();
            assert!(range.contains(limit), "{name}");
        }
    }
}
