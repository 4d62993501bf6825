//! Odd forms of `Host` and `Origin`: both ports decide in the same way.

use skills_test_support::process::{Addresses, SkillsProcess};
use skills_test_support::raw_request::{UPGRADE, request};

/// Whether a request with these headers is accepted by the port for workers and by HTTP.
async fn accepted(url: &str, http: &str, target: &str, headers: &str) -> (bool, bool) {
    let workers = url.strip_prefix("ws://").unwrap();
    let head = format!("GET {target}/ HTTP/1.1\r\n{headers}{UPGRADE}\r\n");
    let by_hub = request(workers, &head).await.1;
    let head = format!("GET {target}/healthz HTTP/1.1\r\n{headers}\r\n");
    let by_http = request(http, &head).await.1;
    let head = format!("OPTIONS {target}/mcp HTTP/1.1\r\n{headers}\r\n");
    let by_mcp = request(http, &head).await.1;
    let status = |status: Option<u16>| status.unwrap_or(403);
    assert_eq!(
        status(by_http) == 200,
        status(by_mcp) == 405,
        "{headers:?}: {by_http:?}, {by_mcp:?}"
    );
    for refused in [by_hub, by_http] {
        let known = matches!(refused, None | Some(101 | 200 | 400 | 403));
        assert!(known, "{headers:?}: {refused:?}");
    }
    (by_hub == Some(101), by_http == Some(200))
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ports_accept_the_same_hosts_and_origins() {
    let dir = tempfile::tempdir().unwrap();
    let (_serve, Addresses { url, http }) = SkillsProcess::serve(dir.path(), &[]).await;
    let http = http.to_string();
    for (headers, expected) in [
        ("Host: localhost\r\n", true),
        ("Host: LOCALHOST:1\r\n", true),
        ("host:\t127.0.0.1:65535 \r\n", true),
        ("Host: 127.255.0.1\r\n", true),
        ("Host: [::1]:80\r\n", true),
        ("Host: [0:0:0:0:0:0:0:1]\r\n", true),
        ("Host: [::ffff:127.0.0.1]\r\n", true),
        ("", false),
        ("Host:\r\n", false),
        ("Host: localhost.\r\n", false),
        ("Host: localhost:\r\n", false),
        ("Host: localhost:http\r\n", false),
        ("Host: localhost:65536\r\n", false),
        ("Host: localhost:-1\r\n", false),
        ("Host: user@localhost\r\n", false),
        ("Host: localhost/path\r\n", false),
        ("Host: http://localhost\r\n", false),
        ("Host: [::1\r\n", false),
        ("Host: ::1\r\n", false),
        ("Host: 127.1\r\n", false),
        ("Host: 0.0.0.0\r\n", false),
        ("Host: local host\r\n", false),
        ("Host: localhost, localhost\r\n", false),
        ("Host: l\u{f6}calhost\r\n", false),
        ("Host: localhost\r\nHost: localhost\r\n", false),
        ("Host: localhost\r\nHost: evil.example\r\n", false),
        ("Host: localhost\r\nOrigin: http://localhost:3000\r\n", true),
        ("Host: localhost\r\nOrigin: HTTPS://LocalHost\r\n", true),
        ("Host: localhost\r\nOrigin: http://[::1]\r\n", true),
        ("Host: localhost\r\nOrigin: null\r\n", false),
        ("Host: localhost\r\nOrigin:\r\n", false),
        ("Host: localhost\r\nOrigin: localhost\r\n", false),
        ("Host: localhost\r\nOrigin: http://localhost/\r\n", false),
        ("Host: localhost\r\nOrigin: http://localhost.\r\n", false),
        ("Host: localhost\r\nOrigin: http://a@localhost\r\n", false),
        ("Host: localhost\r\nOrigin: file://localhost\r\n", false),
        ("Host: localhost\r\nOrigin: http://evil.example\r\n", false),
        (
            "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n",
            false,
        ),
    ] {
        let got = accepted(&url, &http, "", headers).await;
        assert_eq!(got, (expected, expected), "for {headers:?}");
    }
    let headers = "Host: localhost\r\n";
    for (target, expected) in [("http://127.0.0.1", true), ("http://evil.example", false)] {
        let got = accepted(&url, &http, target, headers).await;
        assert_eq!(got, (expected, expected), "for {target}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_host_and_a_named_origin_are_accepted_by_both_ports() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yaml");
    std::fs::write(
        &config,
        "http: {allowed_origins: ['https://app.example']}\n",
    )
    .unwrap();
    let options = [
        "--allow-host",
        "skills.example",
        "--config",
        config.to_str().unwrap(),
    ];
    let (_serve, Addresses { url, http }) = SkillsProcess::serve(dir.path(), &options).await;
    let http = http.to_string();
    for (headers, expected) in [
        ("Host: skills.example:8080\r\n", true),
        ("Host: other.example\r\n", false),
        ("Host: localhost\r\nOrigin: https://app.example\r\n", true),
        (
            "Host: localhost\r\nOrigin: https://other.example\r\n",
            false,
        ),
    ] {
        let got = accepted(&url, &http, "", headers).await;
        assert_eq!(got, (expected, expected), "{headers:?}");
    }
}
