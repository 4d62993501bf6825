//! What the skills worker on an engine serves from documents of its own, as a `Source`:
//! its files are on its disk, so it is asked for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_core::{
    Engine, Error, Failure, Head, Listing, Origin, Pending, PromptName, PromptText, ResourceUri,
    SkillId, Source, SourcePrompt, SourceSkill,
};

const LISTING_PROMPTS: &str = "list the prompts";

/// The documents that the worker on an engine serves. Without such a worker there are
/// none.
pub struct WorkerSource {
    engine: Arc<dyn Engine>,
    timeout: Duration,
}

#[derive(Deserialize)]
struct Skills {
    skills: Vec<SkillLine>,
}

#[derive(Deserialize)]
struct SkillLine {
    id: String,
    bytes: usize,
    registered_at: Arc<str>,
    #[serde(default = "in_state")]
    origin: String,
}

#[derive(Deserialize)]
struct Resources {
    resources: Vec<ResourceLine>,
}

#[derive(Deserialize)]
struct ResourceLine {
    uri: String,
    name: Arc<str>,
    #[serde(default)]
    description: Option<Arc<str>>,
}

#[derive(Deserialize)]
struct Contents {
    contents: Vec<ContentLine>,
}

#[derive(Deserialize)]
struct ContentLine {
    text: Arc<str>,
}

#[derive(Deserialize)]
struct Prompts {
    prompts: Vec<PromptLine>,
}

#[derive(Deserialize)]
struct PromptLine {
    name: String,
    registered_at: Arc<str>,
    #[serde(default = "in_state")]
    origin: String,
}

#[derive(Deserialize)]
struct Menu {
    prompts: Vec<MenuLine>,
}

#[derive(Deserialize)]
struct MenuLine {
    name: String,
    description: Arc<str>,
}

#[derive(Deserialize)]
struct Rendered {
    description: Arc<str>,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: Text,
}

#[derive(Deserialize)]
struct Text {
    text: Arc<str>,
}

impl WorkerSource {
    /// The documents of the worker on this engine.
    pub fn new(engine: Arc<dyn Engine>, timeout: Duration) -> Self {
        Self { engine, timeout }
    }

    /// Asks the worker; none where there is none, or where it has no such thing.
    async fn ask<T: for<'de> Deserialize<'de>>(
        &self,
        function: &str,
        input: &Value,
        doing: &str,
    ) -> Result<Option<T>, Error> {
        let payload = to_raw_value(input).expect("a value is JSON");
        let answer = match self.engine.call(function, payload, self.timeout).await {
            Ok(answer) => answer,
            Err(Failure::Absent) => return Ok(None),
            Err(Failure::Failed { code, .. }) if code == "not_found" => return Ok(None),
            Err(cause) => {
                let doing = format!("{doing} of the engine's skills worker");
                return Err(Error::State { doing, cause });
            }
        };
        let text = answer.as_ref().map_or("null", |answer| answer.get());
        let decoded = serde_json::from_str(text);
        decoded.map(Some).map_err(|e| Error::Source {
            doing: format!("{doing} of the engine's skills worker"),
            problem: format!("`{function}` answered something else: {e}"),
        })
    }

    async fn list_skills(&self) -> Result<Listing<SourceSkill>, Error> {
        let doing = "list the documents";
        let listed: Option<Skills> = self.ask("skills::list", &json!({}), doing).await?;
        let lines = listed.map(|listed| listed.skills).unwrap_or_default();
        if !lines.iter().any(|line| document(&line.origin).is_some()) {
            return Ok(Listing::default());
        }
        let titles: Option<Resources> = self
            .ask("skills::resources-list", &json!({}), doing)
            .await?;
        let titles = titles.map(|titles| titles.resources).unwrap_or_default();
        let mut titles: HashMap<String, ResourceLine> = titles
            .into_iter()
            .map(|line| (line.uri.clone(), line))
            .collect();
        let mut listing = Listing::default();
        for line in lines {
            // Ids are checked by the worker, by the same rule.
            let (Some(origin), Ok(id)) = (document(&line.origin), line.id.parse::<SkillId>())
            else {
                continue;
            };
            let uri = ResourceUri::Skill(id.clone()).to_string();
            let named = titles.remove(&uri);
            let title = named.as_ref().map(|line| Arc::clone(&line.name));
            let head = Head {
                // Without a title its name is its id.
                title: title.filter(|title| **title != *id.as_str()),
                description: named.and_then(|line| line.description),
                // Its list does not say.
                triggers: None,
            };
            listing.entries.push(SourceSkill {
                id,
                bytes: line.bytes,
                registered_at: line.registered_at,
                origin,
                head,
            });
        }
        Ok(listing)
    }

