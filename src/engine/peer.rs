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

/// The documents of one origin that the worker on an engine serves. Without such a
/// worker there are none.
pub struct Peer {
    engine: Arc<dyn Engine>,
    origin: Origin,
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

impl Peer {
    /// One source for each origin other than state.
    pub fn sources(engine: &Arc<dyn Engine>, timeout: Duration) -> Vec<Arc<dyn Source>> {
        let peer = |origin| {
            Arc::new(Self {
                engine: Arc::clone(engine),
                origin,
                timeout,
            }) as Arc<dyn Source>
        };
        vec![peer(Origin::Fs), peer(Origin::Agent3md)]
    }

    /// Whether an entry with this origin is ours to list. One of a kind we do not know
    /// is some document.
    fn lists(&self, origin: &str) -> bool {
        match self.origin {
            Origin::State => origin == Origin::State.as_str(),
            Origin::Agent3md => origin == Origin::Agent3md.as_str(),
            Origin::Fs => ![Origin::State.as_str(), Origin::Agent3md.as_str()].contains(&origin),
        }
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
        let mut lines = listed.map(|listed| listed.skills).unwrap_or_default();
        lines.retain(|line| self.lists(&line.origin));
        if lines.is_empty() {
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
            // Checked by the worker, by the same rule.
            let Ok(id) = line.id.parse::<SkillId>() else {
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
                head,
            });
        }
        Ok(listing)
    }

    async fn list_prompts(&self) -> Result<Listing<SourcePrompt>, Error> {
        let doing = "list the prompts";
        let listed: Option<Prompts> = self.ask("prompts::list", &json!({}), doing).await?;
        let mut lines = listed.map(|listed| listed.prompts).unwrap_or_default();
        lines.retain(|line| self.lists(&line.origin));
        if lines.is_empty() {
            return Ok(Listing::default());
        }
        let menu: Option<Menu> = self.ask("prompts::mcp-list", &json!({}), doing).await?;
        let menu = menu.map(|menu| menu.prompts).unwrap_or_default();
        let mut menu: HashMap<String, Arc<str>> = menu
            .into_iter()
            .map(|line| (line.name, line.description))
            .collect();
        let mut listing = Listing::default();
        for line in lines {
            let Ok(name) = line.name.parse::<PromptName>() else {
                continue;
            };
            listing.entries.push(SourcePrompt {
                description: menu.remove(name.as_str()).unwrap_or_default(),
                name,
                registered_at: line.registered_at,
            });
        }
        Ok(listing)
    }

    /// Asked for by one of several sources of the same worker, so its origin counts.
    async fn read_prompt(&self, name: &PromptName) -> Result<Option<PromptText>, Error> {
        let listed = self.list_prompts().await?.entries;
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

impl Source for Peer {
    fn origin(&self) -> Origin {
        self.origin
    }

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
