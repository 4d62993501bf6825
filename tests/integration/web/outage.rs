//! The engine of the registry is gone: every page says so in place, and nothing typed is lost.

use std::sync::Arc;

use memory_engine::{Link, Memory};
use skills_core::Digest;

use super::site::{Site, assert_has};

/// The page of a registry on an engine that can be cut off.
async fn site() -> (Site, Arc<Link>) {
    Site::on(&Memory::new()).await
}

#[tokio::test]
async fn a_form_comes_back_with_the_error_and_can_be_sent_again() {
    let (site, link) = site().await;
    let text = "# A\n\nText.\n";
    let fields = [("id", "a"), ("text", text), ("action", "save")];
    assert_eq!(site.post("/new", &fields).await.status, 303);
    let base = Digest::of(text.as_bytes()).to_string();
    let edited = [
        ("text", "# A\n\nEdited <b>.\n"),
        ("base", &*base),
        ("action", "save"),
    ];
    let new = [
        ("id", "b"),
        ("text", "# B\n\nNew <b>.\n"),
        ("action", "save"),
    ];
    link.cut();
    for (path, fields, kept) in [
        ("/edit/a", &edited, "Edited &lt;b&gt;.\n</textarea>"),
        ("/new", &new, "New &lt;b&gt;.\n</textarea>"),
    ] {
        let answer = site.post(path, fields).await;
        let page = answer.text();
        assert_eq!(answer.status, 503, "{path}: {page}");
        for part in [
            kept,
            "role=\"alert\"",
            "could not be reached",
            "is the engine running?",
        ] {
            assert!(
                page.contains(part),
                "{path}: {part:?} is missing in:\n{page}"
            );
        }
        assert!(!page.contains("meanwhile"), "{path}: {page}");
    }
    assert_eq!(site.post("/delete/a", &[("base", &base)]).await.status, 503);
    for path in ["/", "/skills/a", "/edit/a", "/delete/a"] {
        let answer = site.get(path, &[]).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.text().contains("is the engine running?"), "{path}");
    }
    assert_eq!(site.get("/new", &[]).await.status, 200);
    link.mend();
    assert_eq!(site.post("/edit/a", &edited).await.status, 303);
    assert_eq!(site.post("/new", &new).await.status, 303);
    assert!(site.page("/skills/a").await.contains("Edited &lt;b&gt;."));
}

#[tokio::test]
async fn a_prompt_a_search_and_a_request_stay_in_their_forms() {
    let (site, link) = site().await;
    link.cut();
    let prompt = site.post("/prompts/greet", &[("who", "Ada <b>")]).await;
    assert_eq!(prompt.status, 503);
    let search = site.get("/search?q=mail+%3Cb%3E", &[]).await;
    assert_eq!(search.status, 503);
    let route = site.get("/route?text=mail+%3Cb%3E", &[]).await;
    assert_eq!(route.status, 503);
    for (answer, kept) in [
        (prompt, "name=\"who\" value=\"Ada &lt;b&gt;\""),
        (search, "value=\"mail &lt;b&gt;\""),
        (route, ">mail &lt;b&gt;</textarea>"),
    ] {
        assert_has(
            &answer.text(),
            &[kept, "role=\"alert\"", "is the engine running?"],
        );
    }
    let health = site.page("/health").await;
    assert_has(
        &health,
        &["not known", "could not list the workers of the engine"],
    );
    for path in [
        "/prompts",
        "/prompts/greet",
        "/functions",
        "/functions/a::b",
    ] {
        let answer = site.get(path, &[]).await;
        assert_eq!(answer.status, 503, "{path}");
        assert_has(&answer.text(), &["is the engine running?"]);
    }
    assert_has(&site.page("/connect").await, &["ws://127.0.0.1:1"]);
    let results = site.page("/search/results?q=mail").await;
    assert_has(&results, &["is the engine running?"]);
}
