//! The source on engines with workers of several versions.

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
        input: Json,
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
            "skills::resources-read" if input.get().contains("iii://") => {
                json!({ "contents": [{ "text": "# A" }] })
            }
            "skills::resources-read" => {
                return Box::pin(std::future::ready(Err(Failure::Failed {
                    code: "invalid_input".into(),
                    message: "must start with `iii://`".into(),
                })));
            }
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
        [
            "skills::documents",
            "skills::list",
            "skills::resources-list"
        ]
    );
    let prompts = registry.prompts().await.unwrap();
    let shown = prompts.entries.iter().map(|p| (p.name.as_str(), p.origin));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert_eq!(worker.take_calls(), ["prompts::list", "prompts::mcp-list"]);
}

#[tokio::test]
async fn a_worker_from_before_folders_has_generated_skill_files() {
    let (worker, registry) = fixture();
    let published = registry.published().await.unwrap();
    let shown: Vec<_> = published.listed().map(|skill| skill.uri()).collect();
    assert_eq!(shown, ["skill://a/SKILL.md", "skill://b/SKILL.md"]);
    worker.take_calls();
    let path = "a/SKILL.md".parse().unwrap();
    let read = registry.read_file(&path).await.unwrap();
    let text = "---\nname: \"a\"\ndescription: \"A\"\n---\n# A";
    assert_eq!(&*read.bytes, text.as_bytes());
    assert_eq!(
        read.digest,
        published.listed().next().unwrap().files()[0].digest
    );
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
