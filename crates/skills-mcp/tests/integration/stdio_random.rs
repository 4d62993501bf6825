//! Property: no sequence of lines ends the server, and every request has one response.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;

use crate::fake_handler::FakeHandler;
use crate::stdio_client::{StdioClient, limits};

/// A line, with `@` in place of a unique id.
fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "",
        "{}",
        "[]",
        "null",
        "[1,2]",
        "{\"jsonrpc\":\"2.0\",\"method\":",
        r#"{"jsonrpc":"2.0","id":@,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"@","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":@.5,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"nonsense"}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"write","arguments":{"a":@}}}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"panic"}}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"resources/read","params":{"uri":"a:b"}}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"server/discover"}"#,
        r#"{"jsonrpc":"1.0","id":@,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":@}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000000}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1000000,"result":{}}"#,
    ]);
    prop_oneof![
        8 => known.prop_map(str::to_owned),
        1 => "[\\PC&&[^@\n\r]]{0,40}",
        1 => json_object(),
    ]
}

/// An object with some members of a message and any values.
fn json_object() -> impl Strategy<Value = String> {
    let anything = prop::sample::select(vec![
        "null",
        "true",
        "1",
        "-1.5e3",
        "\"2.0\"",
        "\"ping\"",
        "[]",
        "{}",
        "{\"uri\":\"a:b\"}",
    ]);
    let members =
        prop::sample::subsequence(vec!["jsonrpc", "method", "params", "result", "x"], 0..5);
    (members, prop::collection::vec(anything, 5)).prop_map(|(members, values)| {
        let member = |(name, value): (&&str, &&str)| format!(",\"{name}\":{value}");
        let members: String = members.iter().zip(&values).map(member).collect();
        format!("{{\"id\":@{members}}}")
    })
}

/// The ids of lines that need a response.
fn requested(lines: &[String]) -> HashMap<String, usize> {
    let mut requested = HashMap::new();
    for line in lines {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let id = &message["id"];
        let answers = message.get("result").is_some() || message.get("error").is_some();
        let is_answer = answers && message.get("method").is_none();
        if (id.is_string() || id.is_number()) && !is_answer {
            *requested.entry(id.to_string()).or_default() += 1;
        }
    }
    requested
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_is_answered_once(lines in prop::collection::vec(line(), 0..40), threads in 1_usize..3) {
        let lines: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| line.replace('@', &at.to_string()))
            .collect();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
            .unwrap();
        let responses = runtime.block_on(async {
            let mut client = StdioClient::new(&FakeHandler::default(), limits());
            for line in &lines {
                client.send(line).await;
            }
            client.send(r#"{"jsonrpc":"2.0","id":"the last","method":"ping"}"#).await;
            client.close().await
        });
        let mut answered = HashMap::new();
        for line in &responses {
            let answer: Value = serde_json::from_str(line).unwrap();
            if !answer["id"].is_null() {
                *answered.entry(answer["id"].to_string()).or_default() += 1;
            }
        }
        let mut requested = requested(&lines);
        requested.insert("\"the last\"".to_owned(), 1);
        prop_assert_eq!(answered, requested);
    }
}
