//! A session about a document, and checks of its responses.

use std::sync::Arc;

use agent3md::Agent;
use skills_mcp::document::{ServedAgent, Session};
use skills_test_support::document::{SAMPLE, call};

/// A session about a document.
pub fn session(text: &str) -> Session {
    let agent = Agent::parse(text).unwrap();
    Session::new(Arc::new(ServedAgent::new(agent)))
}

/// The response to a line, as it is written.
pub fn respond(session: &mut Session, line: &str) -> String {
    let mut out = Vec::new();
    session.respond(line.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

/// Checks the whole response to a line.
#[track_caller]
pub fn check(line: &str, expected: &str) {
    let got = respond(&mut session(SAMPLE), line);
    let expected = if expected.is_empty() {
        String::new()
    } else {
        format!("{expected}\n")
    };
    assert_eq!(got, expected, "for {line}");
}

/// Checks the text of the result of a call.
#[track_caller]
pub fn check_text(tool: &str, arguments: &str, text: &str) {
    let text = serde_json::Value::from(text);
    check(
        &call(tool, arguments),
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        ),
    );
}

/// Checks the text of a failed call.
#[track_caller]
pub fn check_error(tool: &str, arguments: &str, text: &str) {
    let text = serde_json::Value::from(text);
    check(
        &call(tool, arguments),
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"isError":true}}}}"#
        ),
    );
}

/// Checks the error of a line.
#[track_caller]
pub fn check_refused(line: &str, id: &str, code: i32, message: &str) {
    let message = serde_json::Value::from(message);
    check(
        line,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#),
    );
}
