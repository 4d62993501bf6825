//! The documents of the skills worker on an engine, as a [`Source`]: its files are on its
//! disk, so they are read by calling its operations.

mod answers;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use skills_api::documents::{DOCUMENTS, Document, Documents, DocumentsInput};
use skills_core::{
    Engine, Error, Failure, FileContent, FilePath, FoundDocument, Head, Listing, Lookup, Manifest,
    Origin, Pending, PromptName, PromptText, ResourceUri, SkillId, Source, SourcePrompt,
    SourceSkill, file_of_body, manifests_of_bodies,
};

use answers::{Data, Described, Entry, FileData, List, Rendered, Text, declared};

/// The documents that the skills worker on an engine serves; none without such a worker.
pub struct WorkerSource {
    engine: Arc<dyn Engine>,
    timeout: Duration,
}

/// The input of a read that the worker does not count as a use: the registry of this source counts
/// its own, and it also reads what it indexes.
fn uncounted(uri: &ResourceUri) -> Value {
    json!({ "uri": uri.to_string(), "uncounted": true })
}

impl WorkerSource {
    /// The documents of the worker on this engine.
    pub fn new(engine: Arc<dyn Engine>, timeout: Duration) -> Self {
        Self { engine, timeout }
    }

    /// Calls an operation; `None` if there is no worker, or nothing of that name.
    async fn call<T: for<'de> Deserialize<'de>>(
        &self,
        function: &str,
        input: &Value,
        doing: &str,
    ) -> Result<Option<T>, Error> {
        let doing = format!("{doing} of the engine's skills worker");
        let payload = to_raw_value(input).expect("a value is JSON");
        let result = match self.engine.call(function, payload, self.timeout).await {
            Ok(result) => result,
            Err(Failure::Absent) => return Ok(None),
            Err(Failure::Failed { code, .. }) if code == "not_found" => return Ok(None),
            Err(Failure::Failed { code, message }) if code == "invalid_input" => {
                return Err(Error::invalid(format!("could not {doing}:"), message));
            }
            Err(cause) => return Err(Error::State { doing, cause }),
        };
        let text = result.as_ref().map_or("null", |result| result.get());
        serde_json::from_str(text)
            .map(Some)
            .map_err(|error| Error::Source {
                doing,
                problem: format!("`{function}` returned an unexpected result: {error}"),
            })
    }

    /// Calls an operation that returns a list.
    async fn list<T: for<'de> Deserialize<'de>>(
        &self,
        function: &str,
        doing: &str,
    ) -> Result<Vec<T>, Error> {
        let list: Option<List<T>> = self.call(function, &json!({}), doing).await?;
        Ok(list.map_or_else(Vec::new, |list| list.items))
    }

    /// Every document, those that others hide last; `None` if the worker has no such operation.
    async fn documents(&self, digests: bool) -> Result<Option<Vec<Manifest>>, Error> {
        let input = json!(DocumentsInput { digests });
        let documents = self.call(DOCUMENTS.id, &input, LIST_SKILLS).await?;
        let Some(Documents { skills, hidden }) = documents else {
            return Ok(None);
        };
        let manifests = skills.into_iter().chain(hidden);
        let manifests = manifests.map(Document::into_manifest);
        manifests.collect::<Result<_, _>>().map(Some)
    }

    async fn list_manifests(&self) -> Result<Listing<Manifest>, Error> {
        match self.documents(true).await? {
            Some(entries) => Ok(listing(entries)),
            None => manifests_of_bodies(self).await,
        }
    }

    async fn list_skills(&self) -> Result<Listing<SourceSkill>, Error> {
        match self.documents(false).await? {
            Some(entries) => Ok(listing(
                entries.into_iter().map(|entry| entry.skill).collect(),
            )),
            None => self.list_skills_without_folders().await,
        }
    }

    /// The documents of a worker from before skill folders.
    async fn list_skills_without_folders(&self) -> Result<Listing<SourceSkill>, Error> {
        let doing = LIST_SKILLS;
        let entries: Vec<Entry> = self.list("skills::list", doing).await?;
        if entries
            .iter()
            .all(|entry| entry.document_origin().is_none())
        {
            return Ok(Listing::default());
        }
        let described: Vec<Described> = self.list("skills::resources-list", doing).await?;
        let mut described: HashMap<_, _> = described
            .into_iter()
            .map(|entry| (entry.uri.clone(), entry))
            .collect();
        let skill = |entry: Entry| {
            // The worker checks ids by the same rule.
            let (origin, id) = (entry.document_origin()?, entry.id.parse::<SkillId>().ok()?);
            let described = described.remove(&ResourceUri::Skill(id.clone()).to_string());
            let title = described.as_ref().map(|entry| Arc::clone(&entry.name));
            Some(SourceSkill {
                bytes: entry.bytes,
                registered_at: entry.registered_at,
                origin,
                head: Head {
                    // The worker there applies it.
                    visibility: None,
                    // The name of a skill without a title is its id.
                    title: title.filter(|title| **title != *id.as_str()),
                    description: described.and_then(|entry| entry.description),
                    // The list has neither triggers nor links.
                    triggers: None,
                    sections: None,
                },
                folder: None,
                body_hash: None,
                id,
            })
        };
        Ok(listing(entries.into_iter().filter_map(skill).collect()))
    }

