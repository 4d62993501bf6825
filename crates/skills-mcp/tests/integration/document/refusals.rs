//! Lines that are not valid JSON-RPC requests.

use skills_test_support::document::call;

use super::check::{check, check_error, check_refused};

/// Objects in place of strings, at every level.
#[test]
fn a_value_of_the_wrong_type_is_an_error() {
    let dressed = r#"{"toString":1,"valueOf":1}"#;
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let nested = format!("{open}{close}");
    for (value, kind) in [(dressed, "an object"), (nested.as_str(), "an array")] {
        for tool in ["get_skill", "resolve_skill"] {
            let problem = format!("argument name must be a string, not {kind}");
            check_error(tool, &format!(r#"{{"name":{value}}}"#), &problem);
        }
        let problem = format!("argument text must be a string, not {kind}");
        check_error("route_skill", &format!(r#"{{"text":{value}}}"#), &problem);
        check_refused(
            &format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{value}}}}}"#
            ),
            "1",
            -32602,
            &format!("invalid params: name must be a string, not {kind}"),
        );
        check_refused(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":{value}}}"#),
            "1",
            -32600,
            "invalid request: method must be a string",
        );
    }
}

#[test]
fn invalid_messages_are_refused() {
    for blank in ["", " ", "\t\r"] {
        check(blank, "");
    }
    for line in [
        "nonsense",
        "{",
        r#"{"jsonrpc":"2.0","id":1"#,
        "\u{a0}{}",
        "\u{feff}{}",
        "\u{2028}",
    ] {
        check_refused(line, "null", -32700, "parse error");
    }
    let object = "invalid request: a message is an object";
    for line in ["1", "\"ping\"", "null", "true", "1e400"] {
        check_refused(line, "null", -32600, object);
    }
    let batch = "invalid request: batches are not supported; send one object on each line";
    check_refused("[]", "null", -32600, batch);
    check_refused(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        "null",
        -32600,
        batch,
    );
    let version = "invalid request: jsonrpc must be \"2.0\"";
    check_refused("{}", "null", -32600, version);
    check_refused(r#"{"id":7,"method":"ping"}"#, "7", -32600, version);
    check_refused(
        r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
        "7",
        -32600,
        version,
    );
    for id in ["true", "false", "{}", "[1]"] {
        check_refused(
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
            "null",
            -32600,
            "invalid request: id must be a string, number, or null",
        );
    }
    check_refused(
        r#"{"jsonrpc":"2.0","id":1,"method":"dance"}"#,
        "1",
        -32601,
        "method not found: dance",
    );
    check_refused(
        r#"{"jsonrpc":"2.0","id":1}"#,
        "1",
        -32601,
        "method not found: undefined",
    );
    check_refused(
        r#"{"jsonrpc":"2.0","method":["ping"]}"#,
        "null",
        -32600,
        "invalid request: method must be a string",
    );
    check_refused(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
        "1",
        -32602,
        "invalid params: params must be an object",
    );
    // Responses and notifications have no response.
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "");
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        "",
    );
    for method in ["notifications/initialized", "ping", "tools/call", "dance"] {
        check(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#), "");
    }
}

/// A whole pair is valid.
#[test]
fn a_lone_surrogate_is_a_parse_error() {
    for (line, id) in [
        (&*call("get_skill", r#"{"name":"\ud800"}"#), "1"),
        (&*call("get_skill", r#"{"name":"a","\ud800":1}"#), "1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":["\uDFFF"]}}"#,
            "1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":"\uD83D\\uDE00"}"#,
            "1",
        ),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, "null"),
        (
            r#"{"jsonrpc":"2.0","id":"\uD83Dx","method":"ping"}"#,
            "null",
        ),
    ] {
        check_refused(line, id, -32700, "parse error");
    }
    let whole = r#""\uD83D\uDE00 \\ud800 \u0041""#;
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":{whole},"method":"ping"}}"#),
        &format!(r#"{{"jsonrpc":"2.0","id":{whole},"result":{{}}}}"#),
    );
}

#[test]
fn ids_are_returned_as_they_were_written() {
    for id in [
        "0",
        "-1",
        "1.0",
        "1.5",
        "1e400",
        "9007199254740993",
        "\"\"",
        "\"a\\u0041\\n\"",
        "null",
        "\"__proto__\"",
        "\"é\"",
    ] {
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        );
    }
    check(
        r#" { "method" : "ping" , "id" : 1 , "id" : 2 , "jsonrpc" : "2.0" } "#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    );
}
