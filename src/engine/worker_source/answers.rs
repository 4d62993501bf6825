//! What the operations of a skills worker return, as far as a source needs it.

use std::sync::Arc;

use serde::Deserialize;
use skills_core::{Origin, PromptArgument, TemplateArgument};

/// The result of an operation that returns a list.
#[derive(Deserialize)]
pub(super) struct List<T> {
    #[serde(
        alias = "skills",
        alias = "prompts",
        alias = "resources",
        alias = "contents"
    )]
    pub items: Vec<T>,
}

/// An entry of `skills::list`, with an id, or of `prompts::list`, with a name.
#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub bytes: usize,
    pub registered_at: Arc<str>,
    /// Workers from before documents return none.
    #[serde(default)]
    pub origin: Option<String>,
}

impl Entry {
    /// Where a document lives; `None` for an entry in state. An unknown origin is a document.
    pub fn document_origin(&self) -> Option<Origin> {
        match self.origin.as_deref() {
            None => None,
            Some(origin) if origin == Origin::State.as_str() => None,
            Some(origin) if origin == Origin::Agent3md.as_str() => Some(Origin::Agent3md),
            Some(_) => Some(Origin::Fs),
        }
    }
}

/// An entry of `skills::resources-list` or `prompts::mcp-list`.
#[derive(Deserialize)]
pub(super) struct Described {
    #[serde(default)]
    pub uri: String,
    pub name: Arc<str>,
    #[serde(default)]
    pub description: Option<Arc<str>>,
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
}

/// An argument as a menu shows it: its description has the choices and the default, and the
/// worker applies them.
pub(super) fn declared(argument: PromptArgument) -> TemplateArgument {
    TemplateArgument {
        argument,
        default: None,
        choices: Box::default(),
    }
}

#[derive(Deserialize)]
pub(super) struct Text {
    pub text: Arc<str>,
}

/// The content of a file.
#[derive(Deserialize)]
pub(super) struct FileData {
    #[serde(flatten)]
    pub data: Data,
}

/// Text, or bytes in base64.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Data {
    Text(String),
    Blob(String),
}

/// The result of `prompts::mcp-get`.
#[derive(Deserialize)]
pub(super) struct Rendered {
    pub description: Arc<str>,
    pub messages: Vec<Message>,
}

#[derive(Deserialize)]
pub(super) struct Message {
    pub content: Text,
}
