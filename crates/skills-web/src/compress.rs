//! Compression of responses with gzip.

use std::io::Write;

use axum::body::{Body, HttpBody, to_bytes};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Smaller bodies fit one packet as they are.
const LEAST_BYTES: u64 = 1_024;

/// Whether the client takes gzip.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        let is_refused = weight.is_some_and(|weight| weight.is_ok_and(|weight| weight <= 0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Compresses a text whose length is known; other responses stay as they are.
pub async fn gzip(response: Response) -> Response {
    let headers = response.headers();
    let is_text = headers.get(CONTENT_TYPE).is_some_and(|kind| {
        let kind = kind.to_str().unwrap_or_default();
        kind.starts_with("text/html") || kind.starts_with("text/plain")
    });
    let length = response.body().size_hint().exact();
    let is_long = length.is_some_and(|length| length >= LEAST_BYTES);
    if !is_text || !is_long || headers.contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // Its length is known, so it is in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let compressed = bytes_gzip(&bytes, Compression::fast());
    let gzip = HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, gzip);
    head.headers
        .insert(VARY, HeaderValue::from_static("accept-encoding"));
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(compressed))
}

/// The compressed form of some bytes.
pub fn bytes_gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    // Writing into memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &'static str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
        assert_eq!(accepts_gzip(&headers), expected, "for {value}");
    }

    #[test]
    fn codings() {
        check("gzip", true);
        check("br, gzip;q=0.8", true);
        check("GZIP", true);
        check("gzip;q=0", false);
        check("gzip; q=0.0", false);
        check("br", false);
        check("", false);
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
