//! The section `limits:` of the configuration: the limits that an operator can set.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::section::Section;

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
    /// The name of each setting, its value, and the values that it can have.
    fn settings(&mut self) -> [(&'static str, &mut usize, RangeInclusive<usize>); 11] {
        [
            ("message_bytes", &mut self.message_bytes, BYTES),
            (
                "engine_message_bytes",
                &mut self.engine_message_bytes,
                BYTES,
            ),
            ("queue_bytes", &mut self.queue_bytes, BYTES),
            ("all_queues_bytes", &mut self.all_queues_bytes, BYTES),
            ("open_calls", &mut self.open_calls, CALLS),
            ("value_bytes", &mut self.value_bytes, BYTES),
            ("write_queue_bytes", &mut self.write_queue_bytes, BYTES),
            ("worker_connections", &mut self.worker_connections, COUNT),
            ("http_connections", &mut self.http_connections, COUNT),
            ("http_body_bytes", &mut self.http_body_bytes, BYTES),
            ("http_sessions", &mut self.http_sessions, COUNT),
        ]
    }

    /// Reads the section of the file.
    pub(super) fn read(&mut self, section: &mut Section<'_>) {
        for (name, limit, range) in self.settings() {
            if let Some(number) = section.take_number(name, &range) {
                *limit = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[track_caller]
    fn check(yaml: &str, change: impl FnOnce(&mut LimitSettings), warning: &str) {
        let mut expected = LimitSettings::default();
        change(&mut expected);
        let parsed = Config::parse(&format!("limits: {yaml}")).unwrap();
        assert_eq!(parsed.config.limits, expected);
        let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.join("\n"), warning);
    }

    #[test]
    fn settings() {
        check("{}", |_| {}, "");
        check(
            "{http_sessions: 2, queue_bytes: 4194304}",
            |limits| (limits.http_sessions, limits.queue_bytes) = (2, 4 << 20),
            "",
        );
        check(
            "{http_sessions: 0}",
            |_| {},
            "1:25: `limits.http_sessions` must be a number from 1 to 1000000, not 0; its default applies",
        );
        check(
            "{value_bytes: 64 MiB}",
            |_| {},
            "1:23: `limits.value_bytes` must be a number from 2097152 to 1073741824, not the text `64 MiB`; its default applies",
        );
        check(
            "{queue: 5}",
            |_| {},
            "1:10: `limits.queue` is not a setting; ignored",
        );
    }

    #[test]
    fn every_limit_can_be_set_and_its_default_is_valid() {
        let mut limits = LimitSettings::default();
        let fields = serde_json::to_value(&limits).unwrap();
        let names: Vec<_> = limits.settings().iter().map(|(name, ..)| *name).collect();
        for field in fields.as_object().unwrap().keys() {
            assert!(names.contains(&field.as_str()), "{field}");
        }
        for (name, limit, range) in limits.settings() {
            assert!(range.contains(limit), "{name}");
        }
    }
}
