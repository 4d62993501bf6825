//! The content of an address: a text and its MIME type.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::ResourceUri;

/// The MIME types of content.
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
    /// The type of the text.
    pub mime: Mime,
    /// The text, shared with the catalogue.
    pub text: Arc<str>,
}

/// Turns the result of a section's function into text: a string or a string `content` is
/// markdown, anything else pretty JSON.
pub fn from_section(result: Option<&RawValue>) -> (Mime, String) {
    let raw = result.map_or("null", RawValue::get);
    if let Some(text) = text_of(raw) {
        return (Mime::Markdown, text);
    }
    let pretty = serde_json::from_str::<serde_json::Value>(raw)
        .and_then(|value| serde_json::to_string_pretty(&value));
    (Mime::Json, pretty.unwrap_or_else(|_| raw.to_owned()))
}

/// A result that is a string, or the `content` of an object if that is a string.
pub(crate) fn text_of(raw: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Object {
        content: String,
    }
    // Serde would decode a list of one string as the struct.
    if raw.starts_with('{') {
        let object = serde_json::from_str::<Object>(raw);
        return object.ok().map(|object| object.content);
    }
    serde_json::from_str(raw).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, mime: Mime, text: &str) {
        let raw = RawValue::from_string(result.to_owned()).unwrap();
        assert_eq!(
            from_section(Some(&raw)),
            (mime, text.to_owned()),
            "for {result}"
        );
    }

    #[test]
    fn results_of_sections() {
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