    async fn list_prompts(&self) -> Result<Listing<SourcePrompt>, Error> {
        let mut entries = self.bare_prompts().await?;
        if !entries.is_empty() {
            let menu: Option<Menu> = self
                .ask("prompts::mcp-list", &json!({}), LISTING_PROMPTS)
                .await?;
            let menu = menu.map(|menu| menu.prompts).unwrap_or_default();
            let mut menu: HashMap<String, Arc<str>> = menu
                .into_iter()
                .map(|line| (line.name, line.description))
                .collect();
            for prompt in &mut entries {
                prompt.description = menu.remove(prompt.name.as_str()).unwrap_or_default();
            }
        }
        Ok(Listing {
            entries,
            skipped: Vec::new(),
        })
    }

    /// The prompts, without their descriptions.
    async fn bare_prompts(&self) -> Result<Vec<SourcePrompt>, Error> {
        let listed: Option<Prompts> = self
            .ask("prompts::list", &json!({}), LISTING_PROMPTS)
            .await?;
        let lines = listed.map(|listed| listed.prompts).unwrap_or_default();
        let prompt = |line: PromptLine| {
            Some(SourcePrompt {
                name: line.name.parse().ok()?,
                description: Arc::default(),
                registered_at: line.registered_at,
                origin: document(&line.origin)?,
            })
        };
        Ok(lines.into_iter().filter_map(prompt).collect())
    }

    /// Only what the worker lists as a document: what it keeps in state is not ours to render.
    async fn read_prompt(&self, name: &PromptName) -> Result<Option<PromptText>, Error> {
        let listed = self.bare_prompts().await?;
        let Some(prompt) = listed.into_iter().find(|prompt| prompt.name == *name) else {
            return Ok(None);
        };
        let asked = json!({ "name": name.as_str() });
        let rendered: Option<Rendered> = self
            .ask("prompts::mcp-get", &asked, "read a prompt")
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
}

/// Where everything lives that a worker from before documents lists.
fn in_state() -> String {
    Origin::State.as_str().into()
}

/// Where an entry of the worker's lists lives; none for one in state. One of a kind we do
/// not know is some document.
fn document(origin: &str) -> Option<Origin> {
    match origin {
        origin if origin == Origin::State.as_str() => None,
        origin if origin == Origin::Agent3md.as_str() => Some(Origin::Agent3md),
        _ => Some(Origin::Fs),
    }
}

impl Source for WorkerSource {
    fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
        Box::pin(self.list_skills())
    }

    fn skill<'a>(&'a self, id: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
        Box::pin(async move {
            let asked = json!({ "uri": ResourceUri::Skill(id.clone()).to_string() });
            let found: Option<Contents> = self
                .ask("skills::resources-read", &asked, "read a document")
                .await?;
            let content = found.and_then(|mut found| found.contents.pop());
            Ok(content.map(|content| content.text))
        })
    }

    fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
        Box::pin(self.list_prompts())
    }

    fn prompt<'a>(
        &'a self,
        name: &'a PromptName,
    ) -> Pending<'a, Result<Option<PromptText>, Error>> {
        Box::pin(self.read_prompt(name))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use skills_core::{Json, Registry, RegistrySettings};

    use super::*;

    /// An engine with a skills worker, and what it was asked.
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
            // As a worker lists it that is older than documents.
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

    fn visit() -> (Arc<Worker>, Registry) {
        let worker = Arc::new(Worker::default());
        let engine: Arc<dyn Engine> = Arc::<Worker>::clone(&worker);
        let settings = RegistrySettings::default();
        let peer = WorkerSource::new(Arc::clone(&engine), settings.timeout);
        let now = || "2026-01-01T00:00:00Z".to_owned();
        let registry = Registry::new(engine, vec![Arc::new(peer)], settings, now);
        (worker, registry)
    }

    impl Worker {
        /// What was asked since the last time, but for state.
        fn asked(&self) -> Vec<String> {
            let mut asked = std::mem::take(&mut *self.0.lock().unwrap());
            asked.retain(|function| !function.starts_with("state::"));
            asked
        }
    }

    #[tokio::test]
    async fn a_list_asks_the_worker_once_whatever_the_origins() {
        let (worker, registry) = visit();
        let skills = registry.skills().await.unwrap();
        let shown = skills.entries.iter().map(|s| (s.id.as_str(), s.origin));
        let expected = [("a", Origin::Fs), ("b", Origin::Agent3md)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(worker.asked(), ["skills::list", "skills::resources-list"]);
        let prompts = registry.prompts().await.unwrap();
        let shown = prompts.entries.iter().map(|p| (p.name.as_str(), p.origin));
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(worker.asked(), ["prompts::list", "prompts::mcp-list"]);
    }

    #[tokio::test]
    async fn a_prompt_is_read_only_where_the_worker_lists_it_as_a_document() {
        let (worker, registry) = visit();
        let rendered = registry.render_prompt(&"b".parse().unwrap(), None).await;
        assert_eq!(&*rendered.unwrap().description, "B");
        assert_eq!(worker.asked(), ["prompts::list", "prompts::mcp-get"]);
        let unknown = registry.render_prompt(&"c".parse().unwrap(), None).await;
        unknown.unwrap_err();
        assert!(!worker.asked().contains(&"prompts::mcp-get".to_owned()));
    }
}
