//! Searching and routing: what is found, what is marked, pages, nothing found.

use super::site::{Site, assert_has, encode};

const REFUNDS: &str = "---\ntriggers: [refund a payment]\n---\n# Refunds\n\nHow a payment is refunded to a customer.\n";

async fn site() -> Site {
    let greet = "---\ndescription: Greets a customer.\narguments: [who]\n---\nHello {{who}}\n";
    let site = Site::serve(&[("prompts/greet.md", greet)]).await;
    site.register("billing/refunds", REFUNDS);
    site.register("resend/email", "# Email\n\nSends mail to many people.\n");
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_skills_and_prompts_and_marks_the_words() {
    let site = site().await;
    let page = site.page("/search?q=refunding+customers").await;
    assert_has(
        &page,
        &[
            "<title>refunding customers \u{b7} search \u{b7} skills</title>",
            "value=\"refunding customers\"",
            "href=\"/skills/billing/refunds\"><mark>Refunds</mark></a>",
            "<mark>refunded</mark> to a <mark>customer</mark>.",
            "href=\"/prompts/greet\"",
            "prompt greet",
        ],
    );
    let part = site.page("/search/results?q=refun").await;
    assert_has(
        &part,
        &[
            "data-total=",
            "<mark>Refunds</mark>",
            "href=\"/search?q=refun\"",
        ],
    );
    assert!(!part.contains("<html"), "{part}");
    assert_eq!(site.page("/search/results?q=+").await, "");
    assert_has(
        &site.page("/search").await,
        &["<h1>Search</h1>", "Type words"],
    );
    assert_has(
        &site.page("/search?q=zzqx").await,
        &["Nothing matches \u{201c}zzqx\u{201d}"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_search_has_pages_and_an_old_cursor_is_refused_in_place() {
    let site = site().await;
    let folder = site.dir.path().join("many");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..30 {
        let text = format!("# Parcel {n}\n\nHow a parcel of class {n} is sent.\n");
        std::fs::write(folder.join(format!("parcel{n:02}.md")), text).unwrap();
    }
    site.command(&["import", folder.to_str().unwrap()], "");
    let first = site.page("/search?q=parcel").await;
    let start = first
        .find("/search?q=parcel&amp;cursor=")
        .expect("a next page");
    let next = first[start..]
        .split('"')
        .next()
        .unwrap()
        .replace("&amp;", "&");
    let second = site.page(&next).await;
    assert_has(&second, &["From the beginning", "Parcel"]);
    site.register("new", "# New\n");
    let old = site.get(&next, &[]).await;
    assert_eq!(old.status, 400);
    assert_has(
        &old.text(),
        &[
            "value=\"parcel\"",
            "something changed since",
            "Search again",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_shows_the_skill_the_words_and_what_came_close() {
    let site = site().await;
    let page = site.page("/route").await;
    assert_has(
        &page,
        &[
            "<title>Route a request ",
            "<textarea id=\"text\" name=\"text\"",
        ],
    );
    let page = site.page("/route?text=please+refund+a+payment").await;
    assert_has(
        &page,
        &[
            ">please refund a payment</textarea>",
            "An agent is sent to",
            "href=\"/skills/billing/refunds\"",
            " %</dd>",
            "<li>refund a payment</li>",
            "<mark>refund</mark> in ",
        ],
    );
    let page = site
        .page("/route?text=mail+about+the+weather+on+mars")
        .await;
    assert_has(
        &page,
        &["No skill is good enough", "no skill clearly serves"],
    );
    let long = encode(&"x".repeat(5_000));
    assert_has(
        &site.page(&format!("/route?text={long}")).await,
        &["No skill is good"],
    );
    let blank = site.get("/route?text=%20", &[]).await;
    assert_eq!(blank.status, 400);
    assert_has(&blank.text(), &["must be non-empty", "in the user's words"]);
}
