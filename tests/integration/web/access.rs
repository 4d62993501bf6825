//! Who may read and write the page: hosts, origins, token, cookie.

use super::site::Site;

#[tokio::test(flavor = "multi_thread")]
async fn every_page_has_the_headers_that_forbid_scripts() {
    let site = Site::serve(&[]).await;
    for path in ["/", "/skills/none", "/sign-in", "/tree?folder="] {
        let answer = site.get(path, &[]).await;
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{path}: {policy}"
        );
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert!(!answer.text().contains("<style"), "{path}");
    }
    let home = site.page("/").await;
    for part in [
        "href=\"/assets/style-",
        "src=\"/assets/page-",
        "href=\"/assets/icon-",
    ] {
        let start = home
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {home}"));
        let address = home[start..].split('"').nth(1).unwrap();
        let asset = site.get(address, &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(
            (asset.status, asset.header("content-encoding")),
            (200, "gzip"),
            "{address}"
        );
        assert!(
            asset.header("cache-control").contains("immutable"),
            "{address}"
        );
    }
    assert_eq!(site.get("/assets/style-0.css", &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_hosts_and_pages_are_refused() {
    let site = Site::serve(&[]).await;
    let own = format!("http://{}", site.http());
    for (headers, status) in [
        (vec![("Host", "evil.example")], 403),
        (vec![("Origin", "http://evil.example")], 403),
        (vec![("Origin", own.as_str())], 200),
    ] {
        assert_eq!(site.get("/", &headers).await.status, status, "{headers:?}");
    }
    // Other pages of this machine may read through MCP, and may not write here.
    for (headers, status) in [
        (vec![], 403),
        (vec![("Origin", "http://localhost:1")], 403),
        (
            vec![("Sec-Fetch-Site", "cross-site"), ("Origin", &own)],
            403,
        ),
        (vec![("Sec-Fetch-Site", "same-origin")], 303),
        (vec![("Origin", &own)], 303),
    ] {
        let answer = site.post_with("/sign-out", &headers, &[]).await;
        assert_eq!(answer.status, status, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_token_a_form_signs_in() {
    let site = Site::with_token(&[], Some("secret")).await;
    site.register("a", "# Hidden title\n\nText.\n");
    let asked = site.get("/skills/a?view=source", &[]).await;
    assert_eq!(asked.status, 401);
    let text = asked.text();
    assert!(text.contains("value=\"/skills/a?view=source\""), "{text}");
    assert!(!text.contains("Hidden title"), "{text}");
    assert_eq!(site.get("/tree?folder=", &[]).await.status, 401);
    let bearer = [("Authorization", "Bearer secret")];
    assert_eq!(site.get("/skills/a", &bearer).await.status, 200);

    let wrong = site
        .post("/sign-in", &[("token", "wrong"), ("next", "/skills/a")])
        .await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    assert!(wrong.text().contains("not the token"), "{}", wrong.text());
    let foreign = [("Origin", "http://localhost:1")];
    let foreign = site
        .post_with("/sign-in", &foreign, &[("token", "secret")])
        .await;
    assert_eq!(foreign.status, 403);

    let right = site
        .post("/sign-in", &[("token", "secret"), ("next", "/skills/a")])
        .await;
    assert_eq!((right.status, right.header("location")), (303, "/skills/a"));
    let cookie = right.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("secret"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let page = site.get("/skills/a", &[("Cookie", cookie)]).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Hidden title"));
    let forged = cookie.replace("sha256-", "sha256-0");
    assert_eq!(
        site.get("/skills/a", &[("Cookie", &forged)]).await.status,
        401
    );
    // The cookie is for the page alone.
    let mcp = site.get("/mcp", &[("Cookie", cookie)]).await;
    assert_eq!(mcp.status, 401);

    let away = site
        .post(
            "/sign-in",
            &[("token", "secret"), ("next", "//evil.example")],
        )
        .await;
    assert_eq!(away.header("location"), "/");
    let origin = format!("http://{}", site.http());
    let headers = [("Origin", origin.as_str()), ("Cookie", cookie)];
    let out = site.post_with("/sign-out", &headers, &[]).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_can_be_turned_off() {
    let site = Site::serve(&[("config.yaml", "http: {page: false}\n")]).await;
    assert_eq!(site.get("/", &[("Accept", "text/html")]).await.status, 404);
    assert_eq!(site.get("/healthz", &[]).await.status, 200);
}
