//! What a prompt's handler may return, and the messages it becomes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::content::content_field;

/// A rendered prompt.
#[derive(Debug, Serialize)]
pub struct RenderedPrompt {
    /// The prompt's description.
    pub description: Box<str>,
    /// The messages, as the protocol has them.
    pub messages: Vec<Box<RawValue>>,
}

/// Turns a handler's answer into messages: a string or a string `content` is one
/// user message, a list `messages` passes through untouched. Anything else comes
/// back as a few words about what it was.
pub fn messages(answer: Option<&RawValue>) -> Result<Vec<Box<RawValue>>, String> {
    #[derive(Deserialize)]
    struct Passed {
        messages: Vec<Box<RawValue>>,
    }
    let raw = answer.map_or("null", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return Ok(vec![user_message(&text)]);
    }
    if let Some(text) = content_field(raw) {
        return Ok(vec![user_message(&text)]);
    }
    if raw.starts_with('{')
        && let Ok(Passed { messages }) = serde_json::from_str(raw)
    {
        return Ok(messages);
    }
    Err(shape(raw))
}

/// One message of the user's with this text.
pub fn user_message(text: &str) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Message<'a> {
        role: &'static str,
        content: Text<'a>,
    }
    #[derive(Serialize)]
    struct Text<'a> {
        r#type: &'static str,
        text: &'a str,
    }
    let message = Message {
        role: "user",
        content: Text {
            r#type: "text",
            text,
        },
    };
    serde_json::value::to_raw_value(&message).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// What a JSON text is, in a few words.
fn shape(raw: &str) -> String {
    match raw.as_bytes().first() {
        Some(b'{') => {
            let keys = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw)
                .map(|map| {
                    map.into_iter()
                        .map(|(key, _)| key)
                        .take(5)
                        .collect::<Vec<_>>()
                })
                .unwrap_or_default();
            if keys.is_empty() {
                "an empty object".into()
            } else {
                format!("an object with {}", keys.join(", "))
            }
        }
        Some(b'[') => "a list".into(),
        Some(b'n') | None => "nothing".into(),
        Some(b't' | b'f') => "a boolean".into(),
        Some(_) => "a number".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        let raw = RawValue::from_string(answer.to_owned()).unwrap();
        let got = match messages(Some(&raw)) {
            Ok(messages) => messages
                .iter()
                .map(|m| m.get())
                .collect::<Vec<_>>()
                .join(" "),
            Err(shape) => shape,
        };
        assert_eq!(got, expected, "for {answer}");
    }

    #[test]
    fn handler_answers() {
        let hi = r#"{"role":"user","content":{"type":"text","text":"Hi"}}"#;
        check(r#""Hi""#, hi);
        check(r#"{"content":"Hi"}"#, hi);
        check(
            r#"{"messages":[{"role":"assistant","x":9007199254740993}]}"#,
            r#"{"role":"assistant","x":9007199254740993}"#,
        );
        check(r#"{"messages":[]}"#, "");
        check(r#"{"messages":"no"}"#, "an object with messages");
        check(r#"{"content":1,"b":2}"#, "an object with b, content");
        check("{}", "an empty object");
        check("[[]]", "a list");
        check("null", "nothing");
        check("true", "a boolean");
        check("3", "a number");
        assert_eq!(messages(None).unwrap_err(), "nothing");
    }
}
