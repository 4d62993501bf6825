//! The response to every kind of line over stdio.

use serde_json::Value;

use crate::fake_handler::FakeHandler;
use crate::stdio_client::{StdioClient, limits};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Sends lines, with and without `initialize` before them, and compares the id, as it was written, and
/// the error code (0 for a result) of every response.
async fn check(input: &[u8], expected: &[(&str, i64)]) {
    for handshake in [true, false] {
        let mut client = StdioClient::new(&FakeHandler::default(), limits());
        if handshake {
            client.send(INITIALIZE).await;
            assert_eq!(client.next().await["id"], "init");
        }
        client.send(input).await;
        let answers = client.close().await;
        let mut got: Vec<_> = answers.iter().map(|line| summary(line)).collect();
        got.sort();
        let mut expected: Vec<_> = expected
            .iter()
            .map(|(id, code)| ((*id).to_owned(), *code))
            .collect();
        expected.sort();
        let input = String::from_utf8_lossy(&input[..input.len().min(200)]);
        assert_eq!(got, expected, "for {input}, got {answers:?}");
    }
}

/// The id as it was written, and the code.
fn summary(line: &str) -> (String, i64) {
    let after = line.split_once(r#""id":"#).unwrap().1;
    let end = after.rfind(r#","error""#).or(after.rfind(r#","result""#));
    let answer: Value = serde_json::from_str(line).unwrap();
    assert_eq!(answer["jsonrpc"], "2.0", "{line}");
    let error = &answer["error"];
    if !error.is_null() {
        assert!(error["message"].as_str().unwrap().len() > 5, "{line}");
    }
    let id = &after[..end.unwrap()];
    (id.to_owned(), error["code"].as_i64().unwrap_or_default())
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[tokio::test]
async fn lines_that_are_not_json() {
    for text in [
        "{",
        "hello",
        "{\"jsonrpc\":\"2.0\",}",
        "[1,",
        "nul",
        "\"a",
        "1 2",
    ] {
        check(text.as_bytes(), &[("null", -32700)]).await;
    }
    check(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}",
        &[("null", -32700)],
    )
    .await;
    check(&b"[".repeat(200_000), &[("null", -32700)]).await;
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    check(deep.as_bytes(), &[("null", -32700)]).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#,
        r#"{"a":"#.repeat(500),
        "}".repeat(501)
    );
    check(deep.as_bytes(), &[("null", -32700)]).await;
}

#[tokio::test]
async fn json_that_is_not_a_message() {
    for text in ["42", r#""hi""#, "null", "true", "1.5", "[]", "{}"] {
        check(text.as_bytes(), &[("null", -32600)]).await;
    }
    check(format!("[{}]", ping("1")).as_bytes(), &[("null", -32600)]).await;
    for line in [
        r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
        r#"{"id":7,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":1}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
    ] {
        check(line.as_bytes(), &[("7", -32600)]).await;
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}"#,
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","params":{}}"#,
    ] {
        check(line.as_bytes(), &[("null", -32600)]).await;
    }
}