    async fn list_prompts(&self) -> Result<Listing<SourcePrompt>, Error> {
        let mut entries = self.prompts_without_descriptions().await?;
        if !entries.is_empty() {
            let described: Vec<Described> = self.list("prompts::mcp-list", LIST_PROMPTS).await?;
            let mut described: HashMap<_, _> = described
                .into_iter()
                .map(|entry| (Arc::clone(&entry.name), entry))
                .collect();
            for prompt in &mut entries {
                if let Some(entry) = described.remove(prompt.name.as_str()) {
                    prompt.description = entry.description.unwrap_or_default();
                    prompt.arguments = entry.arguments.into_iter().map(declared).collect();
                }
            }
        }
        Ok(listing(entries))
    }

    async fn prompts_without_descriptions(&self) -> Result<Vec<SourcePrompt>, Error> {
        let entries: Vec<Entry> = self.list("prompts::list", LIST_PROMPTS).await?;
        let prompt = |entry: Entry| {
            Some(SourcePrompt {
                name: entry.name.parse().ok()?,
                description: Arc::default(),
                arguments: Arc::default(),
                origin: entry.document_origin()?,
                registered_at: entry.registered_at,
            })
        };
        Ok(entries.into_iter().filter_map(prompt).collect())
    }

    /// Only a prompt that the worker lists as a document: prompts in state have a handler.
    async fn read_prompt(
        &self,
        name: &PromptName,
        given: &Map<String, Value>,
    ) -> Result<Option<PromptText>, Error> {
        let listed = self.list_prompts().await?.entries;
        let Some(prompt) = listed.into_iter().find(|prompt| prompt.name == *name) else {
            return Ok(None);
        };
        let input = json!({ "name": name.as_str(), "arguments": given });
        let rendered: Option<Rendered> = self
            .call("prompts::mcp-get", &input, "read a prompt")
            .await?;
        Ok(rendered.map(|rendered| {
            let texts: Vec<_> = rendered.messages.iter().map(|m| &*m.content.text).collect();
            PromptText {
                text: texts.join("\n\n").into(),
                prompt: SourcePrompt {
                    description: rendered.description,
                    ..prompt
                },
            }
        }))
    }

    async fn read_text(&self, uri: &ResourceUri) -> Result<Option<Arc<str>>, Error> {
        let input = uncounted(uri);
        let contents: Option<List<Text>> = self
            .call("skills::resources-read", &input, "read a document")
            .await?;
        let content = contents.and_then(|mut contents| contents.items.pop());
        Ok(content.map(|content| content.text))
    }

    async fn find_document(
        &self,
        id: &SkillId,
        origin: Origin,
    ) -> Result<Option<FoundDocument>, Error> {
        let body = match self
            .read_text(&ResourceUri::SkillFrom(origin, id.clone()))
            .await
        {
            // A worker from before these addresses.
            Err(Error::Invalid { .. }) => None,
            body => body?,
        };
        Ok(body.map(|body| FoundDocument {
            place: format!("a document of the engine's skills worker ({origin})"),
            body,
        }))
    }

    async fn read_file(&self, id: &SkillId, path: &FilePath) -> Result<Option<FileContent>, Error> {
        const DOING: &str = "read a file";
        let at = FilePath::in_skill(id, path.as_str())?;
        let input = uncounted(&ResourceUri::File(at));
        let contents = self.call("skills::resources-read", &input, DOING).await;
        let contents: Option<List<FileData>> = match contents {
            // A worker from before skill folders does not know the address.
            Err(Error::Invalid { .. }) => return file_of_body(self, id, path).await,
            contents => contents?,
        };
        let content = contents.and_then(|mut contents| contents.items.pop());
        let bytes = match content.map(|content| content.data) {
            Some(Data::Text(text)) => text.into_bytes(),
            Some(Data::Blob(blob)) => {
                BASE64_STANDARD
                    .decode(blob)
                    .map_err(|error| Error::Source {
                        doing: format!("{DOING} of the engine's skills worker"),
                        problem: format!("{}: it is not base64: {error}", input["uri"]),
                    })?
            }
            None => return Ok(None),
        };
        Ok(Some(FileContent::new(bytes)))
    }
}

/// Entries of the worker, which reports itself what it skips.
const fn listing<T>(entries: Vec<T>) -> Listing<T> {
    let skipped = Vec::new();
    Listing { entries, skipped }
}

const LIST_SKILLS: &str = "list the documents";
const LIST_PROMPTS: &str = "list the prompts";

impl Source for WorkerSource {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(self.list_skills())
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Lookup<'a, Arc<str>> {
        Box::pin(async { self.read_text(&ResourceUri::Skill(id.clone())).await })
    }

    fn document<'a>(&'a self, id: &'a SkillId, origin: Origin) -> Lookup<'a, FoundDocument> {
        Box::pin(self.find_document(id, origin))
    }

    fn prompt_place<'a>(&'a self, name: &'a PromptName) -> Lookup<'a, String> {
        Box::pin(async move {
            let listed = self.prompts_without_descriptions().await?;
            let mut listed = listed.iter();
            let found = listed.find(|prompt| prompt.name == *name);
            Ok(found.map(|_| "a document of the engine's skills worker".to_owned()))
        })
    }

    fn manifests(&self) -> Pending<'_, Result<Listing<Manifest>, Error>> {
        Box::pin(self.list_manifests())
    }

    fn file<'a>(&'a self, id: &'a SkillId, path: &'a FilePath) -> Lookup<'a, FileContent> {
        Box::pin(self.read_file(id, path))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(self.list_prompts())
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
        given: &'a Map<String, Value>,
    ) -> Lookup<'a, PromptText> {
        Box::pin(self.read_prompt(name, given))
    }
}
