//! Browsing and reading: the tree, a skill, its files, unknown addresses.

use memory_engine::Memory;
use serde_json::json;
use skills_core::Digest;

use super::site::{Site, assert_has};

const PDF: &str = "---\nname: pdf\ndescription: Fill forms.\ntriggers: [fill a form]\n---\n# PDF\n\n\
    [API](references/api.md#calls) ![dot](assets/dot.png) ![far](https://example.org/x.png)\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_shows_folders_and_skills_of_every_origin() {
    let files = [
        ("skills/house.md", "# House rules\n\nHow we work.\n"),
        ("skills/pdf/SKILL.md", PDF),
    ];
    let site = Site::serve(&files).await;
    site.register("resend/email/send", "# Send\n\nSends mail.\n");
    site.register("resend", "# Resend\n\nMail.\n");
    let home = site.page("/").await;
    assert_has(
        &home,
        &[
            "<title>Skills \u{b7} skills</title>",
            "4 skills",
            "<a class=\"title\" href=\"/skills/house\">House rules</a>",
            "How we work.",
            "SKILL.md folder",
            "registered",
            "data-folder=\"/tree?folder=resend/&amp;view=full\"",
            "href=\"/skills/resend/\"",
            "aria-current=\"page\"",
        ],
    );
    assert!(!home.contains("Sends mail."), "folders are folded");
    let folder = site.page("/tree?folder=resend/email/").await;
    assert_has(
        &folder,
        &["href=\"/skills/resend/email/send\"", "Sends mail."],
    );
    assert!(!folder.contains("<html"));
    let folder = site.page("/skills/resend/").await;
    assert_has(
        &folder,
        &[
            "<title>resend/ ",
            "Resend",
            "1 skill in this folder",
            "href=\"/skills/resend/email/\"",
        ],
    );
    let moved = site.get("/skills/resend/email", &[]).await;
    assert_eq!(
        (moved.status, moved.header("location")),
        (307, "/skills/resend/email/")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_shows_its_text_its_source_and_what_a_model_sees() {
    let api = "# API\n\n[back](../SKILL.md)\n\n## Calls\n";
    let files = [
        ("skills/pdf/SKILL.md", PDF),
        ("skills/pdf/references/api.md", api),
        ("skills/pdf/assets/dot.png", "not a real picture"),
        (
            "skills/house.md",
            "# House\n\n[style](house/style.md) [none](gone.md)\n",
        ),
        ("skills/house/style.md", "# Style\n\nText.\n"),
    ];
    let site = Site::serve(&files).await;
    let page = site.page("/skills/pdf").await;
    assert_has(
        &page,
        &[
            "<title>PDF ",
            "<h1>PDF</h1>",
            "href=\"/files/pdf/references/api.md#h-calls\"",
            "src=\"/raw/pdf/assets/dot.png\" alt=\"dot\"",
            "Picture: far",
            "fill a form",
            "- [`pdf`](iii://pdf)",
            "skills/pdf/SKILL.md</code>",
            "href=\"/files/pdf/assets/dot.png\"",
            "href=\"/skills/pdf?view=source\"",
        ],
    );
    assert!(
        !page.contains("src=\"https"),
        "remote pictures are not loaded"
    );
    let source = site.page("/skills/pdf?view=source").await;
    assert_has(
        &source,
        &[
            "triggers: [fill a form]",
            "![far](https://example.org/x.png)",
        ],
    );
    let house = site.page("/skills/house").await;
    assert_has(&house, &["href=\"/skills/house/style\"", "class=\"dead\""]);
    let style = site.page("/skills/house/style").await;
    let (_, from) = style.split_once("What links here").unwrap();
    assert_has(
        from,
        &["<a href=\"/skills/house\" title=\"House\">house</a>"],
    );
    let (_, followed) = page.split_once("What it links to").unwrap();
    assert_has(followed, &["<a href=\"/files/pdf/references/api.md\">"]);
    site.register(
        "dead",
        "# Dead\n\n[gone](iii://gone/away) [pdf](iii://pdf)\n",
    );
    let dead = site.page("/skills/dead").await;
    assert_has(
        &dead,
        &[
            "1 dead link",
            "iii://gone/away",
            "skill not found: gone/away",
        ],
    );
    let pdf = site.page("/skills/pdf").await;
    let (_, from) = pdf.split_once("What links here").unwrap();
    assert_has(from, &["<a href=\"/skills/dead\" title=\"Dead\">dead</a>"]);
    let file = site.page("/files/pdf/references/api.md").await;
    assert_has(
        &file,
        &["<a href=\"/skills/pdf\">back</a>", "id=\"h-calls\""],
    );
    let raw = site.get("/raw/pdf/references/api.md", &[]).await;
    assert_eq!(raw.header("content-disposition"), "attachment");
    assert_eq!(raw.header("content-type"), "application/octet-stream");
    let raw = site.get("/raw/pdf/assets/dot.png", &[]).await;
    assert_eq!(raw.header("content-type"), "image/png");
    assert_eq!(
        raw.header("content-security-policy"),
        "default-src 'none'; sandbox"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_address_is_a_page_with_the_nearest_ids() {
    let site = Site::serve(&[]).await;
    site.register("resend/email", "# Email\n\nMail.\n");
    for (path, status, part) in [
        ("/skills/resend/emial", 404, "href=\"/skills/resend/email\""),
        ("/skills/email", 404, "href=\"/skills/resend/email\""),
        ("/resend/email", 404, "href=\"/skills/resend/email\""),
        ("/skills/Bad%20Id", 400, "Bad Id"),
        ("/skills/%3Cscript%3E", 400, "&lt;script&gt;"),
        ("/files/no/such.md", 404, "file not found"),
        ("/nothing?%3Cb%3E", 404, "there is no page at /nothing"),
    ] {
        let answer = site.get(path, &[("Accept", "text/html")]).await;
        let text = answer.text();
        assert_eq!(answer.status, status, "{path}: {text}");
        assert!(text.contains(part), "{path}: {text}");
        assert!(text.contains("<main"), "{path}: {text}");
    }
    for path in ["/nothing", "/.well-known/oauth-protected-resource"] {
        let answer = site.get(path, &[("Accept", "*/*")]).await;
        assert_eq!((answer.status, answer.text().as_str()), (404, ""), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_text_is_escaped() {
    const EVIL: &str = "<img src=x onerror=alert(1)>";
    let site = Site::serve(&[]).await;
    let body = format!(
        "---\ntitle: '{EVIL}'\ndescription: '\"><script>alert(2)</script>'\ntriggers: ['{EVIL}']\n---\n\
         # {EVIL}\n\n{EVIL}\n\n<div onclick=alert(3)>\n\n[x](javascript:alert(4)) [y](data:text/html,z) \
         [z](https://example.org/\"onmouseover=alert(5))\n\n![a\" onerror=\"alert(6)](x.png)\n\n```\"><script>\nx\n```\n"
    );
    site.register("evil", &body);
    for path in [
        "/",
        "/skills/evil",
        "/skills/evil?view=source",
        "/tree?folder=",
    ] {
        let page = site.page(path).await;
        for tag in [
            "<img",
            "<script>",
            "<div onclick",
            "javascript:alert(4)\"",
            "href=\"data:",
        ] {
            assert!(!page.contains(tag), "{path} has {tag}:\n{page}");
        }
        assert!(
            page.contains("&lt;img") || page.contains("&lt;script"),
            "{path}:\n{page}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lists_have_pages_and_a_small_first_page() {
    let site = Site::serve(&[]).await;
    let folder = site.dir.path().join("many");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..250 {
        let text = format!("# Skill {n}\n\nWhat skill {n} does.\n");
        std::fs::write(folder.join(format!("s{n:03}.md")), text).unwrap();
    }
    site.command(&["import", folder.to_str().unwrap()], "");
    let first = site.page("/").await;
    assert_has(
        &first,
        &[
            "250 skills",
            "Skill 99<",
            "href=\"/?after=s099\"",
            "data-more=",
        ],
    );
    assert!(!first.contains("Skill 100<"));
    let second = site.page("/?after=s099").await;
    assert_has(
        &second,
        &["Skill 100<", "href=\"/?after=s199\"", "From the beginning"],
    );
    let beside = site.page("/skills/s150").await;
    assert_has(
        &beside,
        &["aria-current=\"page\">s150<", ">s100<", ">s199<"],
    );
    let plain = site.get("/", &[]).await.bytes.len();
    let answer = site.get("/", &[("Accept-Encoding", "gzip")]).await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    assert_eq!(answer.header("vary"), "accept-encoding");
    assert_eq!(&answer.bytes[..2], b"\x1f\x8b");
    assert!(
        answer.bytes.len() * 3 < plain,
        "{} of {plain}",
        answer.bytes.len()
    );
}

/// Flat, so that the first page is full, with descriptions that do not repeat.
#[tokio::test]
async fn with_ten_thousand_skills_the_first_page_is_small_on_the_wire() {
    const MOST_BYTES: usize = 100 * 1024;
    let memory = Memory::new();
    for number in 0..10_000_u64 {
        let id = format!("skill-{number:05}");
        let digest = Digest::of(id.as_bytes()).to_string();
        let body = format!("# Skill {number}\n\nWhat {id} is for: {digest}, in full.\n");
        let row = json!({ "id": id, "skill": body, "registered_at": "2026-11-18T12:00:00Z" });
        memory.put("skills", &id, &row);
    }
    let (site, _link) = Site::on(&memory).await;
    let page = site.page("/").await;
    assert_has(
        &page,
        &["10000 skills", "Skill 99<", "href=\"/?after=skill-00099\""],
    );
    let asset = |name: &str| {
        let start = page.find(&format!("/assets/{name}-")).unwrap();
        page[start..].split('"').next().unwrap().to_owned()
    };
    let mut total = 0;
    for path in ["/".to_owned(), asset("style"), asset("page"), asset("icon")] {
        let answer = site.get(&path, &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(answer.header("content-encoding"), "gzip", "{path}");
        total += answer.head.len() + answer.bytes.len();
    }
    assert!(total < MOST_BYTES, "{total} bytes");
}

#[tokio::test]
async fn a_text_with_deep_nesting_is_shown_as_it_is() {
    let site = Site::serve(&[]).await;
    // A parser would compare each of the last lines with each quote.
    let body = format!(
        "# Title\n\n{}<b>\n{}",
        ">".repeat(60_000),
        "a\n".repeat(60_000)
    );
    site.register("deep", &body);
    let page = site.page("/skills/deep").await;
    let text = format!("<pre># Title\n\n{}&lt;b&gt;\na\n", "&gt;".repeat(60_000));
    assert!(page.contains(&text), "the body in a `pre`");
}