#[tokio::test]
async fn ids_are_strings_or_integers_of_64_bits() {
    for (id, echoed) in [
        ("1", "1"),
        ("0", "0"),
        ("-1", "-1"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("9007199254740993", "9007199254740993"),
        ("-9223372036854775808", "-9223372036854775808"),
        (r#""""#, r#""""#),
        (r#""1""#, r#""1""#),
        (r#""\u0061""#, r#""a""#),
        (r#""a \"quoted\" one""#, r#""a \"quoted\" one""#),
        (r#""\u00011""#, r#""\u00011""#),
    ] {
        check(ping(id).as_bytes(), &[(echoed, 0)]).await;
    }
    let long = format!("\"{}\"", "x".repeat(100_000));
    check(ping(&long).as_bytes(), &[(&long, 0)]).await;
    for id in [
        "1.5",
        "9223372036854775808",
        "123456789012345678901234567890",
        "null",
    ] {
        check(ping(id).as_bytes(), &[(id, -32600)]).await;
    }
    for id in ["true", "{}", "[1]", "[]"] {
        check(ping(id).as_bytes(), &[("null", -32600)]).await;
    }
}

#[tokio::test]
async fn a_lone_surrogate_is_not_text() {
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"\ud800"}}"#;
    check(line.as_bytes(), &[("7", -32700)]).await;
    check(ping(r#""\ud800""#).as_bytes(), &[("null", -32700)]).await;
}

#[tokio::test]
async fn methods_and_their_parameters() {
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#)
    };
    check(call("foo/bar", "{}").as_bytes(), &[("7", -32601)]).await;
    check(
        call("tasks/get", r#"{"taskId":"1"}"#).as_bytes(),
        &[("7", -32601)],
    )
    .await;
    for (method, params) in [
        ("tools/call", "{}"),
        ("tools/call", "null"),
        ("tools/call", r#"{"name":1}"#),
        ("tools/call", r#"{"name":"read","arguments":[]}"#),
        ("tools/call", r#"{"name":"nobody"}"#),
        ("resources/read", "{}"),
        ("resources/read", "[]"),
        ("resources/read", r#""iii://skills""#),
        ("ping", "[]"),
        ("ping", "1"),
        ("foo/bar", "[1]"),
        ("completion/complete", r#"{"ref":{"type":"ref/nothing"}}"#),
        ("logging/setLevel", r#"{"level":"loud"}"#),
        ("prompts/get", r#"{"name":[]}"#),
        ("tools/list", r#"{"cursor":5}"#),
        ("tools/list", r#"{"_meta":5}"#),
        ("initialize", r#"{"protocolVersion":"2025-11-25"}"#),
    ] {
        check(call(method, params).as_bytes(), &[("7", -32602)]).await;
    }
    check(
        call("tools/call", r#"{"name":"panic"}"#).as_bytes(),
        &[("7", -32603)],
    )
    .await;
    check(call("ping", "{}").as_bytes(), &[("7", 0)]).await;
    check(call("ping", "null").as_bytes(), &[("7", 0)]).await;
}

#[tokio::test]
async fn messages_without_a_response() {
    for line in [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
    ] {
        let input = format!("{line}\n{}", ping("1"));
        check(input.as_bytes(), &[("1", 0)]).await;
    }
}

#[tokio::test]
async fn line_endings_and_byte_order_marks() {
    check(format!("{}\r", ping("1")).as_bytes(), &[("1", 0)]).await;
    check(format!("\u{feff}{}", ping("1")).as_bytes(), &[("1", 0)]).await;
    check(format!("  {}  ", ping("1")).as_bytes(), &[("1", 0)]).await;
    let mut client = StdioClient::new(&FakeHandler::default(), limits());
    client.send_raw(ping("1").as_bytes()).await;
    assert_eq!(
        client.close().await.len(),
        1,
        "the last line needs no newline"
    );
}

#[tokio::test]
async fn a_line_over_the_limit_is_one_error() {
    const CAP: usize = 10 << 20;
    let fits = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#,
        "x".repeat(CAP - 60)
    );
    assert!(fits.len() <= CAP);
    check(fits.as_bytes(), &[("1", 0)]).await;
    let long = format!("{}\n{}", "x".repeat(2 * CAP + 5), ping("2"));
    check(long.as_bytes(), &[("2", 0), ("null", -32700)]).await;
    let long = format!("{}\n{}", " ".repeat(CAP + 1), ping("2"));
    check(long.as_bytes(), &[("2", 0), ("null", -32700)]).await;
}

#[tokio::test]
async fn batches_depend_on_the_version() {
    for (version, taken) in [
        ("2024-11-05", true),
        ("2025-03-26", true),
        ("2025-06-18", false),
    ] {
        let mut client = StdioClient::new(&FakeHandler::default(), limits());
        client.send(INITIALIZE.replace("2025-11-25", version)).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], version);
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        client
            .send(format!("[{notice},{},7,{}]", ping("1"), ping("2.5")))
            .await;
        client.send(format!("[{notice}]")).await;
        let mut answers = client.close().await;
        if taken {
            let batch: Vec<Value> = serde_json::from_str(&answers.pop().unwrap()).unwrap();
            assert!(answers.is_empty());
            let mut ids: Vec<_> = batch.iter().map(|one| one["id"].to_string()).collect();
            ids.sort();
            assert_eq!(ids, ["1", "2.5", "null"]);
        } else {
            let codes = answers.iter().map(|line| summary(line).1);
            assert_eq!(codes.collect::<Vec<_>>(), [-32600, -32600]);
        }
    }
}
