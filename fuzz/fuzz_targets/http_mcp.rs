//! Any bytes as an MCP request over HTTP: lines of headers, an empty line, and a body.

#![no_main]

use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderName, HeaderValue, Request, header};
use libfuzzer_sys::fuzz_target;
use skills_fuzz::{block_on, mcp_server};
use skills_mcp::http::{HttpOptions, router};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    router(mcp_server(), HttpOptions::default(), CancellationToken::new())
});

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = end.map_or((&[][..], bytes), |end| (&bytes[..end], &bytes[end + 2..]));
    let mut request = Request::post("/mcp").body(Body::from(body.to_vec())).unwrap();
    let headers = request.headers_mut();
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(header::ACCEPT, accept);
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.insert(name, value);
        }
    }
    block_on(async {
        let response = ROUTER.clone().oneshot(request).await.unwrap();
        let status = response.status();
        assert!(status.as_u16() != 500, "{status}");
        let kind = response.headers().get(header::CONTENT_TYPE);
        // A stream has no end of its own.
        if kind.is_none_or(|kind| kind != "text/event-stream") {
            to_bytes(response.into_body(), usize::MAX).await.unwrap();
        }
    });
});
