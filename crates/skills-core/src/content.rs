//! What an address serves: a text and its mime type.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::ResourceUri;

/// The two kinds of text that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mime {
    /// `text/markdown`
    Markdown,
    /// `application/json`
    Json,
}

impl Mime {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Json => "application/json",
        }
    }
}

/// The text behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The address that was read.
    pub uri: ResourceUri,
    /// What kind of text it is.
    pub mime: Mime,
    /// The text, shared with the catalogue.
    pub text: Arc<str>,
}

/// Turns the answer of a section's function into text: a string or a string
/// `content` is markdown, anything else pretty JSON.
pub fn from_section(answer: Option<&RawValue>) -> (Mime, String) {
    let raw = answer.map_or("null", RawValue::get);
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return (Mime::Markdown, text);
    }
    if let Some(text) = content_field(raw) {
        return (Mime::Markdown, text);
    }
    let pretty = serde_json::from_str::<serde_json::Value>(raw)
        .and_then(|value| serde_json::to_string_pretty(&value));
    (Mime::Json, pretty.unwrap_or_else(|_| raw.to_owned()))
}

/// The `content` of an object, if it is a string.
pub(crate) fn content_field(raw: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Shape {
        content: String,
    }
    // A list of one string would decode as the struct; only objects count.
    if !raw.starts_with('{') {
        return None;
    }
    serde_json::from_str::<Shape>(raw)
        .ok()
        .map(|shape| shape.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, mime: Mime, text: &str) {
        let raw = RawValue::from_string(answer.to_owned()).unwrap();
        assert_eq!(
            from_section(Some(&raw)),
            (mime, text.to_owned()),
            "for {answer}"
        );
    }

    #[test]
    fn section_answers() {
        check(r##""# Hi""##, Mime::Markdown, "# Hi");
        check(r#""""#, Mime::Markdown, "");
        check(r##"{"content":"# Hi","other":1}"##, Mime::Markdown, "# Hi");
        check(r#"{"content":5}"#, Mime::Json, "{\n  \"content\": 5\n}");
        check(r#"{"ok":true}"#, Mime::Json, "{\n  \"ok\": true\n}");
        check(r#"["a"]"#, Mime::Json, "[\n  \"a\"\n]");
        check("null", Mime::Json, "null");
        check("7", Mime::Json, "7");
        assert_eq!(from_section(None), (Mime::Json, "null".into()));
    }
}
