//! The content of an address: a text or bytes, and their MIME type.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::{Error, ResourceUri};

/// The MIME types of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mime {
    /// `text/markdown`
    Markdown,
    /// `application/json`
    Json,
    /// The type of a bundled file.
    File(&'static str),
}

impl Mime {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Json => "application/json",
            Self::File(name) => name,
        }
    }
}

/// What is behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The address that was read.
    pub uri: ResourceUri,
    /// The type of the content.
    pub mime: Mime,
    /// The content, shared with the catalogue.
    pub data: ContentData,
}

/// Text, or bytes that are not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentData {
    /// Text.
    Text(Arc<str>),
    /// Bytes that are not UTF-8.
    Bytes(Arc<[u8]>),
}

impl Content {
    /// The text; an error if there is none.
    pub fn text(&self) -> Result<&Arc<str>, Error> {
        match &self.data {
            ContentData::Text(text) => Ok(text),
            ContentData::Bytes(bytes) => Err(Error::invalid_hint(
                self.uri.to_string(),
                format!(
                    "is not text: {} bytes of {}",
                    bytes.len(),
                    self.mime.as_str()
                ),
                "read it as a resource",
            )),
        }
    }
}

impl From<Arc<[u8]>> for ContentData {
    fn from(bytes: Arc<[u8]>) -> Self {
        match str::from_utf8(&bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Bytes(bytes),
        }
    }
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
