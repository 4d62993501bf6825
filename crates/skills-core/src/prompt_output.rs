//! From the result of a prompt's handler to messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::text_of;
use crate::prompt::kind_of;

/// A rendered prompt.
#[derive(Debug, Serialize)]
pub struct RenderedPrompt {
    /// The prompt's description.
    pub description: Box<str>,
    /// The messages, as MCP encodes them.
    pub messages: Vec<Box<RawValue>>,
}

/// Turns a handler's result into messages: a string or a string `content` is one user message,
/// a list `messages` is passed on as it is. An error is a description of any other result.
pub fn messages(result: Option<&RawValue>) -> Result<Vec<Box<RawValue>>, String> {
    #[derive(Deserialize)]
    struct Object {
        messages: Vec<Box<RawValue>>,
    }
    let raw = result.map_or("null", RawValue::get);
    if let Some(text) = text_of(raw) {
        return Ok(vec![user_message(&text)]);
    }
    if raw.starts_with('{')
        && let Ok(Object { messages }) = serde_json::from_str(raw)
    {
        return Ok(messages);
    }
    Err(shape(raw))
}

/// A message of the user with this text.
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

/// A description of a JSON value.
fn shape(raw: &str) -> String {
    match serde_json::from_str(raw) {
        Ok(Value::Object(fields)) if fields.is_empty() => "an empty object".into(),
        Ok(Value::Object(fields)) => {
            let keys: Vec<String> = fields.into_iter().map(|(key, _)| key).take(5).collect();
            format!("an object with {}", keys.join(", "))
        }
        Ok(Value::Null) => "nothing".into(),
        Ok(value) => kind_of(&value).into(),
        Err(error) => format!("invalid JSON: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, expected: &str) {
        let raw = RawValue::from_string(result.to_owned()).unwrap();
        let got = match messages(Some(&raw)) {
            Ok(messages) => messages
                .iter()
                .map(|m| m.get())
                .collect::<Vec<_>>()
                .join(" "),
            Err(shape) => shape,
        };
        assert_eq!(got, expected, "for {result}");
    }

    #[test]
    fn results_of_handlers() {
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
