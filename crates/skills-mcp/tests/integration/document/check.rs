//! A line in, and what must come out.

use super::sample::{SAMPLE, answer, call, session};

/// A line, and the whole of its answer.
#[track_caller]
pub fn check(line: &str, expected: &str) {
    let got = answer(&mut session(SAMPLE), line);
    let expected = if expected.is_empty() {
        String::new()
    } else {
        format!("{expected}\n")
    };
    assert_eq!(got, expected, "for {line}");
}

/// A call, and the text it is answered with.
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

/// A call, and the text of the error it is answered with.
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

/// A line, and the error it is refused with.
#[track_caller]
pub fn check_refused(line: &str, id: &str, code: i32, message: &str) {
    let message = serde_json::Value::from(message);
    check(
        line,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#),
    );
}
