//! The documents of the skills worker on an engine, as a [`Source`]: its files are on its
//! disk, so they are read by calling its operations.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use skills_core::{
    Engine, Error, Failure, Head, Listing, Origin, Pending, PromptArgument, PromptName, PromptText,
    ResourceUri, SkillId, Source, SourcePrompt, SourceSkill, TemplateArgument,
};

/// The documents that the skills worker on an engine serves; none without such a worker.
pub struct WorkerSource {
    engine: Arc<dyn Engine>,
    timeout: Duration,
}

/// The result of an operation that returns a list.
#[derive(Deserialize)]
struct List<T> {
    #[serde(
        alias = "skills",
        alias = "prompts",
        alias = "resources",
        alias = "contents"
    )]
    items: Vec<T>,
}

/// An entry of `skills::list`, with an id, or of `prompts::list`, with a name.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    bytes: usize,
    registered_at: Arc<str>,
    /// Workers from before documents return none.
    #[serde(default)]
    origin: Option<String>,
}

impl Entry {
    /// Where a document lives; `None` for an entry in state. An unknown origin is a document.
    fn document_origin(&self) -> Option<Origin> {
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
struct Described {
    #[serde(default)]
    uri: String,
    name: Arc<str>,
    #[serde(default)]
    description: Option<Arc<str>>,
    #[serde(default)]
    arguments: Vec<PromptArgument>,
}

/// An argument as a menu shows it: its description has the choices and the default, and the
/// worker applies them.
fn declared(argument: PromptArgument) -> TemplateArgument {
    TemplateArgument {
        argument,
        default: None,
        choices: Box::default(),
    }
}

#[derive(Deserialize)]
struct Text {
    text: Arc<str>,
}

/// The result of `prompts::mcp-get`.
#[derive(Deserialize)]
struct Rendered {
    description: Arc<str>,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: Text,
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

    async fn list_skills(&self) -> Result<Listing<SourceSkill>, Error> {
        let doing = "list the documents";
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
                    // The list has no triggers.
                    triggers: None,
                },
                // Its files are on the disk of the worker.
                folder: None,
                id,
            })
        };
        Ok(Listing {
            entries: entries.into_iter().filter_map(skill).collect(),
            skipped: Vec::new(),
        })
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
        Ok(Listing {
            entries,
            skipped: Vec::new(),
        })
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

    async fn read_skill(&self, id: &SkillId) -> Result<Option<Arc<str>>, Error> {
        let input = json!({ "uri": ResourceUri::Skill(id.clone()).to_string() });
        let contents: Option<List<Text>> = self
            .call("skills::resources-read", &input, "read a document")
            .await?;
        let content = contents.and_then(|mut contents| contents.items.pop());
        Ok(content.map(|content| content.text))
    }
}

const LIST_PROMPTS: &str = "list the prompts";

impl Source for WorkerSource {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(self.list_skills())
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(self.read_skill(id))
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(self.list_prompts())
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
        given: &'a Map<String, Value>,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(self.read_prompt(name, given))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use skills_core::{Json, Registry, RegistrySettings};

    use super::*;

    /// An engine with a skills worker that records the calls.
    #[derive(Default)]
    struct Worker(Mutex<Vec<String>>);

    impl Engine for Worker {
        fn call<'a>(
            &'a self,
            function: &'a str,
            _: Json,
            _: Duration,
        ) -> Pending<'a, Result<Option<Json>, Failure>> {
            self.0.lock().unwrap().push(function.to_owned());
            let entry = |id: &str, origin: &str| {
                let at = "2026-01-01T00:00:00Z";
                json!({ "id": id, "name": id, "bytes": 1, "registered_at": at, "origin": origin })
            };
            // The entry of a worker from before documents.
            let mut old = entry("d", "");
            old.as_object_mut().unwrap().remove("origin");
            let entries = || {
                [
                    entry("a", "fs"),
                    entry("b", "3md"),
                    entry("c", "state"),
                    old,
                ]
            };
            let answer = match function {
                "state::list" => json!([]),
                "state::get" => json!(null),
                "skills::list" => json!({ "skills": entries() }),
                "skills::resources-list" => json!({ "resources": [] }),
                "prompts::list" => json!({ "prompts": entries() }),
                "prompts::mcp-list" => json!({ "prompts": [{ "name": "b", "description": "B" }] }),
                "prompts::mcp-get" => json!({
                    "description": "B", "messages": [{ "content": { "text": "Do B." } }],
                }),
                _ => return Box::pin(std::future::ready(Err(Failure::Absent))),
            };
            Box::pin(std::future::ready(Ok(Some(to_raw_value(&answer).unwrap()))))
        }

        fn send(&self, _: &str, _: Json) {}
    }

    fn fixture() -> (Arc<Worker>, Registry) {
        let worker = Arc::new(Worker::default());
        let engine: Arc<dyn Engine> = Arc::<Worker>::clone(&worker);
        let settings = RegistrySettings::default();
        let source = WorkerSource::new(Arc::clone(&engine), settings.timeout);
        let now = || "2026-01-01T00:00:00Z".to_owned();
        let registry = Registry::new(engine, vec![Arc::new(source)], settings, now);
        (worker, registry)
    }

    impl Worker {
        /// The calls since the last time, without those to state.
        fn take_calls(&self) -> Vec<String> {
            let mut calls = std::mem::take(&mut *self.0.lock().unwrap());
            calls.retain(|function| !function.starts_with("state::"));
            calls
        }
    }

    #[tokio::test]
    async fn a_list_calls_the_worker_once_for_all_origins() {
        let (worker, registry) = fixture();
        let skills = registry.skills().await.unwrap();
        let shown = skills.entries.iter().map(|s| (s.id.as_str(), s.origin));
        let expected = [("a", Origin::Fs), ("b", Origin::Agent3md)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(
            worker.take_calls(),
            ["skills::list", "skills::resources-list"]
        );
        let prompts = registry.prompts().await.unwrap();
        let shown = prompts.entries.iter().map(|p| (p.name.as_str(), p.origin));
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(worker.take_calls(), ["prompts::list", "prompts::mcp-list"]);
    }

    #[tokio::test]
    async fn a_prompt_is_read_only_where_the_worker_lists_it_as_a_document() {
        let (worker, registry) = fixture();
        let rendered = registry.render_prompt(&"b".parse().unwrap(), None).await;
        assert_eq!(&*rendered.unwrap().description, "B");
        assert_eq!(
            worker.take_calls(),
            ["prompts::list", "prompts::mcp-list", "prompts::mcp-get"]
        );
        let unknown = registry.render_prompt(&"c".parse().unwrap(), None).await;
        unknown.unwrap_err();
        assert!(!worker.take_calls().contains(&"prompts::mcp-get".to_owned()));
    }
}
