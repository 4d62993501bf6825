//! The versions of a skill: the list, one of them, what changed, and bringing one back.

use skills_core::Digest;

use super::site::{Site, assert_has};

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

const FIRST: &str = "# Mail\n\nSend <one> & wait.\n\n[style](style.md)\n";
const SECOND: &str = "# Mail\n\nSend all.\n\n[style](style.md)\n";

/// A skill with two versions.
async fn site() -> Site {
    let files = [("skills/team/style.md", "# Style\n\nHow it looks.\n")];
    let site = Site::serve(&files).await;
    site.register("team/mail", FIRST);
    site.register("team/mail", SECOND);
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_leads_to_its_versions_newest_first() {
    let site = site().await;
    let skill = site.page("/skills/team/mail").await;
    assert_has(
        &skill,
        &["<a href=\"/versions/team/mail\">Versions (now 2)</a>"],
    );
    let page = site.page("/versions/team/mail").await;
    assert_has(
        &page,
        &[
            "<title>Versions of team/mail ",
            "2 versions, newest first.",
            "href=\"/versions/team/mail?version=2\">Version 2</a> <span class=\"origin\">current<",
            "What changed since version 1</a>",
            &digest(SECOND),
            "<span>registered</span>",
            &format!("<span>{} B</span>", FIRST.len()),
        ],
    );
    let [second, first] = ["Version 2<", "Version 1<"].map(|name| page.find(name).unwrap());
    assert!(second < first, "{page}");
    let removed = site.get("/versions/team/mail/", &[]).await;
    assert_eq!(removed.status, 200, "a slash at the end");
    // A file has no versions.
    let file = site.page("/skills/team/style").await;
    assert!(!file.contains("/versions/"), "{file}");
    for (path, status, problem) in [
        (
            "/versions/team/style",
            404,
            "skill `team/style` has no versions",
        ),
        ("/versions/team/mial", 404, "href=\"/skills/team/mail\""),
        ("/versions/Bad%20Id", 400, "Bad Id"),
        ("/versions/team/mail?version=9", 404, "it has 1, 2"),
        ("/versions/team/mail?version=x", 400, "is not a number"),
    ] {
        let answer = site.get(path, &[]).await;
        assert_eq!(answer.status, status, "{path}");
        assert_has(&answer.text(), &[problem]);
    }
    let gone = site.get("/versions/team/mail?version=9", &[]).await;
    assert_has(
        &gone.text(),
        &["<a href=\"/versions/team/mail\">All versions"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_read_and_compared() {
    let site = site().await;
    let page = site.page("/versions/team/mail?version=1").await;
    assert_has(
        &page,
        &[
            "<h1>Mail, version 1</h1>",
            "This is version 1 of <code>team/mail</code>, not the current text.",
            "Version 2 is <a href=\"/skills/team/mail\">registered now</a>",
            "Send &lt;one&gt; &amp; wait.",
            "<a href=\"/skills/team/style\">style</a>",
            "Bring this version back",
            &format!("name=\"base\" value=\"{}\"", digest(SECOND)),
        ],
    );
    assert!(!page.contains("<h1 id"), "the title is there once: {page}");
    let source = site.page("/versions/team/mail?version=1&view=source").await;
    assert_has(&source, &["<code># Mail\n\nSend &lt;one&gt; &amp; wait."]);
    let now = site.page("/versions/team/mail?version=1&view=since").await;
    assert_has(
        &now,
        &[
            "<del>\u{2212} only in version 1</del>",
            "<ins>+ only in version 2</ins>",
            "<del>\u{2212} Send &lt;one&gt; &amp; wait.\n</del><ins>+ Send all.\n</ins>",
        ],
    );
    // The current one: what it changed, and nothing to bring back.
    let short = &digest(SECOND)[..15];
    let changes = site
        .page(&format!("/versions/team/mail?version={short}&view=changes"))
        .await;
    assert_has(
        &changes,
        &[
            "<h1>Mail, version 2</h1>",
            "<del>\u{2212} only in version 1</del>",
            "<ins>+ Send all.\n</ins>",
            "is <a href=\"/skills/team/mail\">what is registered now</a>",
        ],
    );
    assert!(!changes.contains("Bring this version back"), "{changes}");
    let first = site
        .page("/versions/team/mail?version=1&view=changes")
        .await;
    assert_has(&first, &["No version before it has a text."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_brought_back_and_nothing_newer_is_lost() {
    let site = site().await;
    let path = "/versions/team/mail?version=1";
    let stale = digest("# Another\n");
    let refused = site.post(path, &[("base", &stale)]).await;
    assert_eq!(refused.status, 409);
    assert_has(
        &refused.text(),
        &[
            "It was not brought back: something else is registered now.",
            "<ins>+ Send all.\n</ins>",
            &format!("name=\"base\" value=\"{}\"", digest(SECOND)),
        ],
    );
    let empty = site.post(path, &[("base", "")]).await;
    assert_eq!(empty.status, 409, "something is registered");
    let foreign = [("Origin", "http://evil.example")];
    let base = digest(SECOND);
    let refused = site.post_with(path, &foreign, &[("base", &base)]).await;
    assert_eq!(refused.status, 403);
    assert_has(&site.page("/skills/team/mail").await, &["Send all."]);

    let done = site.post(path, &[("base", &base)]).await;
    assert_eq!(
        (done.status, done.header("location")),
        (303, "/skills/team/mail"),
        "{}",
        done.text()
    );
    let skill = site.page("/skills/team/mail").await;
    assert_has(&skill, &["Send &lt;one&gt;", "Versions (now 3)"]);
    let list = site.page("/versions/team/mail").await;
    assert_has(&list, &["brought back version 1"]);
    // Its text is registered again, under another number.
    let first = site.page(path).await;
    assert_has(&first, &["Its text is the one that is registered now."]);
    let absent = site.post("/versions/team/mail?version=9", &[("base", "")]);
    assert_eq!(absent.await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_unregistered_offers_its_versions() {
    let site = site().await;
    site.command(&["unregister", "team/mail"], "");
    let gone = site.get("/skills/team/mail", &[]).await;
    assert_eq!(gone.status, 404);
    assert_has(
        &gone.text(),
        &[
            "skill `team/mail` was unregistered",
            "<a href=\"/versions/team/mail\">All versions of team/mail</a>",
        ],
    );
    let list = site.page("/versions/team/mail").await;
    assert_has(
        &list,
        &[
            "Nothing is registered under this id now.",
            "<span>unregistered</span>",
            "<span class=\"title\">Version 3</span>",
        ],
    );
    let removal = site.get("/versions/team/mail?version=3", &[]).await;
    assert_eq!(removal.status, 404);
    assert_has(&removal.text(), &["has no text: it is a removal"]);
    let path = "/versions/team/mail?version=2";
    assert_has(&site.page(path).await, &["name=\"base\" value=\"\""]);
    let done = site.post(path, &[("base", "")]).await;
    assert_eq!(done.status, 303, "{}", done.text());
    assert_has(&site.page("/skills/team/mail").await, &["Send all."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_not_hidden_again_by_a_version() {
    let site = site().await;
    site.command(&["unregister", "team/mail"], "");
    super::site::write(site.dir.path(), "skills/team/mail.md", "# File\n\nText.\n");
    let path = "/versions/team/mail?version=2";
    let refused = site.post(path, &[("base", "")]).await;
    assert_eq!(refused.status, 409);
    assert_has(&refused.text(), &["is a file already", "mail.md"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_lead_to_the_version_and_the_origin_that_they_name() {
    let files = [("skills/filed.md", "# From a file\n\nOld <way>.\n")];
    let site = Site::serve(&files).await;
    site.register("filed", "# From a worker\n\nNew way.\n");
    site.register(
        "links",
        "# Links\n\n[v](iii://filed@1#part) [d](iii://filed@sha256:bd93) [f](iii://@files/filed) \
         [n](iii://@files/none) [s](iii://filed@7)\n",
    );
    let page = site.page("/skills/links").await;
    assert_has(
        &page,
        &[
            "<a href=\"/versions/filed?version=1#h-part\">v</a>",
            "<a href=\"/versions/filed?version=sha256:bd93\">d</a>",
            "<a href=\"/skills/filed?origin=files\">f</a>",
            "title=\"skill not found: none\"",
            // The chain has them under their addresses.
            "<a href=\"/versions/filed?version=1\">iii://filed@1</a>",
            "<a href=\"/skills/filed?origin=files\">iii://@files/filed</a>",
            "3 dead links",
        ],
    );
    let skill = site.page("/skills/filed").await;
    assert_has(
        &skill,
        &["<a href=\"/skills/filed?origin=files\"><code>iii://@files/filed</code></a>"],
    );
    let hidden = site.page("/skills/filed?origin=files").await;
    assert_has(
        &hidden,
        &[
            "<h1>From a file</h1>",
            "Old &lt;way&gt;.",
            "which is hidden.",
            "Served is <a href=\"/skills/filed\">what is registered</a>",
        ],
    );
    let source = site.page("/skills/filed?origin=files&view=source").await;
    assert_has(&source, &["<code># From a file\n"]);
    let served = site.page("/skills/filed?origin=state").await;
    assert_has(
        &served,
        &["New way.", "which is <a href=\"/skills/filed\">served</a>"],
    );
    for (path, status) in [
        ("/skills/filed?origin=agents", 404),
        ("/skills/filed?origin=nowhere", 400),
    ] {
        assert_eq!(site.get(path, &[]).await.status, status, "{path}");
    }
    // The list marks the winner.
    let mark = "<a class=\"hides\" href=\"/skills/filed?origin=files\">hides @files</a>";
    assert_has(&site.page("/").await, &[mark]);
}
